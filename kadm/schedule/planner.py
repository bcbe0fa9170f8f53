"""Dividing a workload's replicas over members by weight (replicasStrategy Spread; scheduling spec, section 5).

The idea: minimums first; then, round by round, what remains is shared by weight among the members that are not full,
each share rounded up, in the order of falling weight (ties by a hash of member and workload, so that the odd replica
of different workloads does not always land in the same member). With ``avoid_disruption`` that division is not the
plan but the goal: replicas that run stay where they are, and only the difference between the two sums is taken from
the members above their goal, or given to those below it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from kadm.model.decision import Cut, Step
from kadm.schedule.trail import Trail

_FNV_OFFSET = 2166136261
_FNV_PRIME = 16777619
_UINT32 = 0xFFFFFFFF


@dataclass(frozen=True, slots=True)
class Preference:
    """What one member should get. ``max`` None: unbounded. ``weight`` shares out what remains after the minimums."""

    weight: int = 0
    min: int = 0
    max: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Division:
    """Member → replicas. What is written for a member is ``plan`` + ``overflow``.

    ``overflow`` holds replicas that stay in a member beyond what it is believed to be able to run; absent means 0.
    ``goal`` is the division as if nothing ran yet. ``steps`` tell how each number came about.
    """

    plan: Mapping[str, int]
    overflow: Mapping[str, int] = field(default_factory=dict)
    goal: Mapping[str, int] = field(default_factory=dict)
    steps: Mapping[str, tuple[Step, ...]] = field(default_factory=dict, compare=False)

    def total(self, member: str) -> int:
        """What is written for ``member``."""
        return self.plan.get(member, 0) + self.overflow.get(member, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """What is known of members' capacity for this workload, member → replicas; an absent member is unbounded.

    ``estimated`` is what a member is believed to run: more may stay there as overflow. ``limited`` is never exceeded.
    """

    estimated: Mapping[str, int] = field(default_factory=dict)
    limited: Mapping[str, int] = field(default_factory=dict)


UNBOUNDED = Bounds()


def fnv1_32(data: bytes) -> int:
    """FNV-1 (multiply, then XOR; not FNV-1a) in 32 bits."""
    value = _FNV_OFFSET
    for byte in data:
        value = value * _FNV_PRIME & _UINT32 ^ byte
    return value


def divide(
    preferences: Mapping[str, Preference],
    *,
    total: int,
    key: str,
    current: Mapping[str, int],
    bounds: Bounds = UNBOUNDED,
    avoid_disruption: bool = True,
    keep_unschedulable: bool = False,
) -> Division:
    """``total`` replicas divided over the members of ``preferences`` (spec 5.4). All numbers are at least 0.

    ``key`` is the workload's ``namespace/name`` and breaks ties. ``current`` may name members that are no longer
    planned: they are forgotten. ``keep_unschedulable``: replicas that do not fit stay as overflow even where another
    member took their place.
    """
    hashes = {member: fnv1_32((member + key).encode()) for member in preferences}
    trail = Trail(preferences)
    keep_overflow = keep_unschedulable or not avoid_disruption
    whole = _Distribution(preferences, bounds, hashes, keep_overflow=keep_overflow, trail=trail)
    goal, overflow = whole.distribute(total)
    if not avoid_disruption:
        _note_overflow(trail, goal, overflow)
        return Division(plan=goal, overflow=overflow, goal=goal, steps=trail.steps)

    running = {member: _running(member, current, bounds) for member in preferences}
    excess = sum(running.values()) - sum(goal.values())
    if excess > 0:
        shrink = {
            member: Preference(weight=running[member] - goal[member], max=running[member])
            for member in preferences
            if goal[member] < running[member]
        }
        less, _ = _Distribution(shrink, UNBOUNDED, hashes, keep_overflow=False).distribute(excess)
        plan = {member: replicas - less.get(member, 0) for member, replicas in running.items()}
    elif excess < 0:
        grow = {
            member: Preference(
                weight=goal[member] - running[member],
                max=None if preference.max is None else preference.max - running[member],
            )
            for member, preference in preferences.items()
            if goal[member] > running[member]
        }
        more, _ = _Distribution(grow, UNBOUNDED, hashes, keep_overflow=False).distribute(-excess)
        plan = {member: replicas + more.get(member, 0) for member, replicas in running.items()}
    else:
        plan = running
    for member, stays in running.items():
        if plan[member] != goal[member] or stays < current.get(member, 0):
            trail.note(
                member, "running", stays, asked=current.get(member, 0), cut=_cut_of(member, stays, current, bounds)
            )
            if plan[member] != stays:
                trail.note(member, "more" if plan[member] > stays else "less", plan[member], asked=goal[member])
    _note_overflow(trail, plan, overflow)
    return Division(plan=plan, overflow=overflow, goal=goal, steps=trail.steps)


def _cut_of(member: str, stays: int, current: Mapping[str, int], bounds: Bounds) -> Cut:
    """What lets a member keep only ``stays`` of its replicas; empty where it may keep them all."""
    if stays >= current.get(member, 0):
        return ""
    return "limit" if stays == bounds.limited.get(member) else "estimate"


def _note_overflow(trail: Trail, plan: Mapping[str, int], overflow: Mapping[str, int]) -> None:
    for member, extra in overflow.items():
        trail.note(member, "overflow", plan[member] + extra)


def _running(member: str, current: Mapping[str, int], bounds: Bounds) -> int:
    """Replicas that may stay: what runs, as far as the member's capacity allows."""
    replicas = current.get(member, 0)
    return min(replicas, bounds.limited.get(member, replicas), bounds.estimated.get(member, replicas))


