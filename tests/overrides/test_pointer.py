"""Patch operations: KubeAdmiral's lenient behaviour (propagation spec 1.8), and an input that never changes."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kadm.overrides.error import OverrideError
from kadm.overrides.pointer import Patch, PatchOperator, patched, pointer, split_pointer

DOCUMENT: dict[str, Any] = {"m": {"a/b": 1, "~": None}, "l": [1, 2, 3], "t": "x"}


@pytest.mark.parametrize(
    ("op", "path", "value", "want"),
    [
        ("add", "/l/-", 4, {"l": [1, 2, 3, 4]}),
        ("add", "/l/1", 4, {"l": [1, 4, 2, 3]}),
        ("add", "/l/-1", 4, {"l": [1, 2, 3, 4]}),
        ("add", "/l/-4", 4, {"l": [4, 1, 2, 3]}),
        ("replace", "/l/-1", 4, {"l": [1, 2, 4]}),
        ("remove", "/l/-3", None, {"l": [2, 3]}),
        ("replace", "/new", 4, {"new": 4}),
        ("replace", "/m/a~1b", 4, {"m": {"a/b": 4, "~": None}}),
        ("remove", "/m/~0", None, {"m": {"a/b": 1}}),
        ("test", "/m/absent", None, {}),
        ("test", "/l", [1, 2, 3], {}),
        ("replace", "", {"k": 1}, {"m": None, "l": None, "t": None, "k": 1}),
    ],
)
def test_applies(op: PatchOperator, path: str, value: Any, want: dict[str, Any]) -> None:
    before = deepcopy(DOCUMENT)
    result, _ = patched(DOCUMENT, Patch(op, path, value))
    expected = {key: item for key, item in {**DOCUMENT, **want}.items() if item is not None}
    assert result == expected
    assert before == DOCUMENT


@pytest.mark.parametrize(
    ("op", "path", "value"),
    [
        ("add", "/l/4", 1),
        ("add", "/l/-5", 1),
        ("add", "/l/x", 1),
        ("replace", "/l/3", 1),
        ("replace", "/l/-", 1),
        ("remove", "/l/-", None),
        ("remove", "/m/absent", None),
        ("add", "/absent/x", 1),
        ("add", "/t/x", 1),
        ("add", "/l/0/x", 1),
        ("add", "nopath", 1),
        ("add", "", 1),
        ("replace", "", 1),
        ("test", "/l/0", True),
        ("test", "/m/a~1b", None),
        ("test", "", {}),
    ],
)
def test_refused(op: PatchOperator, path: str, value: Any) -> None:
    before = deepcopy(DOCUMENT)
    with pytest.raises(OverrideError):
        patched(DOCUMENT, Patch(op, path, value))
    assert before == DOCUMENT


@given(st.lists(st.text(), min_size=1))
def test_pointers_round_trip(steps: list[str]) -> None:
    assert split_pointer(pointer(tuple(steps))) == tuple(steps)
