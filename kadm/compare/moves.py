"""Replicas that leave one member and appear in others in the same plan."""

from __future__ import annotations

from collections.abc import Mapping

from kadm.model.decision import Decisions
from kadm.model.desired import Desired
from kadm.model.objects import ObjectKey
from kadm.model.plan import Move, PlannedPlacement
from kadm.model.record import Record


def placements(desired: Desired) -> tuple[PlannedPlacement, ...]:
    """Where every object with a policy of its own goes, sorted by key: member → replicas, None where not divided."""
    found: dict[ObjectKey, dict[str, int | None]] = {}
    for name, member in sorted(desired.members.items()):
        for key, replicas in member.replicas.items():
            found.setdefault(key, {})[name] = replicas
    return tuple(PlannedPlacement(key=key, clusters=found[key]) for key in sorted(found))


def moves(decisions: Decisions, records: Mapping[str, Record | None]) -> tuple[Move, ...]:
    """Every divided workload that leaves members for others, by what the records say; unfinished moves included."""
    before = _before(records)
    found = []
    for key, decision in sorted(decisions.by_key.items()):
        if decision.outcome == "frozen" or key not in before:
            continue
        now = {name: replicas for name, replicas in decision.placement.items() if replicas is not None}
        if not now:
            continue
        change = {name: now.get(name, 0) - before[key].get(name, 0) for name in sorted(before[key].keys() | now.keys())}
        leaves = {name: -number for name, number in change.items() if number < 0}
        arrives = {name: number for name, number in change.items() if number > 0}
        if leaves and arrives:
            found.append(Move(key=key, leaves=leaves, arrives=arrives))
    return tuple(found)


def _before(records: Mapping[str, Record | None]) -> dict[ObjectKey, dict[str, int]]:
    """Workload → member → replicas before this plan; where a move is unfinished, before that move."""
    recorded: dict[ObjectKey, dict[str, int]] = {}
    moving: dict[ObjectKey, dict[str, int]] = {}
    for name, record in sorted(records.items()):
        for workload in record.workloads if record else ():
            if workload.replicas is not None:
                recorded.setdefault(workload.key, {})[name] = workload.replicas
            if workload.moving:
                moving[workload.key] = dict(sorted(workload.moving.items()))
    return recorded | moving
