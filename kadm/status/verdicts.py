"""The answers that health rules give, worded where they are decided."""

from __future__ import annotations

from kadm.model.objects import JsonObject
from kadm.model.status import Health

HEALTHY = Health("Healthy")


def progressing(reason: str) -> Health:
    """On its way: waiting longer may help."""
    return Health("Progressing", reason)


def failed(reason: str) -> Health:
    """Stuck or broken: waiting does not help by itself."""
    return Health("Failed", reason)


def unobserved(live: JsonObject) -> Health | None:
    """Progressing while the controller has not seen the current spec, else None: the counts describe the old one."""
    status = live.get("status") or {}
    observed = status.get("observedGeneration")
    if (observed or 0) < live["metadata"].get("generation", 0):
        return progressing("the controller has not seen the current spec yet")
    return None


def terminating(live: JsonObject) -> Health | None:
    """Terminating where the object is being deleted, else None."""
    if live["metadata"].get("deletionTimestamp"):
        return Health("Terminating", "it is being deleted")
    return None
