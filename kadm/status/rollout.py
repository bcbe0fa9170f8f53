"""The standard conditions of a Deployment over all its members, for tools that follow a rollout.

Source: propagation spec 6, advice for ``status``: KubeAdmiral sums counts alone, so that ``kubectl rollout status``
has nothing to go by. A condition is as bad as it is in the worst member. Its times are those of the members that
decide, not of whoever looks: what did not change stays the same bytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kadm.model.objects import JsonObject
from kadm.status.conditions import condition, explained
from kadm.status.times import utc

MOST_MEMBERS = 10
"""So many are named in a message."""

_TYPES: Mapping[str, tuple[str, ...]] = {
    "Available": ("False", "Unknown", "True"),
    "Progressing": ("False", "Unknown", "True"),
    "ReplicaFailure": ("True", "Unknown", "False"),
}
"""Type → its statuses, worst first."""

_OPTIONAL = frozenset({"ReplicaFailure"})
"""Where a member does not have it, all is well."""

_WELL = {"Available": "MinimumReplicasAvailable", "Progressing": "NewReplicaSetAvailable"}
"""Type → the reason that a member gives where nothing is left to wait for."""


def rollout_conditions(members: Mapping[str, JsonObject]) -> list[dict[str, Any]]:
    """The conditions of one Deployment by its live objects (member → object), by type; empty where none has any."""
    found = []
    for kind in sorted(_TYPES):
        said = {name: one for name in sorted(members) if (one := condition(members[name], kind)) is not None}
        if said:
            missing = [name for name in sorted(members) if name not in said] if kind not in _OPTIONAL else []
            found.append(_worst(kind, said, missing))
    return found


def _worst(kind: str, said: Mapping[str, dict[str, Any]], missing: list[str]) -> dict[str, Any]:
    statuses = {name: str(one.get("status")) for name, one in said.items()} | dict.fromkeys(missing, "Unknown")
    order = _TYPES[kind]
    status = min(statuses.values(), key=lambda each: order.index(each) if each in order else 0)
    deciding = {name: one for name, one in said.items() if statuses[name] == status}
    telling = {name: one for name, one in deciding.items() if one.get("reason") != _WELL.get(kind)} or deciding
    words = [f"{name}: {explained(one)}" for name, one in telling.items()]
    words += [f"{name}: nothing is said yet" for name in missing if status == "Unknown"]
    more = f", and {len(words) - MOST_MEMBERS} more" if len(words) > MOST_MEMBERS else ""
    first = next(iter(telling.values()), {})
    times = {
        field: max((time for one in deciding.values() if (time := utc(one.get(field)))), default=None)
        for field in ("lastTransitionTime", "lastUpdateTime")
    }
    return {
        "type": kind,
        "status": status,
        "reason": str(first.get("reason") or "Waiting"),
        "message": "; ".join(words[:MOST_MEMBERS]) + more,
        **{field: time for field, time in times.items() if time},
    }
