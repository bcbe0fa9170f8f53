"""Replicas ClusterCapacityWeight: the division of strategy Spread (scheduling spec 4.13)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

from msgspec import Struct

from kadm.model.quantity import whole
from kadm.schedule.framework import CapacityUnknown, PluginError, Shares
from kadm.schedule.member import Member, Resources
from kadm.schedule.planner import Preference, divide, fnv1_32
from kadm.schedule.replica_bounds import bounds_of, keeps_unschedulable, limit_of
from kadm.schedule.resources import CPU, GPU, RECLAIMED_CPU, Amounts
from kadm.schedule.unit import SchedulingUnit

_SUM = 1000
_HEADROOM = 1.4
"""How far a member's weight may exceed its share of what the members can hand out."""


class ClusterCapacityWeight(Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """By the weights of the placement list; where it sets none at all, by what the members have free.

    KubeAdmiral looks at one resource alone (spec 10, row 23). ``scarcestResource`` looks at all that a pod asks for:
    what a member has free is then the number of pods that fit, by the resource that it is shortest of.
    """

    scarcest_resource: bool = False

    def divide(self, unit: SchedulingUnit, members: Sequence[Member]) -> Shares:
        static = unit.rules.placements.weights
        weights = static or dynamic_weights(unit, members, scarcest_resource=self.scarcest_resource)
        limits = {member.name: limit_of(unit, member) for member in members}
        division = divide(
            {name: Preference(weights.get(name, 0), limit.min, limit.max) for name, limit in limits.items()},
            total=unit.replicas or 0,
            key=unit.name,
            current=unit.replicas_of(unit.current),
            bounds=bounds_of(unit),
            avoid_disruption=unit.rules.avoid_disruption,
            keep_unschedulable=keeps_unschedulable(unit),
        )
        word = "weight" if static else "weight by free capacity"
        weight_sum = sum(weights.get(name, 0) for name in limits)
        return Shares(
            replicas={name: division.total(name) for name in limits},
            notes={
                name: (
                    f"{word} {weights.get(name, 0)}/{weight_sum}{limit.note}: {division.goal[name]} of {unit.replicas}",
                    *_difference(unit, name, division.goal[name], division.plan[name]),
                    *_overflow(division.overflow.get(name, 0)),
                )
                for name, limit in limits.items()
            },
            steps=division.steps,
        )


def _difference(unit: SchedulingUnit, member: str, goal: int, plan: int) -> tuple[str, ...]:
    if plan == goal:
        return ()
    if plan == unit.current_replicas(member):
        return (f"stays at {plan}: replicas that run are not moved (avoidDisruption)",)
    return (f"gets {plan}: replicas that run elsewhere are not moved (avoidDisruption)",)


def _overflow(replicas: int) -> tuple[str, ...]:
    return (f"{replicas} more stay, although it cannot run them now",) if replicas else ()


class _Amount(NamedTuple):
    """Whole units of the resource that decides, or pods; free may not be negative."""

    allocatable: int
    free: int


def dynamic_weights(
    unit: SchedulingUnit, members: Sequence[Member], *, scarcest_resource: bool = False
) -> Mapping[str, int]:
    """Member → weight by free capacity; the weights of all members add up to about 1000.

    The resource is the GPU where the unit asks for one, else cpu that Katalyst reclaimed where it asks for that, else
    cpu. A weight is capped at 1.4 times the member's part of everything allocatable. What rounding leaves over goes to
    the largest weight, of equal ones to the member that the planner's hash puts first. Raises PluginError.
    """
    wanted = {resource: amount for resource, amount in unit.pod_request.items() if amount > 0}
    if scarcest_resource and wanted:
        amounts = _pods(wanted, members)
    else:
        amounts = _amounts(next((asked for asked in (GPU, RECLAIMED_CPU) if asked in unit.request), CPU), members)
    free_sum = sum(amount.free for amount in amounts.values())
    allocatable_sum = sum(amount.allocatable for amount in amounts.values())
    even = _rounded(_SUM / len(amounts))
    if free_sum == 0:
        return dict.fromkeys(amounts, even)
    capped = {}
    for name, amount in amounts.items():
        limit = (
            _rounded(amount.allocatable / allocatable_sum * _SUM * _HEADROOM)
            if allocatable_sum
            else _rounded(_SUM / len(amounts))
        )
        capped[name] = min(_rounded(amount.free / free_sum * _SUM), limit)
    capped_sum = sum(capped.values())
    if capped_sum == 0:  # what is free is only where nothing is allocatable
        return dict.fromkeys(amounts, even)
    weights = {name: _rounded(weight / capped_sum * _SUM) for name, weight in capped.items()}
    largest = min(weights, key=lambda name: (-weights[name], fnv1_32((name + unit.name).encode()), name))
    weights[largest] += _SUM - sum(weights.values())
    return weights


def _amounts(resource: str, members: Sequence[Member]) -> dict[str, _Amount]:
    known = _capacities(members)
    without = sorted(name for name, capacity in known.items() if resource not in capacity.allocatable)
    if resource == RECLAIMED_CPU and 0 < len(without) < len(known):
        raise PluginError(f"weights by {resource} need it in every selected member, and {', '.join(without)} lack it")
    return {
        name: _Amount(whole(capacity.allocatable.get(resource, 0)), max(whole(capacity.available.get(resource, 0)), 0))
        for name, capacity in known.items()
    }


def _pods(request: Amounts, members: Sequence[Member]) -> dict[str, _Amount]:
    """How many pods that ask for ``request`` (above 0) the members could run empty, and can run now."""
    return {
        name: _Amount(_fitting(request, capacity.allocatable), max(_fitting(request, capacity.available), 0))
        for name, capacity in _capacities(members).items()
    }


def _fitting(request: Amounts, amounts: Mapping[str, Fraction]) -> int:
    """The least number over all resources."""
    return min(
        math.floor(amounts.get(resource, Fraction(0)) * (1000 if resource == CPU else 1) / amount)
        for resource, amount in request.items()
    )


def _capacities(members: Sequence[Member]) -> dict[str, Resources]:
    unknown = sorted(member.name for member in members if member.capacity is None)
    if unknown:
        raise CapacityUnknown(unknown)
    return {member.name: member.capacity for member in members if member.capacity is not None}


def _rounded(number: float) -> int:
    """Half away from zero, as Go rounds; ``number`` is not negative."""
    below = math.floor(number)
    return below + 1 if number - below >= 0.5 else below
