"""Binpack: worked examples. ``tests.vectors`` has KubeAdmiral's own, and what holds for every input is beside."""

from __future__ import annotations

import pytest

from kadm.schedule.binpack import Running, pack
from kadm.schedule.planner import Bounds, Preference
from tests.schedule.test_planner import NAMES, by_name


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
