"""Filter ClusterResourcesFit, off by default (scheduling spec 4.8)."""

from __future__ import annotations

from msgspec import Struct

from kadm.schedule.framework import FITS, Answer, cannot_tell, refuses
from kadm.schedule.member import Member
from kadm.schedule.resources import CPU, EPHEMERAL_STORAGE, MEMORY
from kadm.schedule.unit import SchedulingUnit
from kadm.schedule.utilization import demand, request_of


class ClusterResourcesFit(Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """One replica must fit into what is free; a member that runs the unit already fits.

    A unit's request holds only scalar resources (spec 2.3): cpu and memory refuse only where oversubscribed.
    ``podRequests`` counts all that one replica asks for (spec 10, row 22).
    """

    pod_requests: bool = False

    def filter(self, unit: SchedulingUnit, member: Member) -> Answer:
        request = request_of(unit, pod_requests=self.pod_requests)
        if member.name in unit.current or not request:
            return FITS
        if member.unread:
            return cannot_tell(f"it could not be read: {member.unread}")
        wanted = {resource for resource, amount in request.items() if amount > 0}
        if not self.pod_requests:
            wanted.discard(EPHEMERAL_STORAGE)
        short = [
            resource
            for resource in sorted({CPU, MEMORY, *wanted})
            if (need := demand(request, member, resource)).requested > need.allocatable
        ]
        return refuses(f"not enough {', '.join(short)} is free") if short else FITS
