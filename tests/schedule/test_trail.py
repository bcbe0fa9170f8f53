"""The steps to a number: they end at that number, whatever was divided, and leave nothing out that changed it."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kadm.model.decision import Step
from kadm.schedule.binpack import Running, pack
from kadm.schedule.planner import Bounds, Division, Preference, divide

NAMES = ("a", "b", "c", "d")
NUMBERS = st.dictionaries(st.sampled_from(NAMES), st.integers(0, 12))
PREFERENCES = st.dictionaries(
    st.sampled_from(NAMES),
    st.builds(Preference, st.integers(0, 5), st.integers(0, 6), st.one_of(st.none(), st.integers(0, 12))),
    min_size=1,
)
BOUNDS = st.builds(Bounds, estimated=NUMBERS, limited=NUMBERS)


def _ends(division: Division, members: Mapping[str, Preference]) -> dict[str, int]:
    """Member → the number that its steps end at; a member without steps has none to explain."""
    return {
        member: division.steps[member][-1].replicas if member in division.steps else division.total(member)
        for member in members
    }


@settings(max_examples=300, deadline=None)
@given(PREFERENCES, st.integers(0, 30), NUMBERS, BOUNDS, st.booleans(), st.booleans())
def test_steps_of_spread_end_at_the_number(
    preferences: dict[str, Preference],
    total: int,
    current: dict[str, int],
    bounds: Bounds,
    avoid: bool,  # hypothesis gives it
    keep: bool,
) -> None:
    division = divide(
        preferences,
        total=total,
        key="ns/web",
        current=current,
        bounds=bounds,
        avoid_disruption=avoid,
        keep_unschedulable=keep,
    )
    assert _ends(division, preferences) == {member: division.total(member) for member in preferences}


@settings(max_examples=300, deadline=None)
@given(PREFERENCES, st.integers(0, 30), NUMBERS, NUMBERS, BOUNDS, st.booleans(), st.booleans())
def test_steps_of_binpack_end_at_the_number(
    preferences: dict[str, Preference],
    total: int,
    current: dict[str, int],
    scheduled: dict[str, int],
    bounds: Bounds,
    avoid: bool,
    keep: bool,
) -> None:
    division = pack(
        preferences,
        total=total,
        running=Running(current=current, scheduled=scheduled),
        bounds=bounds,
        avoid_disruption=avoid,
        keep_unschedulable=keep,
    )
    assert _ends(division, preferences) == {member: division.total(member) for member in preferences}


@pytest.mark.parametrize(
    ("preferences", "total", "current", "bounds", "want"),
    [
        pytest.param(
            {"a": Preference(1, min=2, max=3), "b": Preference(3)},
            12,
            {},
            Bounds(),
            {
                "a": (
                    Step(what="minimum", replicas=2),
                    Step(what="share", replicas=3, asked=5, cut="maximum", round=1),
                ),
                "b": (Step(what="share", replicas=8, round=1), Step(what="share", replicas=9, round=2)),
            },
            id="a maximum",
        ),
        pytest.param(
            {"a": Preference(min=3), "b": Preference(min=3)},
            4,
            {},
            Bounds(),
            {
                "a": (Step(what="minimum", replicas=3),),
                "b": (Step(what="minimum", replicas=1, asked=3, cut="total"),),
            },
            id="more is asked for than there is",
        ),
        pytest.param(
            {"a": Preference(1), "b": Preference(1)},
            6,
            {"a": 6},
            Bounds(estimated={"a": 4}),
            {
                "a": (
                    Step(what="share", replicas=3, round=1),
                    Step(what="running", replicas=4, asked=6, cut="estimate"),
                ),
                "b": (
                    Step(what="share", replicas=3, round=1),
                    Step(what="running", replicas=0),
                    Step(what="more", replicas=2, asked=3),
                ),
            },
            id="an estimate",
        ),
        pytest.param(
            {"a": Preference(1), "b": Preference(1)},
            6,
            {"a": 4, "b": 4},
            Bounds(limited={"a": 2}),
            {
                "a": (
                    Step(what="share", replicas=2, asked=3, cut="limit", round=1),
                    Step(what="running", replicas=2, asked=4, cut="limit"),
                ),
                "b": (
                    Step(what="share", replicas=3, round=1),
                    Step(what="share", replicas=4, round=2),
                ),
            },
            id="a limit",
        ),
    ],
)
def test_the_steps(
    preferences: Mapping[str, Preference],
    total: int,
    current: Mapping[str, int],
    bounds: Bounds,
    want: Mapping[str, tuple[Step, ...]],
) -> None:
    assert divide(preferences, total=total, key="ns/web", current=current, bounds=bounds).steps == want
