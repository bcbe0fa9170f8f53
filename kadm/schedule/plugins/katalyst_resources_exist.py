"""Filter KatalystResourcesExist, only where the fleet sets katalyst (scheduling spec 4.15)."""

from __future__ import annotations

from msgspec import Struct

from kadm.schedule.framework import FITS, Answer, CapacityUnknown, cannot_tell, refuses
from kadm.schedule.member import Member
from kadm.schedule.resources import KATALYST
from kadm.schedule.unit import SchedulingUnit


class KatalystResourcesExist(Struct, frozen=True, forbid_unknown_fields=True):
    """A unit that asks for what Katalyst reclaims goes only where Katalyst offers something, whatever it is.

    A member that runs the unit already fits.
    """

    def filter(self, unit: SchedulingUnit, member: Member) -> Answer:
        if member.name in unit.current or not any(resource in unit.request for resource in KATALYST):
            return FITS
        if member.unread:
            return cannot_tell(f"it could not be read: {member.unread}")
        if member.capacity is None:
            raise CapacityUnknown((member.name,))
        if any(resource in member.capacity.allocatable for resource in KATALYST):
            return FITS
        return refuses("it offers no Katalyst resource")
