"""What holds for every division of strategy Spread (weights of at least 1, maximums not below minimums).

All of it is about the plan: overflow comes on top of it, and is what a member is believed not to run.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from kadm.schedule.planner import Bounds, Division, divide
from tests.schedule.inputs import KEY, SETTINGS, Input, inputs

avoids = st.booleans()
keeps = st.booleans()


def division(given_: Input, *, avoid: bool = True, keep: bool = False) -> Division:
    return divide(
        given_.preferences,
        total=given_.total,
        key=KEY,
        current=given_.current,
        bounds=given_.bounds,
        avoid_disruption=avoid,
        keep_unschedulable=keep,
    )


def shuffled(values: Mapping[str, int], seed: int) -> dict[str, int]:
    items = sorted(values.items())
    random.Random(seed).shuffle(items)
    return dict(items)


@SETTINGS
@given(inputs, avoids, keeps)
def test_the_sum_is_the_total_where_there_is_room(given_: Input, avoid: bool, keep: bool) -> None:
    placed = sum(division(given_, avoid=avoid, keep=keep).plan.values())
    assert placed == given_.total if given_.room else placed < given_.total


@SETTINGS
@given(inputs, avoids, keeps)
def test_no_capacity_is_exceeded(given_: Input, avoid: bool, keep: bool) -> None:
    for member, replicas in division(given_, avoid=avoid, keep=keep).plan.items():
        assert 0 <= replicas <= given_.bounds.limited.get(member, replicas)
        assert replicas <= given_.bounds.estimated.get(member, replicas)


@SETTINGS
@given(inputs, avoids, keeps)
def test_no_maximum_is_exceeded_anew(given_: Input, avoid: bool, keep: bool) -> None:
    for member, replicas in division(given_, avoid=avoid, keep=keep).plan.items():
        maximum = given_.preferences[member].max
        if maximum is not None:
            assert replicas <= (max(maximum, given_.runs(member)) if avoid else maximum)


@SETTINGS
@given(inputs, avoids, keeps)
def test_no_minimum_that_can_be_had_is_missed_anew(given_: Input, avoid: bool, keep: bool) -> None:
    if given_.minimums_fit:
        for member, replicas in division(given_, avoid=avoid, keep=keep).plan.items():
            floor = given_.floor(member)
            assert replicas >= (min(floor, given_.runs(member)) if avoid else floor)


@SETTINGS
@given(inputs, keeps)
def test_nobody_loses_while_the_total_grows(given_: Input, keep: bool) -> None:
    """Replicas that run stay, as far as the member's bounds allow, when not fewer are wanted than run."""
    running = sum(map(given_.runs, given_.preferences))
    grown = replace(given_, total=max(given_.total, running))
    for member, replicas in division(grown, keep=keep).plan.items():
        ceiling = given_.ceiling(member)
        assert replicas >= (given_.runs(member) if ceiling is None else min(given_.runs(member), ceiling))


@SETTINGS
@given(inputs, keeps)
def test_one_replica_more_lowers_nobody(given_: Input, keep: bool) -> None:
    plan = division(given_, keep=keep).plan
    after = division(replace(given_, total=given_.total + 1, current=plan), keep=keep).plan
    assert all(after[member] >= replicas for member, replicas in plan.items())
    assert sum(after.values()) - sum(plan.values()) in (0, 1)


@SETTINGS
@given(inputs)
def test_replicas_move_one_way(given_: Input) -> None:
    changes = [replicas - given_.runs(member) for member, replicas in division(given_).plan.items()]
    assert min(changes) >= 0 or max(changes) <= 0


@SETTINGS
@given(inputs, avoids)
def test_a_second_run_changes_nothing(given_: Input, avoid: bool) -> None:
    settled = replace(given_, bounds=Bounds(limited=given_.bounds.limited))
    plan = division(settled, avoid=avoid).plan
    assert division(replace(settled, current=plan), avoid=avoid).plan == plan


@SETTINGS
@given(inputs, avoids, keeps, st.integers(0, 2**32))
def test_the_order_of_inputs_does_not_matter(given_: Input, avoid: bool, keep: bool, seed: int) -> None:
    names = list(given_.preferences)
    random.Random(seed).shuffle(names)
    turned = Input(
        preferences={name: given_.preferences[name] for name in names},
        total=given_.total,
        current=shuffled(given_.current, seed),
        bounds=Bounds(estimated=shuffled(given_.bounds.estimated, seed), limited=shuffled(given_.bounds.limited, seed)),
    )
    one, other = division(given_, avoid=avoid, keep=keep), division(turned, avoid=avoid, keep=keep)
    assert (one.plan, one.overflow) == (other.plan, other.overflow)
