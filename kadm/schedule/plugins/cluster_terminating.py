"""Filter ClusterTerminating (scheduling spec 4.4)."""

from __future__ import annotations

from msgspec import Struct

from kadm.schedule.framework import FITS, Answer, refuses
from kadm.schedule.member import Member
from kadm.schedule.unit import SchedulingUnit


class ClusterTerminating(Struct, frozen=True, forbid_unknown_fields=True):
    """A member that is leaving the fleet takes nothing, and loses what it has."""

    def filter(self, unit: SchedulingUnit, member: Member) -> Answer:
        return refuses("it is leaving the fleet") if member.terminating else FITS
