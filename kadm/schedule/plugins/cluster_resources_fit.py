"""Filter ClusterResourcesFit, off by default (scheduling spec 4.8)."""

from __future__ import annotations

from msgspec import Struct

from kadm.schedule.framework import FITS, Answer, cannot_tell, refuses
from kadm.schedule.member import Member
from kadm.schedule.resources import CPU, EPHEMERAL_STORAGE, MEMORY
from kadm.schedule.unit import SchedulingUnit
from kadm.schedule.utilization import demand


class ClusterResourcesFit(Struct, frozen=True, forbid_unknown_fields=True):
    """One replica must fit into what is free; a member that runs the unit already fits.

    A unit's request holds only scalar resources (spec 2.3): cpu and memory refuse only where oversubscribed.
    """

    def filter(self, unit: SchedulingUnit, member: Member) -> Answer:
        if member.name in unit.current or not unit.request:
            return FITS
        if member.unread:
            return cannot_tell(f"it could not be read: {member.unread}")
        wanted = {resource for resource, amount in unit.request.items() if amount > 0} - {EPHEMERAL_STORAGE}
        short = [
            resource
            for resource in sorted({CPU, MEMORY, *wanted})
            if (need := demand(unit, member, resource)).requested > need.allocatable
        ]
        return refuses(f"not enough {', '.join(short)} is free") if short else FITS
