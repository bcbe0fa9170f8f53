"""StatefulSet: when it is ready (kstatus)."""

from __future__ import annotations

from kadm.model.objects import JsonObject, at
from kadm.model.status import Health
from kadm.status.verdicts import HEALTHY, progressing, unobserved


def statefulset_health(live: JsonObject) -> Health:
    """Health of one StatefulSet in one member. ``OnDelete`` waits for nobody; a partition holds the old pods back."""
    if waiting := unobserved(live):
        return waiting
    status = live.get("status") or {}
    wanted = live["spec"].get("replicas", 1)
    if at(live, ("spec", "updateStrategy", "type")) == "OnDelete":
        return HEALTHY
    if status.get("readyReplicas", 0) < wanted:
        return progressing(f"{status.get('readyReplicas', 0)} of {wanted} replicas ready")
    if status.get("replicas", 0) > wanted:
        return progressing(f"{status['replicas'] - wanted} replicas still to go")
    partition = at(live, ("spec", "updateStrategy", "rollingUpdate", "partition")) or 0
    updated = status.get("updatedReplicas", 0)
    if updated < wanted - partition:
        return progressing(f"{updated} of {wanted - partition} replicas updated")
    if not partition and status.get("currentRevision") != status.get("updateRevision"):
        return progressing("the new revision is not current yet")
    return HEALTHY
