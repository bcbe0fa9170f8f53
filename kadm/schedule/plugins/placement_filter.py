"""Filter PlacementFilter (scheduling spec 4.3)."""

from __future__ import annotations

from msgspec import Struct

from kadm.schedule.framework import FITS, Answer, refuses
from kadm.schedule.member import Member
from kadm.schedule.unit import SchedulingUnit


class PlacementFilter(Struct, frozen=True, forbid_unknown_fields=True):
    """Where a placement list is given, only the members on it; unlisting a member removes it."""

    def filter(self, unit: SchedulingUnit, member: Member) -> Answer:
        names = unit.rules.placements.names
        return FITS if not names or member.name in names else refuses("it is not in the placement list")
