"""ReplicaSet: when it is ready (kstatus)."""

from __future__ import annotations

from kadm.model.objects import JsonObject
from kadm.model.status import Health
from kadm.status.conditions import condition, explained
from kadm.status.verdicts import HEALTHY, failed, progressing, unobserved


def replicaset_health(live: JsonObject) -> Health:
    """Health of one ReplicaSet in one member. Source: kstatus."""
    if waiting := unobserved(live):
        return waiting
    status = live.get("status") or {}
    wanted = live["spec"].get("replicas", 1)
    refused = condition(live, "ReplicaFailure")
    if refused and refused.get("status") == "True":
        return failed(explained(refused))
    if status.get("replicas", 0) > wanted:
        return progressing(f"{status['replicas'] - wanted} replicas still to go")
    if status.get("availableReplicas", 0) < wanted:
        return progressing(f"{status.get('availableReplicas', 0)} of {wanted} replicas available")
    return HEALTHY
