"""Binpack: worked examples and vectors of KubeAdmiral, but for its defects."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kadm.schedule.binpack import Running, pack
from kadm.schedule.planner import Bounds, Preference
from tests.schedule.test_planner import NAMES, by_name, members
from tests.schedule.vectors import Case, cases


def limits(text: str) -> dict[str, Preference]:
    """``0/- 5/8`` → c1, c2: min/max."""
    found = {}
    for name, entry in zip(NAMES, text.split(), strict=False):
        minimum, maximum = entry.split("/")
        found[name] = Preference(0, int(minimum), None if maximum == "-" else int(maximum))
    return found


@pytest.mark.parametrize(
    ("total", "prefs", "current", "estimated", "limited", "scheduled", "plan", "overflow"),
    [
        pytest.param(10, "0/- 0/- 0/-", "", "", "", "", "10,0,0", "", id="B1 the first takes all"),
        pytest.param(10, "0/4 0/- 0/-", "", "", "", "", "4,6,0", "", id="B2 then the next"),
        pytest.param(8, "0/- 0/- 0/-", "5,5,5", "", "", "5,5,5", "5,3,0", "", id="B3 the last shrinks first"),
        pytest.param(12, "0/- 0/-", "8", "", "", "6", "8", "", id="B4 growth waits for pods on their way"),
        pytest.param(10, "0/- 0/-", "10", "6", "", "6", "6,4", "4", id="B5 what finds no node has a double"),
        pytest.param(10, "0/- 0/-", "10,4", "6", "", "6,4", "6,4", "", id="B6 until the double runs"),
        pytest.param(10, "0/3", "5", "", "", "", "3", "", id="B7 never above max (defect 3)"),
        pytest.param(12, "5/- 5/-", "4,4", "", "", "", "7,5", "", id="min counts what runs (defect 4)"),
        pytest.param(10, "0/- 0/-", "2", "", "5", "", "5,5", "", id="never above a limit (defect 5)"),
        pytest.param(4, "0/- 0/-", "8", "", "", "6", "4,0", "", id="shrinking does not wait"),
        pytest.param(5, "0/3 0/-", "5", "", "", "", "3,2", "", id="never above max, whatever runs"),
        pytest.param(6, "0/- 2/- 2/-", "5,5,5", "", "", "", "2,2,2", "", id="shrinking stops at a min"),
        pytest.param(10, "0/- 2/-", "8", "", "", "6", "8,2", "", id="a min does not wait"),
        pytest.param(7, "0/- 0/-", "5,4", "", "3", "5,4", "3,4", "", id="what found a node counts within limits"),
    ],
)
def test_worked_examples(
    total: int, prefs: str, current: str, estimated: str, limited: str, scheduled: str, plan: str, overflow: str
) -> None:
    division = pack(
        limits(prefs),
        total=total,
        running=Running(current=by_name(current), scheduled=by_name(scheduled)),
        bounds=Bounds(estimated=by_name(estimated), limited=by_name(limited)),
    )
    assert (division.plan, division.overflow) == (by_name(plan), by_name(overflow))


def broken_bound(case: Case) -> str:
    """Which bound KubeAdmiral's own answer breaks, by its defects (spec section 10, rows 3 to 5); empty: none."""
    given_, plan = case["input"], case["expect"]["plan"]
    if sum(plan.values()) > given_.get("total", 0):
        return "total"
    for name in dict.fromkeys([*given_["available"], *plan]):
        entry, replicas = given_.get("clusters", {}).get(name, {}), plan.get(name, 0)
        if replicas > min(entry.get("max", replicas), given_.get("limitedCapacity", {}).get(name, replicas)):
            return f"most of {name}"
        if replicas < entry.get("min", 0):
            return f"least of {name}"
    return ""


@pytest.mark.parametrize("case", cases("binpack"))
def test_vectors(case: Case) -> None:
    given_ = case["input"]
    entries = given_.get("clusters", {})
    avoid = given_.get("avoidDisruption", False)
    division = pack(
        {
            name: Preference(0, entries.get(name, {}).get("min", 0), entries.get(name, {}).get("max"))
            for name in given_["available"]
        },
        total=given_.get("total", 0),
        running=Running(current=given_.get("current", {}), scheduled=given_.get("scheduledReplicas", {})),
        bounds=Bounds(estimated=given_.get("estimatedCapacity", {}), limited=given_.get("limitedCapacity", {})),
        avoid_disruption=avoid,
        keep_unschedulable=given_.get("keepUnschedulable", False) or not avoid,
    )
    found = {"plan": division.plan, "overflow": division.overflow}
    if found != case["expect"]:
        assert broken_bound(case)
        limited = given_.get("limitedCapacity", {})
        assert all(replicas <= limited.get(name, replicas) for name, replicas in division.plan.items())
        assert sum(division.plan.values()) <= given_.get("total", 0)


@settings(max_examples=150, deadline=None)
@given(members, st.integers(1, 200), st.dictionaries(st.sampled_from(NAMES), st.integers(0, 40)))
def test_a_plan_fed_back_in_settles(prefs: dict[str, Preference], total: int, current: dict[str, int]) -> None:
    first = pack(prefs, total=total, running=Running(current=current)).plan
    assert pack(prefs, total=total, running=Running(current=first)).plan == first


@settings(max_examples=150, deadline=None)
@given(
    members,
    st.integers(1, 200),
    st.dictionaries(st.sampled_from(NAMES), st.integers(0, 40)),
    st.dictionaries(st.sampled_from(NAMES), st.integers(0, 40)),
)
def test_no_bound_is_broken(
    prefs: dict[str, Preference], total: int, current: dict[str, int], limited: dict[str, int]
) -> None:
    plan = pack(prefs, total=total, running=Running(current=current), bounds=Bounds(limited=limited)).plan
    assert sum(plan.values()) <= total
    for name, replicas in plan.items():
        assert replicas <= limited.get(name, replicas)
        assert replicas <= max(prefs[name].max or replicas, current.get(name, 0))
