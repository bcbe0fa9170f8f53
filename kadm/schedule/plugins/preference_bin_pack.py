"""Replicas PreferenceBinPack: the division of strategy Binpack (scheduling spec 4.14)."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from kadm.schedule.binpack import Running, pack
from kadm.schedule.framework import Shares
from kadm.schedule.member import Member
from kadm.schedule.planner import Preference
from kadm.schedule.replica_bounds import bounds_of, keeps_unschedulable, limit_of
from kadm.schedule.unit import SchedulingUnit


class PreferenceBinPack(Struct, frozen=True, forbid_unknown_fields=True):
    """The first member is filled, then the next: by falling priority, then by name."""

    def divide(self, unit: SchedulingUnit, members: Sequence[Member]) -> Shares:
        limits = {member.name: limit_of(unit, member) for member in members}
        migration = unit.migration if unit.rules.auto_migration else None
        division = pack(
            {name: Preference(min=limit.min, max=limit.max) for name, limit in limits.items()},
            total=unit.replicas or 0,
            running=Running(
                current=unit.replicas_of(unit.current),
                scheduled=migration.scheduled if migration else {},
            ),
            bounds=bounds_of(unit),
            avoid_disruption=unit.rules.avoid_disruption,
            keep_unschedulable=keeps_unschedulable(unit) or not unit.rules.avoid_disruption,
        )
        return Shares(
            replicas={name: division.total(name) for name in limits},
            notes={
                name: (f"number {place} to be filled{limit.note}: {division.total(name)} of {unit.replicas}",)
                for place, (name, limit) in enumerate(limits.items(), start=1)
            },
            steps=division.steps,
        )
