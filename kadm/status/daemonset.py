"""DaemonSet: when it is ready (kstatus)."""

from __future__ import annotations

from kadm.model.objects import JsonObject, at
from kadm.model.status import Health
from kadm.status.verdicts import HEALTHY, progressing, unobserved


def daemonset_health(live: JsonObject) -> Health:
    """Health of one DaemonSet in one member. Source: kstatus."""
    if waiting := unobserved(live):
        return waiting
    status = live.get("status") or {}
    wanted = status.get("desiredNumberScheduled", 0)
    if at(live, ("spec", "updateStrategy", "type")) == "OnDelete":
        return HEALTHY
    for field, word in (
        ("updatedNumberScheduled", "updated"),
        ("numberAvailable", "available"),
        ("numberReady", "ready"),
    ):
        if status.get(field, 0) < wanted:
            return progressing(f"{status.get(field, 0)} of {wanted} pods {word}")
    return HEALTHY
