"""Select PrioritySort (scheduling spec 4.10)."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from kadm.schedule.framework import Scored
from kadm.schedule.unit import SchedulingUnit


class PrioritySort(Struct, frozen=True, forbid_unknown_fields=True):
    """Best score first, ties by name. One priority in the placement list discards all scores; so does Binpack."""

    def select(self, unit: SchedulingUnit, scored: Sequence[Scored]) -> Sequence[Scored]:
        if ranks_by_priority(unit):
            priorities = unit.rules.placements.priorities
            scored = [Scored(entry.member, priorities.get(entry.member.name, 0)) for entry in scored]
        return sorted(scored, key=lambda entry: (-entry.score, entry.member.name.encode()))


def ranks_by_priority(unit: SchedulingUnit) -> bool:
    """Whether priorities stand in for the scores."""
    return bool(unit.rules.placements.priorities) or fills_in_order(unit)


def fills_in_order(unit: SchedulingUnit) -> bool:
    """Whether members get replicas in the order in which they are selected."""
    return unit.rules.mode == "Divide" and unit.rules.strategy == "Binpack"
