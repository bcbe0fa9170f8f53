"""The planner: worked examples. ``tests.vectors`` has KubeAdmiral's own, and what holds for every input is beside."""

from __future__ import annotations

import pytest

from kadm.schedule.planner import Bounds, Preference, divide, fnv1_32

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
        pytest.param(15, THREE, "15,15,0", "", "", True, False, "8,7,0", "", id="30 to 15 moves nothing to c3"),
        pytest.param(15, THREE, "15,15,0", "", "", False, False, "5,5,5", "", id="30 to 15 rebalanced"),
        pytest.param(36, THREE, "20,5,5", "", "", True, False, "20,8,8", "", id="30 to 36 takes nothing from c1"),
        pytest.param(30, THREE, "8,7,0", "", "", True, False, "10,10,10", "", id="15 to 30 fills up c3"),
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
