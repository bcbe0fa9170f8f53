"""Replicas that leave one member and appear in others in the same plan."""

from __future__ import annotations

from collections.abc import Mapping

from kadm.model.decision import Decisions
from kadm.model.desired import Desired
from kadm.model.objects import ObjectKey
from kadm.model.plan import Move, PlannedPlacement
from kadm.model.record import Record
from kadm.model.workload import workload_kind


def placements(desired: Desired) -> tuple[PlannedPlacement, ...]:
    """Where every object with a policy of its own goes, sorted by key: member → replicas, None where not divided."""
    found: dict[ObjectKey, dict[str, int | None]] = {}
    for name, member in sorted(desired.members.items()):
        for key, replicas in member.replicas.items():
            found.setdefault(key, {})[name] = replicas
    return tuple(PlannedPlacement(key=key, clusters=found[key]) for key in sorted(found))


def moves(decisions: Decisions, records: Mapping[str, Record | None]) -> tuple[Move, ...]:
    """Every workload that leaves members for others, by what the records say; unfinished moves included.

    One that is not divided moves whole: where its copy is new, it must be well before the one that it leaves goes.
    """
    before = _before(records)
    found = []
    for key, decision in sorted(decisions.by_key.items()):
        if decision.outcome == "frozen" or not decision.placement or key not in before:
            continue
        if workload_kind(key.group, key.kind) is None:
            continue  # nothing of it runs: it is there, or it is not
        had = before[key]
        whole = any(number is None for number in (*had.values(), *decision.placement.values()))
        change = _copies(had, decision.placement) if whole else _numbers(had, decision.placement)
        leaves = {name: -number for name, number in change.items() if number < 0}
        arrives = {name: number for name, number in change.items() if number > 0}
        if leaves and arrives:
            found.append(Move(key=key, leaves=leaves, arrives=arrives, whole=whole))
    return tuple(found)


def _numbers(had: Mapping[str, int | None], now: Mapping[str, int | None]) -> dict[str, int]:
    """Member → how many replicas more, or fewer where it is negative; sorted."""
    return {name: (now.get(name) or 0) - (had.get(name) or 0) for name in sorted({*had, *now})}


def _copies(had: Mapping[str, int | None], now: Mapping[str, int | None]) -> dict[str, int]:
    """Member → 1 where a copy is new, -1 where it leaves, else 0; sorted. Of 0 replicas there was no copy to leave."""
    holders = {name for name, number in had.items() if number != 0}
    return {name: (name in now) - (name in holders) for name in sorted({*holders, *now})}


def _before(records: Mapping[str, Record | None]) -> dict[ObjectKey, dict[str, int | None]]:
    """Workload → member → replicas before this plan, None where it was not divided; where a move is unfinished, before
    that move."""
    recorded: dict[ObjectKey, dict[str, int | None]] = {}
    moving: dict[ObjectKey, dict[str, int | None]] = {}
    for name, record in sorted(records.items()):
        for workload in record.workloads if record else ():
            recorded.setdefault(workload.key, {})[name] = workload.replicas
            if workload.moving:
                moving[workload.key] = dict(sorted(workload.moving.items()))
    return recorded | moving
