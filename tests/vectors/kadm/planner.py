"""Suite ``planner``: strategy Spread."""

from __future__ import annotations

from kadm.schedule.planner import Bounds, Preference, divide
from tests.vectors.case import Answer, Json


def answer(given: Json) -> Answer:
    """kadm's division."""
    entries = given.get("clusters", {})
    available = given.get("available", [name for name in entries if name != "*"])
    chosen = {name: entries.get(name, entries.get("*")) for name in available}
    division = divide(
        {
            name: Preference(entry.get("weight", 0), entry.get("min", 0), entry.get("max"))
            for name, entry in chosen.items()
            if entry is not None
        },
        total=given.get("total", 0),
        key=given.get("key", ""),
        current=given.get("current", {}),
        bounds=Bounds(estimated=given.get("estimatedCapacity", {}), limited=given.get("limitedCapacity", {})),
        avoid_disruption=given.get("avoidDisruption", False),
        keep_unschedulable=given.get("keepUnschedulable", False),
    )
    return {"plan": division.plan, "overflow": division.overflow}
