"""Deployment: when it is ready (kstatus), and its counts."""

from __future__ import annotations

from kadm.model.objects import JsonObject
from kadm.model.status import Health
from kadm.status.conditions import condition, explained
from kadm.status.verdicts import HEALTHY, failed, progressing, unobserved


def deployment_health(live: JsonObject) -> Health:
    """Health of one Deployment in one member; the first rule that applies decides. Source: kstatus."""
    if waiting := unobserved(live):
        return waiting
    status = live.get("status") or {}
    wanted = live["spec"].get("replicas", 1)
    stuck = condition(live, "Progressing")
    if stuck and stuck.get("reason") == "ProgressDeadlineExceeded":
        return failed(explained(stuck))
    refused = condition(live, "ReplicaFailure")
    if refused and refused.get("status") == "True":
        return failed(explained(refused))
    total, updated = status.get("replicas", 0), status.get("updatedReplicas", 0)
    if updated < wanted:
        return progressing(f"{updated} of {wanted} replicas updated")
    if total > updated:
        return progressing(f"{total - updated} old replicas still to go")
    if status.get("readyReplicas", 0) < wanted:
        return progressing(f"{status.get('readyReplicas', 0)} of {wanted} replicas ready")
    if status.get("availableReplicas", 0) < wanted:
        return progressing(f"{status.get('availableReplicas', 0)} of {wanted} replicas available")
    return HEALTHY
