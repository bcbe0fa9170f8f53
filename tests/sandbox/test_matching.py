"""How recorded expectations match answers: tokens, subsets, unordered collections."""

from __future__ import annotations

from typing import Any

import pytest

from tests.sandbox.conversations import EXACT, Mode, differences, match_text, substituted

UID = "00000000-0000-0000-0000-000000000001"
SUBSET, CONTAINS, UNORDERED = Mode(subset=True), Mode(subset=True, contains=True), Mode(subset=True, unordered=True)


def matches(expected: Any, actual: Any, mode: Mode = EXACT, **bound: str) -> bool:
    bindings = {f"${name}": value for name, value in bound.items()}
    return not list(differences(expected, actual, bindings, mode))


@pytest.mark.parametrize(
    ("expected", "actual", "mode", "want"),
    [
        pytest.param({"a": 1}, {"a": 1}, EXACT, True, id="equal"),
        pytest.param({"a": 1}, {"a": 1, "b": 2}, EXACT, False, id="one key more"),
        pytest.param({"a": 1}, {"a": 1, "b": 2}, SUBSET, True, id="a subset"),
        pytest.param({"a": None}, {}, SUBSET, False, id="null is not absent"),
        pytest.param({"a": True}, {"a": 1}, EXACT, False, id="a bool is no number"),
        pytest.param([1], [1, 2], SUBSET, False, id="lists have their length"),
        pytest.param([{"a": 2}], [{"a": 1}, {"a": 2, "b": 3}], CONTAINS, True, id="contained"),
        pytest.param({"items": [1, 2]}, {"items": [2, 1]}, UNORDERED, True, id="items in any order"),
        pytest.param({"x": [1, 2]}, {"x": [2, 1]}, UNORDERED, False, id="other lists in order"),
        pytest.param({"n": "$nodePort1"}, {"n": 30001}, EXACT, True, id="a port is a number"),
        pytest.param({"u": "$uid1", "v": "$uid1"}, {"u": UID, "v": UID}, EXACT, True, id="one token, one value"),
        pytest.param({"u": "$rv1", "v": "$rv1"}, {"u": "1", "v": "2"}, EXACT, False, id="one token, two values"),
        pytest.param({"u": "$rv1", "v": "$rv2"}, {"u": "1", "v": "1"}, EXACT, False, id="two tokens, one version"),
        pytest.param({"k:$ns": 1}, {"k:$ns": 1}, EXACT, True, id="a dollar that is no token"),
        pytest.param(
            {"managedFields": [{"manager": "b"}, {"manager": "a"}]},
            {"managedFields": [{"manager": "a"}, {"manager": "b"}]},
            SUBSET,
            True,
            id="managedFields in any order",
        ),
        pytest.param(
            {"managedFields": [{"manager": "a"}]}, {"managedFields": [{"manager": "a", "time": "x"}]}, SUBSET, False,
            id="managedFields exactly",
        ),
        pytest.param(
            {"causes": [{"field": "b"}, {"field": "a"}]}, {"causes": [{"field": "a"}, {"field": "b"}]}, EXACT, True,
            id="causes in any order",
        ),
    ],
)  # fmt: skip
def test_values(expected: Any, actual: Any, mode: Mode, want: bool) -> None:
    assert matches(expected, actual, mode) is want


def test_keys_hold_tokens_too() -> None:
    assert matches({'k:{"uid":"$uid1"}': {}}, {f'k:{{"uid":"{UID}"}}': {}}, uid1=UID)


@pytest.mark.parametrize(
    ("expected", "actual", "want"),
    [
        pytest.param("$NS-b", "n-b", True, id="the namespace inside a name"),
        pytest.param("web-$rand1", "web-bcdfg", True, id="random characters"),
        pytest.param("web-$rand1", "web-aeiou", False, id="no vowels"),
        pytest.param("$time", "2026-01-01T00:00:00Z", True, id="a time"),
        pytest.param("$time", "2026-01-01T00:00:00.000000Z", False, id="no fractions"),
        pytest.param("because $any.", "because of\nthis.", True, id="any text"),
    ],
)
def test_texts(expected: str, actual: str, want: bool) -> None:
    assert match_text(expected, actual, {"$NS": "n"}) is want


def test_list_versions_are_bound_but_never_compared() -> None:
    bindings: dict[str, str] = {}
    assert match_text("$lrv1", "5", bindings)
    assert match_text("$lrv1", "6", bindings)
    assert bindings == {"$lrv1": "6"}


def test_requests_get_what_tokens_were_bound_to() -> None:
    request = {"path": "/x/$NS", "port": "$nodePort1", "keep": "$patch", "in": ["$uid1"]}
    bound = {"$NS": "n", "$nodePort1": "30001", "$uid1": UID}
    assert substituted(request, bound) == {"path": "/x/n", "port": 30001, "keep": "$patch", "in": [UID]}
