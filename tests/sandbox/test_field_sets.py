"""The algebra of field sets, and how paths are written."""

from __future__ import annotations

from typing import Any

import pytest

from kadm.sandbox import field_sets

FieldSet = dict[str, Any]
LEAF: FieldSet = {}

UNIONS = [
    pytest.param({"f:a": {}}, {"f:b": {}}, {"f:a": {}, "f:b": {}}, id="siblings"),
    pytest.param({"f:a": {}}, {"f:a": {"f:b": {}}}, {"f:a": {".": {}, "f:b": {}}}, id="parent and child"),
    pytest.param({}, {"f:a": {}}, {"f:a": {}}, id="nothing"),
]


@pytest.mark.parametrize(("left", "right", "want"), UNIONS)
def test_union(left: FieldSet, right: FieldSet, want: FieldSet) -> None:
    assert (field_sets.union(left, right), field_sets.union(right, left)) == (want, want)


DIFFERENCES = [
    pytest.param({"f:a": {".": {}, "f:b": {}}}, {"f:a": {}}, {"f:a": {"f:b": {}}}, {}, id="the parent"),
    pytest.param({"f:a": {".": {}, "f:b": {}}}, {"f:a": {"f:b": {}}}, {"f:a": {}}, {"f:a": {}}, id="the child"),
    pytest.param({"f:a": {"f:b": {}}}, {"f:a": {"f:b": {}}}, {}, {}, id="all"),
    pytest.param({"f:a": {}}, {"f:b": {}}, {"f:a": {}}, {"f:a": {}}, id="something else"),
]


@pytest.mark.parametrize(("left", "right", "plain", "recursive"), DIFFERENCES)
def test_difference(left: FieldSet, right: FieldSet, plain: FieldSet, recursive: FieldSet) -> None:
    assert (field_sets.difference(left, right), field_sets.without(left, right)) == (plain, recursive)


def test_intersection() -> None:
    left: FieldSet = {"f:a": {".": {}, "f:b": {}, "f:c": {}}, "f:d": {}}
    assert field_sets.intersection(left, {"f:a": {"f:b": {}}, "f:e": {}}) == {"f:a": {"f:b": {}}}


def test_contains() -> None:
    whole: FieldSet = {"f:a": {".": {}, "f:b": {}}}
    parts: list[FieldSet] = [{"f:a": {}}, {"f:a": {"f:b": {}}}, {}, {"f:a": {"f:c": {}}}, {"f:b": {}}]
    assert [field_sets.contains(whole, part) for part in parts] == [True, True, True, False, False]


def test_paths() -> None:
    fields = {
        "f:spec": {
            "f:ports": {'k:{"port":80,"protocol":"TCP"}': {".": {}, "f:name": {}}},
            "f:tags": {'v:"x"': {}},
            "f:args": {"i:0": {}},
        },
        "f:data": {},
    }
    assert list(field_sets.paths(fields)) == [
        ".data",
        ".spec.args[0]",
        '.spec.ports[port=80,protocol="TCP"]',
        '.spec.ports[port=80,protocol="TCP"].name',
        '.spec.tags[="x"]',
    ]
