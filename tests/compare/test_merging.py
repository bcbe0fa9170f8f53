"""What an apply would leave, without the member; and patches."""

from __future__ import annotations

from typing import Any

import jsonpatch
import pytest

from kadm.compare.merging import guarded, merged, patch_between, taken_out

ITEM: dict[str, Any] = {'k:{"name":"a"}': {".": {}, "f:v": {}}, 'k:{"name":"b"}': {".": {}}}


@pytest.mark.parametrize(
    ("live", "desired", "shape", "want"),
    [
        pytest.param({"a": 1, "b": 2}, {"a": 3}, {}, {"a": 3, "b": 2}, id="a map"),
        pytest.param({"l": [1, 2]}, {"l": [3]}, {"f:l": {}}, {"l": [3]}, id="an atomic list"),
        pytest.param(
            {"l": [{"name": "b"}, {"name": "a", "v": 1, "w": 2}]},
            {"l": [{"name": "a", "v": 3}, {"name": "new"}]},
            {"f:l": ITEM},
            {"l": [{"name": "b"}, {"name": "a", "v": 3, "w": 2}, {"name": "new"}]},
            id="a keyed list keeps others' items and its order",
        ),
        pytest.param({"l": ["a"]}, {"l": ["b", "a"]}, {"f:l": {'v:"a"': {}}}, {"l": ["a", "b"]}, id="a set"),
        pytest.param({}, {"m": {"x": 1}}, {}, {"m": {"x": 1}}, id="what is new"),
    ],
)
def test_merging(live: Any, desired: Any, shape: Any, want: Any) -> None:
    assert merged(live, desired, shape) == want


def test_taking_out_from_the_end() -> None:
    obj = {"l": [{"n": 0}, {"n": 1}, {"n": 2}], "m": {"a": 1, "b": 2}}
    assert taken_out(obj, [("l", 0), ("l", 2), ("m", "a"), ("none", "here"), ("l", 9)]) == {
        "l": [{"n": 1}],
        "m": {"b": 2},
    }


def test_a_patch_makes_one_of_the_other() -> None:
    before: Any = {"a/b": 1, "c~d": {"x": 1, "y": [1]}, "gone": 0, "same": {"t": True}}
    after = {"a/b": 2, "c~d": {"y": [2], "z": None}, "new": {}, "same": {"t": 1}}
    operations: Any = list(patch_between(before, after))
    assert jsonpatch.apply_patch(before, operations) == after
    assert {one["path"]: one["op"] for one in operations} == {
        "/a~1b": "replace",
        "/c~0d/x": "remove",
        "/c~0d/y": "replace",
        "/c~0d/z": "add",
        "/gone": "remove",
        "/new": "add",
        "/same/t": "replace",
    }


def test_every_patch_holds_the_version_it_was_made_for() -> None:
    live = {"metadata": {"resourceVersion": "7"}}
    fence = {"op": "replace", "path": "/metadata/resourceVersion", "value": "7"}
    operation = {"op": "remove", "path": "/x"}
    assert [guarded([], live), guarded([operation], live)] == [[], [operation, fence]]
