"""Filling members one after the other (replicasStrategy Binpack; scheduling spec 4.14).

The idea: minimums first, then every member is filled up in order. As in the planner, that is a goal: with
``avoid_disruption`` only the difference to what runs is taken from the last members, or given to the first ones.
KubeAdmiral's defects 3 to 6 of spec section 10 are not kept: whatever runs, no plan goes above a maximum, a limit or
the total, and none leaves a member under a minimum that can be had.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from kadm.model.decision import Cut
from kadm.schedule.planner import UNBOUNDED, Bounds, Division, Preference
from kadm.schedule.trail import Trail


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """What is known of the present: member → replicas.

    ``current`` is the last decision; it may name members that are no longer selected. ``scheduled`` are the replicas
    that found a node, only for members of which auto-migration knows it.
    """

    current: Mapping[str, int] = field(default_factory=dict)
    scheduled: Mapping[str, int] = field(default_factory=dict)


def pack(
    preferences: Mapping[str, Preference],
    *,
    total: int,
    running: Running,
    bounds: Bounds = UNBOUNDED,
    avoid_disruption: bool = True,
    keep_unschedulable: bool = False,
) -> Division:
    """``total`` replicas packed into the members of ``preferences``, which are in the order of filling.

    Weights are not read. Where pods are still on their way to a node, growth is deferred: the plan is what runs.
    """
    order = list(preferences)
    current = running.current
    trail = Trail(order)
    least, overflow = _minimums(order, preferences, bounds, total, trail)
    goal = _filled(order, preferences, bounds, total, least, overflow, trail)
    ranges = {name: (min(least[name], goal[name]), _most(preferences[name], name, bounds)) for name in order}
    if _deferred(ranges, total, running, bounds):
        for name in order:
            trail.note(name, "waits", current.get(name, 0))
        return Division(plan=dict(current), goal=dict(current), steps=trail.steps)
    if not avoid_disruption:
        _note_overflow(trail, goal, overflow)
        return Division(plan=goal, overflow=_positive(overflow), goal=goal, steps=trail.steps)

    if not keep_unschedulable:
        settled = {
            name: min(replicas, bounds.limited.get(name, replicas))
            for name, replicas in running.scheduled.items()
            if name in ranges
        }
        found_a_node = sum(settled.values())
        if found_a_node == total and _within(ranges, settled):
            nothing = {name: 0 for name, replicas in running.scheduled.items() if name not in ranges and not replicas}
            for name, replicas in settled.items():
                trail.note(name, "running", replicas)
            return Division(plan={**settled, **nothing}, goal=goal, steps=trail.steps)
        overflow = {name: min(extra, total - found_a_node) for name, extra in overflow.items()}

    plan = {}
    for name, (floor, most) in ranges.items():
        stays = min(current.get(name, 0), bounds.estimated.get(name, current.get(name, 0)))
        plan[name] = max(stays if most is None else min(stays, most), floor)
    running_there = dict(plan)
    excess = sum(plan.values()) - sum(goal.values())
    for name in reversed(order):
        if excess > 0 and goal[name] < plan[name]:
            less = min(excess, plan[name] - ranges[name][0])
            plan[name] -= less
            excess -= less
    for name in order:
        if excess < 0 and goal[name] > plan[name]:
            most = ranges[name][1]
            more = -excess if most is None else min(-excess, most - plan[name])
            plan[name] += more
            excess += more
    for name in order:
        before, stays = current.get(name, 0), running_there[name]
        if plan[name] != goal[name] or stays < before:
            trail.note(
                name, "running", stays, asked=before, cut=_cut_of(stays, before, preferences[name], name, bounds)
            )
            if plan[name] != stays:
                trail.note(name, "more" if plan[name] > stays else "less", plan[name], asked=goal[name])
    _note_overflow(trail, plan, overflow)
    return Division(plan=plan, overflow=_positive(overflow), goal=goal, steps=trail.steps)


def _cut_of(stays: int, before: int, preference: Preference, name: str, bounds: Bounds) -> Cut:
    """What lets a member keep only ``stays`` of ``before`` replicas; empty where it keeps them."""
    if stays >= before:
        return ""
    if stays == bounds.estimated.get(name):
        return "estimate"
    return "limit" if stays == bounds.limited.get(name) and stays != preference.max else "maximum"


def _note_overflow(trail: Trail, plan: Mapping[str, int], overflow: Mapping[str, int]) -> None:
    for name, extra in _positive(overflow).items():
        trail.note(name, "overflow", plan[name] + extra)


Range = tuple[int, int | None]
"""The least that a member gets of this total, and the most that it may get (None: unbounded)."""


def _minimums(
    order: Sequence[str], preferences: Mapping[str, Preference], bounds: Bounds, total: int, trail: Trail
) -> tuple[dict[str, int], dict[str, int]]:
    """The minimums that can be had, in order, and what of them a member is believed not to run (overflow)."""
    plan: dict[str, int] = {}
    overflow: dict[str, int] = {}
    remaining = total
    for name in order:
        asked = preferences[name].min
        least = min(asked, remaining)
        cut: Cut = "total" if least < asked else ""
        if bounds.limited.get(name, least) < least:
            least, cut = bounds.limited[name], "limit"
        estimated = bounds.estimated.get(name, least)
        if estimated < least:
            overflow[name] = least - estimated
            least, cut = estimated, "estimate"
        if asked:
            trail.note(name, "minimum", least, asked=asked, cut=cut)
        plan[name] = least
        remaining -= least
    return plan, overflow


def _filled(
    order: Sequence[str],
    preferences: Mapping[str, Preference],
    bounds: Bounds,
    total: int,
    least: Mapping[str, int],
    overflow: dict[str, int],
    trail: Trail,
) -> dict[str, int]:
    """The division as if nothing ran: ``least``, and every member filled up in order. Adds to ``overflow``."""
    plan = dict(least)
    remaining = total - sum(plan.values())
    for name in order:
        most = asked = plan[name] + remaining
        cut: Cut = "" if remaining else "total"
        bound = _most(preferences[name], name, bounds)
        if bound is not None and bound < most:
            most, cut = bound, "maximum" if bound == preferences[name].max else "limit"
        estimated = bounds.estimated.get(name, most)
        if estimated < most:
            overflow[name] = max(overflow.get(name, 0), most - estimated)
            most, cut = estimated, "estimate"
        trail.note(name, "fill", most, asked=asked, cut=cut)
        remaining -= most - plan[name]
        plan[name] = most
    return plan


def _most(preference: Preference, name: str, bounds: Bounds) -> int | None:
    known = [bound for bound in (preference.max, bounds.limited.get(name)) if bound is not None]
    return min(known, default=None)


def _within(ranges: Mapping[str, Range], plan: Mapping[str, int]) -> bool:
    """Whether every member has its least and not more than its most; ``plan`` has members of ``ranges`` only."""
    return all(
        floor <= plan.get(name, 0) and (most is None or plan.get(name, 0) <= most)
        for name, (floor, most) in ranges.items()
    )


def _positive(overflow: Mapping[str, int]) -> dict[str, int]:
    return {name: extra for name, extra in overflow.items() if extra > 0}


def _deferred(ranges: Mapping[str, Range], total: int, running: Running, bounds: Bounds) -> bool:
    """Whether to wait: pods are on their way to a node, and nothing forces replicas to leave or to enter a member."""
    current = running.current
    if sum(current.values()) > total or not current.keys() <= ranges.keys() or not _within(ranges, current):
        return False
    return any(
        scheduled != bounds.estimated.get(name, current.get(name, 0)) for name, scheduled in running.scheduled.items()
    )
