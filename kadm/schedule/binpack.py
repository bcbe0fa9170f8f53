"""Filling members one after the other (replicasStrategy Binpack; scheduling spec 4.14).

The idea: minimums first, then every member is filled up in order. As in the planner, that is a goal: with
``avoid_disruption`` only the difference to what runs is taken from the last members, or given to the first ones.
KubeAdmiral's defects 3 to 5 of spec section 10 are not kept: no step goes above a maximum or limit, none hands out more
than the total, and growing counts what runs toward a minimum.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from kadm.schedule.planner import UNBOUNDED, Bounds, Division, Preference


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
    if _deferred(order, total, running, bounds):
        return Division(plan=dict(current), goal=dict(current))

    goal, overflow = fill(order, preferences, bounds, total)
    if not avoid_disruption:
        return Division(plan=goal, overflow=overflow, goal=goal)
    found_a_node = sum(
        min(running.scheduled[name], bounds.limited.get(name, running.scheduled[name]))
        for name in order
        if name in running.scheduled
    )
    if not keep_unschedulable:
        if found_a_node == total:
            return Division(plan=dict(running.scheduled), goal=goal)
        overflow = {name: kept for name, extra in overflow.items() if (kept := min(extra, total - found_a_node)) > 0}

    plan = {
        name: min(
            current.get(name, 0),
            bounds.limited.get(name, current.get(name, 0)),
            bounds.estimated.get(name, current.get(name, 0)),
        )
        for name in order
    }
    excess = sum(plan.values()) - sum(goal.values())
    if excess > 0:
        above = [name for name in reversed(order) if goal[name] < plan[name]]
        less, _ = fill(above, {name: Preference(max=plan[name]) for name in above}, UNBOUNDED, excess)
        plan.update({name: plan[name] - less[name] for name in above})
    elif excess < 0:
        below = [name for name in order if goal[name] > plan[name]]
        more, _ = fill(
            below,
            {name: _above(preferences[name], plan[name]) for name in below},
            Bounds(limited={name: bounds.limited[name] - plan[name] for name in below if name in bounds.limited}),
            -excess,
        )
        plan.update({name: plan[name] + more[name] for name in below})
    return Division(plan=plan, overflow=overflow, goal=goal)


def fill(
    order: Sequence[str], preferences: Mapping[str, Preference], bounds: Bounds, total: int
) -> tuple[dict[str, int], dict[str, int]]:
    """Plan and overflow, member → replicas, as if nothing ran. The plan has every member, the overflow only above 0."""
    plan: dict[str, int] = {}
    overflow: dict[str, int] = {}
    remaining = total
    for name in order:
        least = min(preferences[name].min, remaining)
        least = min(least, bounds.limited.get(name, least))
        estimated = bounds.estimated.get(name, least)
        if estimated < least:
            overflow[name] = least - estimated
            least = estimated
        plan[name] = least
        remaining -= least
    for name in order:
        most = plan[name] + remaining
        for bound in (preferences[name].max, bounds.limited.get(name)):
            if bound is not None:
                most = min(most, bound)
        estimated = bounds.estimated.get(name, most)
        if estimated < most:
            overflow[name] = max(overflow.get(name, 0), most - estimated)
            most = estimated
        remaining -= most - plan[name]
        plan[name] = most
    return plan, overflow


def _above(preference: Preference, running: int) -> Preference:
    """What ``preference`` leaves for a member that runs ``running`` already."""
    return Preference(
        min=max(preference.min - running, 0),
        max=None if preference.max is None else max(preference.max - running, 0),
    )


def _deferred(order: Sequence[str], total: int, running: Running, bounds: Bounds) -> bool:
    """Whether to wait: pods are on their way to a node, and nothing forces replicas to leave a member."""
    if sum(running.current.values()) > total:
        return False
    for name, replicas in running.current.items():
        if name not in order or replicas > bounds.limited.get(name, replicas):
            return False
    return any(
        scheduled != bounds.estimated.get(name, running.current.get(name, 0))
        for name, scheduled in running.scheduled.items()
    )
