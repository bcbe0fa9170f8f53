"""Filter ClusterEvicted (scheduling spec 4.7)."""

from __future__ import annotations

from msgspec import Struct

from kadm.schedule.framework import FITS, Answer, refuses
from kadm.schedule.member import Member
from kadm.schedule.unit import SchedulingUnit


class ClusterEvicted(Struct, frozen=True, forbid_unknown_fields=True):
    """A unit that migrated away from a member stays away until the migration's end."""

    def filter(self, unit: SchedulingUnit, member: Member) -> Answer:
        until = unit.migration.unavailable.get(member.name)
        if until is None or unit.now >= until:
            return FITS
        return refuses(f"it migrated away from it until {until.isoformat()}")
