"""Suite ``binpack``: strategy Binpack."""

from __future__ import annotations

from kadm.schedule.binpack import Running, pack
from kadm.schedule.planner import Bounds, Preference
from tests.vectors.case import Answer, Json


def answer(given: Json) -> Answer:
    """kadm's division."""
    entries, avoid = given.get("clusters", {}), given.get("avoidDisruption", False)
    division = pack(
        {
            name: Preference(0, entries.get(name, {}).get("min", 0), entries.get(name, {}).get("max"))
            for name in given["available"]
        },
        total=given.get("total", 0),
        running=Running(current=given.get("current", {}), scheduled=given.get("scheduledReplicas", {})),
        bounds=Bounds(estimated=given.get("estimatedCapacity", {}), limited=given.get("limitedCapacity", {})),
        avoid_disruption=avoid,
        keep_unschedulable=given.get("keepUnschedulable", False) or not avoid,
    )
    return {"plan": division.plan, "overflow": division.overflow}
