"""Filter ClusterReady (scheduling spec 4.5)."""

from __future__ import annotations

from msgspec import Struct

from kadm.schedule.framework import FITS, Answer, cannot_tell, refuses
from kadm.schedule.member import Member
from kadm.schedule.unit import SchedulingUnit


class ClusterReady(Struct, frozen=True, forbid_unknown_fields=True):
    """A member that is not Ready takes nothing new and keeps what it runs."""

    def filter(self, unit: SchedulingUnit, member: Member) -> Answer:
        if member.name in unit.current:  # leaving a lost member is fail-over's decision: it waits for evidence
            return FITS
        if member.ready is None:
            return cannot_tell(f"it could not be read: {member.unread}")
        if member.ready == "True":
            return FITS
        return refuses(f"it is not ready: {member.ready_reason or f'condition Ready is {member.ready}'}")
