"""Between how many replicas of a unit a member may get: what replica plugins have in common (scheduling spec 4.12)."""

from __future__ import annotations

from dataclasses import dataclass

from kadm.model.workload import ORDINALS_PER_BLOCK
from kadm.schedule.member import Member
from kadm.schedule.ordinals import has_ordinals
from kadm.schedule.planner import Bounds
from kadm.schedule.taints import blocks_growth, taint_text
from kadm.schedule.unit import SchedulingUnit


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """Least and most for one member (``max`` None: unbounded), and both in words, in parentheses; empty without any."""

    min: int
    max: int | None
    note: str


def limit_of(unit: SchedulingUnit, member: Member) -> Limit:
    """What the placement list says, no more than a StatefulSet's block of ordinals holds, and no growth where a
    NoSchedule taint or a missing API version forbids it."""
    placements = unit.rules.placements
    least = placements.minimums.get(member.name, 0)
    most = placements.maximums.get(member.name)
    words = [f"min {least}"] if least else []
    words += [] if most is None else [f"max {most}"]
    if has_ordinals(unit):
        least = min(least, ORDINALS_PER_BLOCK)
        if most is None or most > ORDINALS_PER_BLOCK:
            most = ORDINALS_PER_BLOCK
            words += [f"max {most}: its block of ordinals"] if (unit.replicas or 0) > most else []
    why = _no_growth(unit, member)
    if why:
        current = unit.current_replicas(member.name)
        most = current if most is None else min(current, most)
        words.append(f"no more than its {current}: {why}")
    return Limit(min=least, max=most, note=f" ({', '.join(words)})" if words else "")


def _no_growth(unit: SchedulingUnit, member: Member) -> str:
    taint = blocks_growth(unit, member)
    if taint is not None:
        return f"taint {taint_text(taint)} is not tolerated"
    if member.name in unit.current and member.serves(unit.gvk) is False:
        return f"it no longer serves {unit.gvk.api_version}"
    return ""


def bounds_of(unit: SchedulingUnit) -> Bounds:
    """What migration knows of the members' capacity. Estimates count only with auto-migration (negative ones never)."""
    estimated = unit.migration.estimated if unit.rules.auto_migration else {}
    return Bounds(
        estimated={member: replicas for member, replicas in estimated.items() if replicas >= 0},
        limited=unit.migration.limited,
    )


def keeps_unschedulable(unit: SchedulingUnit) -> bool:
    """Whether replicas that found no node stay where they are although another member took their place."""
    return unit.rules.auto_migration is not None and unit.rules.auto_migration.keep_unschedulable_replicas
