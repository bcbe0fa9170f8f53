"""What holds for every division of strategy Binpack (maximums not below minimums), whatever runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from kadm.schedule.binpack import Running, pack
from kadm.schedule.planner import Bounds, Division
from tests.schedule.inputs import NAMES, SETTINGS, Input, counts, inputs
from tests.schedule.test_planner_properties import shuffled

avoids = st.booleans()
keeps = st.booleans()
on_nodes: st.SearchStrategy[dict[str, int]] = st.just({}) | st.dictionaries(st.sampled_from(NAMES), counts)
"""Replicas that found a node, where that is known."""


def division(
    given_: Input, *, avoid: bool = True, keep: bool = False, scheduled: Mapping[str, int] | None = None
) -> Division:
    return pack(
        given_.preferences,
        total=given_.total,
        running=Running(current=given_.current, scheduled=scheduled or {}),
        bounds=given_.bounds,
        avoid_disruption=avoid,
        keep_unschedulable=keep or not avoid,
    )


@SETTINGS
@given(inputs, avoids, keeps, on_nodes)
def test_nothing_is_exceeded(given_: Input, avoid: bool, keep: bool, scheduled: dict[str, int]) -> None:
    plan = division(given_, avoid=avoid, keep=keep, scheduled=scheduled).plan
    assert sum(plan.values()) <= given_.total
    for member in given_.order:
        replicas, maximum = plan.get(member, 0), given_.preferences[member].max
        assert 0 <= replicas <= given_.bounds.limited.get(member, replicas)
        assert maximum is None or replicas <= maximum
    assert not any(plan.get(member) for member in plan.keys() - set(given_.order))


@SETTINGS
@given(inputs, avoids, keeps, on_nodes)
def test_no_minimum_that_can_be_had_is_missed(
    given_: Input, avoid: bool, keep: bool, scheduled: dict[str, int]
) -> None:
    """Where not all minimums fit into the total, the first ones do."""
    plan = division(given_, avoid=avoid, keep=keep, scheduled=scheduled).plan
    left = given_.total
    for member in given_.order:
        assert plan.get(member, 0) >= min(given_.floor(member), left)
        left = max(left - given_.floor(member), 0)


@SETTINGS
@given(inputs, avoids, keeps)
def test_members_are_filled_in_order(given_: Input, avoid: bool, keep: bool) -> None:
    """A member that could take more is followed by members that have their minimums alone."""
    plan = division(replace(given_, current={}), avoid=avoid, keep=keep).plan
    not_full = False
    for member in given_.order:
        if not_full:
            assert plan.get(member, 0) <= given_.floor(member)
        ceiling = given_.ceiling(member)
        not_full = not_full or ceiling is None or plan.get(member, 0) < ceiling
    assert sum(plan.values()) == given_.total if given_.room else sum(plan.values()) < given_.total


@SETTINGS
@given(inputs, keeps)
def test_nobody_loses_more_than_others_need(given_: Input, keep: bool) -> None:
    """What runs stays, as far as it may, up to what minimums elsewhere take."""
    plan = division(given_, keep=keep).plan
    stays = {}
    for member in given_.order:
        ceiling = given_.ceiling(member)
        stays[member] = given_.runs(member) if ceiling is None else min(given_.runs(member), ceiling)
    owed = sum(max(given_.floor(member) - stays[member], 0) for member in given_.order)
    surplus = max(sum(stays.values()) + owed - given_.total, 0)
    assert sum(max(replicas - plan.get(member, 0), 0) for member, replicas in stays.items()) <= surplus


@SETTINGS
@given(inputs, avoids)
def test_a_second_run_changes_nothing(given_: Input, avoid: bool) -> None:
    settled = replace(given_, bounds=Bounds(limited=given_.bounds.limited))
    plan = division(settled, avoid=avoid).plan
    assert division(replace(settled, current=plan), avoid=avoid).plan == plan


@SETTINGS
@given(inputs, avoids, keeps, on_nodes, st.integers(0, 2**32))
def test_the_order_of_what_is_known_does_not_matter(
    given_: Input, avoid: bool, keep: bool, scheduled: dict[str, int], seed: int
) -> None:
    """The order of members is that of filling; that of any other input is chance."""
    bounds = Bounds(estimated=shuffled(given_.bounds.estimated, seed), limited=shuffled(given_.bounds.limited, seed))
    turned = replace(given_, current=shuffled(given_.current, seed), bounds=bounds)
    one = division(given_, avoid=avoid, keep=keep, scheduled=scheduled)
    other = division(turned, avoid=avoid, keep=keep, scheduled=shuffled(scheduled, seed))
    assert (one.plan, one.overflow) == (other.plan, other.overflow)
