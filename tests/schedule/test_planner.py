"""The planner: worked examples and vectors of KubeAdmiral, and properties that hold for every input."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kadm.schedule.planner import Bounds, Division, Preference, divide, fnv1_32
from tests.schedule.vectors import Case, cases

KEY = "default/nginx"
NAMES = ("c1", "c2", "c3", "c4", "c5")

Numbers = tuple[int | None, ...]


def preferences(text: str) -> dict[str, Preference]:
    """``1/0/- 2/3/5`` → c1, c2: weight/min/max."""
    found = {}
    for name, entry in zip(NAMES, text.split(), strict=False):
        weight, minimum, maximum = entry.split("/")
        found[name] = Preference(int(weight), int(minimum), None if maximum == "-" else int(maximum))
    return found


def by_name(text: str) -> dict[str, int]:
    """``2,-,4`` → c1: 2, c3: 4."""
    return {name: int(entry) for name, entry in zip(NAMES, text.split(","), strict=False) if entry not in ("", "-")}


THREE = "1/0/- 1/0/- 1/0/-"


@pytest.mark.parametrize(
    ("total", "prefs", "current", "estimated", "limited", "avoid", "keep", "plan", "overflow"),
    [
        pytest.param(10, THREE, "", "", "", True, False, "2,4,4", "", id="X1 rounding up in order, not 4/3/3"),
        pytest.param(1, THREE, "", "", "", True, False, "0,0,1", "", id="X2"),
        pytest.param(7, THREE + " 1/0/- 1/0/-", "", "", "", True, False, "0,1,2,2,2", "", id="X3 c1 gets nothing"),
        pytest.param(10, "3/0/- 2/0/- 1/0/-", "", "", "", True, False, "5,4,1", "", id="X4"),
        pytest.param(5, "100/0/- 1/0/- 1/0/-", "", "", "", True, False, "5,0,0", "", id="X5 small weights starve"),
        pytest.param(9, "1/3/- 1/0/- 1/0/-", "", "", "", True, False, "5,2,2", "", id="X6 weights share the rest"),
        pytest.param(11, "1/5/- 3/5/- 2/5/-", "", "", "", True, False, "1,5,5", "", id="X7"),
        pytest.param(20, "5/0/2 3/0/- 2/0/-", "", "", "", True, False, "2,11,7", "", id="X8"),
        pytest.param(20, "1/0/3 1/0/3 1/0/3", "", "", "", True, False, "3,3,3", "", id="X9 eleven are unplaced"),
        pytest.param(9, "0/0/- 0/0/- 0/0/-", "", "", "", True, False, "0,0,0", "", id="X10 all weights 0"),
        pytest.param(9, "0/2/- 0/2/- 0/2/-", "", "", "", True, False, "2,2,2", "", id="X11 only minimums"),
        pytest.param(12, THREE, "6,1,1", "", "", True, False, "6,3,3", "", id="X12"),
        pytest.param(12, THREE, "6,1,1", "", "", False, False, "4,4,4", "", id="X13 rebalanced"),
        pytest.param(9, THREE, "8,5,2", "", "", True, False, "3,4,2", "", id="X14 shrinks where too much is"),
        pytest.param(9, THREE, "3,3,3", "1,-,-", "", True, False, "1,4,4", "", id="X15"),
        pytest.param(9, THREE, "3,3,3", "1,-,-", "", True, True, "1,4,4", "2,-,-", id="X16 kept and replaced: 11"),
        pytest.param(9, THREE, "3,3,3", "1,1,1", "", True, False, "1,1,1", "2,2,2", id="X17 no home elsewhere"),
        pytest.param(9, THREE, "3,3,3", "", "1,-,-", True, False, "1,4,4", "", id="X18 a limit is hard"),
        pytest.param(10, "1/0/- 9/0/-", "5,5", "", "", True, False, "5,5", "", id="X19 weights alone move nothing"),
        pytest.param(10, "1/0/- 9/0/-", "5,5", "", "", False, False, "1,9", "", id="X20"),
        pytest.param(9, "1/0/2 1/0/- 1/0/-", "5,2,2", "", "", True, False, "5,2,2", "", id="X21 nor a lower max"),
        pytest.param(9, "0/0/- 1/0/- 1/0/-", "9,0,0", "", "", True, False, "9,0,0", "", id="X22 nor a weight of 0"),
        pytest.param(5, "1/5/2 1/0/-", "", "", "", True, False, "2,0", "", id="X23 min above max loses replicas"),
        pytest.param(5, "1/5/2 1/0/-", "", "", "", False, False, "5,0", "", id="X24 min above max wins"),
        pytest.param(60, "1/20/- 1/20/-", "30,30", "-,10", "", True, True, "50,10", "-,25", id="X25"),
        pytest.param(12, THREE, "9,0,0", "", "", True, False, "9,1,2", "", id="X26"),
    ],
)
def test_worked_examples(
    total: int,
    prefs: str,
    current: str,
    estimated: str,
    limited: str,
    avoid: bool,
    keep: bool,
    plan: str,
    overflow: str,
) -> None:
    division = divide(
        preferences(prefs),
        total=total,
        key=KEY,
        current=by_name(current),
        bounds=Bounds(estimated=by_name(estimated), limited=by_name(limited)),
        avoid_disruption=avoid,
        keep_unschedulable=keep,
    )
    assert (division.plan, division.overflow) == (by_name(plan), by_name(overflow))


@pytest.mark.parametrize(
    ("text", "want"),
    [("", 0x811C9DC5), ("a", 0x050C5D7E), ("foobar", 0x31F0B262), ("c1default/nginx", 3653849269)],
)
def test_fnv1(text: str, want: int) -> None:
    assert fnv1_32(text.encode()) == want


@pytest.mark.parametrize("case", cases("planner"))
def test_vectors(case: Case) -> None:
    given_ = case["input"]
    entries = given_.get("clusters", {})
    available = given_.get("available", [name for name in entries if name != "*"])
    chosen = {name: entries.get(name, entries.get("*")) for name in available}
    division = divide(
        {
            name: Preference(entry.get("weight", 0), entry.get("min", 0), entry.get("max"))
            for name, entry in chosen.items()
            if entry is not None
        },
        total=given_.get("total", 0),
        key=given_.get("key", ""),
        current=given_.get("current", {}),
        bounds=Bounds(estimated=given_.get("estimatedCapacity", {}), limited=given_.get("limitedCapacity", {})),
        avoid_disruption=given_.get("avoidDisruption", False),
        keep_unschedulable=given_.get("keepUnschedulable", False),
    )
    assert {"plan": division.plan, "overflow": division.overflow} == case["expect"]


counts = st.integers(0, 40)
members = st.dictionaries(
    st.sampled_from(NAMES),
    st.tuples(counts, counts, st.none() | counts).map(
        lambda bounds: Preference(bounds[0], bounds[1] if bounds[2] is None else min(bounds[1], bounds[2]), bounds[2])
    ),
    min_size=1,
)
running = st.dictionaries(st.sampled_from(NAMES), counts)


def _divide(prefs: Mapping[str, Preference], total: int, current: Mapping[str, int]) -> Division:
    return divide(prefs, total=total, key=KEY, current=current)


@settings(max_examples=150, deadline=None)
@given(members, st.integers(1, 200), running)
def test_a_plan_fed_back_in_settles(prefs: dict[str, Preference], total: int, current: dict[str, int]) -> None:
    first = _divide(prefs, total, current)
    assert _divide(prefs, total, first.plan).plan == first.plan


@settings(max_examples=150, deadline=None)
@given(members, st.integers(1, 200), running)
def test_order_of_members_does_not_matter(prefs: dict[str, Preference], total: int, current: dict[str, int]) -> None:
    turned = dict(reversed(list(prefs.items())))
    assert _divide(turned, total, current).plan == _divide(prefs, total, current).plan


@settings(max_examples=150, deadline=None)
@given(members, st.integers(1, 200), running)
def test_sums_hold(prefs: dict[str, Preference], total: int, current: dict[str, int]) -> None:
    division = _divide(prefs, total, current)
    assert sum(division.plan.values()) == sum(division.goal.values()) <= total
    if any(preference.weight and preference.max is None for preference in prefs.values()):
        assert sum(division.plan.values()) == total


@settings(max_examples=150, deadline=None)
@given(members, st.integers(1, 200), running)
def test_avoiding_disruption_only_moves_one_way(
    prefs: dict[str, Preference], total: int, current: dict[str, int]
) -> None:
    division = _divide(prefs, total, current)
    changes = {name: replicas - current.get(name, 0) for name, replicas in division.plan.items()}
    assert not (any(change > 0 for change in changes.values()) and any(change < 0 for change in changes.values()))


@settings(max_examples=150, deadline=None)
@given(members, st.integers(1, 200))
def test_first_division_keeps_every_bound(prefs: dict[str, Preference], total: int) -> None:
    division = _divide(prefs, total, {})
    assert division.plan == division.goal
    assert all(
        prefs[name].max is None or replicas <= (prefs[name].max or 0) for name, replicas in division.plan.items()
    )
