"""How full a member would be with one more replica: what the resource plugins compare (scheduling spec 4.9)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from kadm.model.quantity import milli, whole
from kadm.schedule.framework import CapacityUnknown
from kadm.schedule.member import Member, Resources
from kadm.schedule.resources import CPU, EPHEMERAL_STORAGE, GPU, MEMORY, Amounts
from kadm.schedule.unit import SchedulingUnit

_ZERO = Fraction(0)
_WEIGHTS = {GPU: 4}
"""Weight of a resource in the mean of allocation scores; the rest count 1."""


@dataclass(frozen=True, slots=True)
class Demand:
    """One resource of a member: what is requested there, one replica of the unit included, of what is allocatable.

    cpu in milli, the rest in whole units.
    """

    requested: int
    allocatable: int


def demand(request: Amounts, member: Member, resource: str) -> Demand:
    """The demand on ``resource`` with one more replica, that asks for ``request``. Raises CapacityUnknown.

    Where more is available than can be allocated, the status is wrong, and the resource counts as used up, as in
    KubeAdmiral.
    """
    known = capacity_of(member)
    allocatable, available = known.allocatable.get(resource, _ZERO), known.available.get(resource, _ZERO)
    used = allocatable if available > allocatable else allocatable - available
    amount = milli if resource == CPU else whole
    return Demand(amount(used) + request.get(resource, 0), amount(allocatable))


def demands(request: Amounts, member: Member) -> dict[str, Demand]:
    """The demand on each resource that scores look at: cpu, memory, and the scalars that a replica asks for."""
    scalars = [resource for resource in request if resource not in (CPU, MEMORY, EPHEMERAL_STORAGE)]
    storage = [EPHEMERAL_STORAGE] if request.get(EPHEMERAL_STORAGE) else []
    return {resource: demand(request, member, resource) for resource in (CPU, MEMORY, *storage, *scalars)}


def request_of(unit: SchedulingUnit, *, pod_requests: bool) -> Amounts:
    """What a replica of ``unit`` asks for: as KubeAdmiral looks at it, or all of it."""
    return unit.pod_request if pod_requests else unit.request


def weighted_mean(scores: dict[str, int]) -> int:
    """Mean of resources' scores, rounded down."""
    weights = {resource: _WEIGHTS.get(resource, 1) for resource in scores}
    return sum(scores[resource] * weight for resource, weight in weights.items()) // sum(weights.values())


def capacity_of(member: Member) -> Resources:
    """The member's capacity. Raises CapacityUnknown where it was not read."""
    if member.capacity is None:
        raise CapacityUnknown((member.name,))
    return member.capacity