def ordered(weights: Mapping[str, int], hashes: Mapping[str, int]) -> list[str]:
    """Members by falling weight, then by hash, then by name (spec 5.2)."""
    return sorted(weights, key=lambda member: (-weights[member], hashes[member], member))


@dataclass(frozen=True, slots=True)
class _Distribution:
    """One call of Distribute (spec 5.3): its preferences and bounds."""

    preferences: Mapping[str, Preference]
    bounds: Bounds
    hashes: Mapping[str, int]
    keep_overflow: bool
    trail: Trail | None = None

    def distribute(self, total: int) -> tuple[dict[str, int], dict[str, int]]:
        """Plan and overflow, member → replicas. The plan has every member, the overflow only those above 0."""
        order = ordered({member: preference.weight for member, preference in self.preferences.items()}, self.hashes)
        plan: dict[str, int] = {}
        overflow: dict[str, int] = {}
        remaining = total
        for member in order:
            plan[member] = self._minimum(member, remaining, overflow)
            remaining -= plan[member]

        active: Sequence[str] = order
        grew = True
        number = 0
        while remaining > 0 and grew:
            number += 1
            active, given = self._round(active, remaining, plan, overflow, number)
            grew = given.grew
            remaining = given.remaining

        if not self.keep_overflow:
            overflow = {member: min(extra, remaining) for member, extra in overflow.items()}
        return plan, {member: extra for member, extra in overflow.items() if extra > 0}

    def _minimum(self, member: str, remaining: int, overflow: dict[str, int]) -> int:
        """The member's minimum, as far as replicas and capacity reach. The maximum does not count here."""
        asked = self.preferences[member].min
        limited = self.bounds.limited.get(member, remaining)
        granted = min(asked, remaining, limited)
        cut: Cut = "" if granted == asked else "total" if granted == remaining else "limit"
        estimated = self.bounds.estimated.get(member)
        if estimated is not None and estimated < granted:
            overflow[member] = granted - estimated
            granted, cut = estimated, "estimate"
        if asked and self.trail is not None:
            self.trail.note(member, "minimum", granted, asked=asked, cut=cut)
        return granted

    def _round(
        self, active: Sequence[str], remaining: int, plan: dict[str, int], overflow: dict[str, int], number: int
    ) -> tuple[Sequence[str], _Round]:
        """Share ``remaining`` by weight among ``active`` once; gives the members that are not full, and what is left.

        ``remaining`` can grow: a member whose minimum is above its maximum gives back the difference. ``number`` counts
        the rounds from 1.
        """
        weight_sum = sum(self.preferences[member].weight for member in active)
        if weight_sum <= 0:
            return active, _Round(remaining, grew=False)
        to_share = remaining
        grew = False
        not_full: list[str] = []
        for member in active:
            preference = self.preferences[member]
            share = -(-to_share * preference.weight // weight_sum)  # rounded up
            before = plan[member]
            after = before + min(share, remaining)
            full = False
            cut: Cut = "total" if share > remaining else ""
            for bound, by in self._bounds_of(member):
                if bound is not None and after > bound:
                    after, full, cut = bound, True, by
            estimated = self.bounds.estimated.get(member)
            if estimated is not None and after > estimated:
                overflow[member] = overflow.get(member, 0) + after - estimated
                after, full, cut = estimated, True, "estimate"
            if self.trail is not None:
                self.trail.note(member, "share", after, asked=before + share, cut=cut, round_=number)
            if not full:
                not_full.append(member)
            remaining -= after - before
            grew = grew or after > before
            plan[member] = after
        return not_full, _Round(remaining, grew=grew)

    def _bounds_of(self, member: str) -> tuple[tuple[int | None, Cut], ...]:
        return (self.preferences[member].max, "maximum"), (self.bounds.limited.get(member), "limit")


@dataclass(frozen=True, slots=True)
class _Round:
    """What one round left to share, and whether some member got more."""

    remaining: int
    grew: bool
