"""Sets of fields as managedFields write them."""

from __future__ import annotations

from typing import Any

import pytest

from kadm.compare.field_set import holds, locate, members, only, shown, touches, union

NAMED = 'k:{"name":"a"}'
SET: dict[str, Any] = {"f:spec": {"f:x": {}, "f:list": {NAMED: {".": {}, "f:v": {}}}, "f:set": {'v:"one"': {}}}}
OBJECT = {"spec": {"x": 1, "list": [{"name": "b"}, {"name": "a", "v": 2}], "set": ["zero", "one"]}}


@pytest.mark.parametrize(
    ("left", "right", "want"),
    [
        pytest.param({}, {"f:a": {}}, {"f:a": {}}, id="nothing and something"),
        pytest.param({"f:a": {}}, {"f:b": {}}, {"f:a": {}, "f:b": {}}, id="two fields"),
        pytest.param(
            {"f:a": {"f:x": {}}}, {"f:a": {"f:y": {}}}, {"f:a": {"f:x": {}, "f:y": {}}}, id="fields of one map"
        ),
        pytest.param({"f:a": {}}, {"f:a": {"f:y": {}}}, {"f:a": {".": {}, "f:y": {}}}, id="a map itself and its field"),
        pytest.param({"f:a": {}}, {"f:a": {}}, {"f:a": {}}, id="the same"),
    ],
)
def test_union(left: dict[str, Any], right: dict[str, Any], want: dict[str, Any]) -> None:
    assert [union(left, right), union(right, left)] == [want, want]


def test_members_parents_first() -> None:
    assert list(members(SET)) == [
        ("f:spec", "f:list", NAMED),
        ("f:spec", "f:list", NAMED, "f:v"),
        ("f:spec", "f:set", 'v:"one"'),
        ("f:spec", "f:x"),
    ]


@pytest.mark.parametrize(
    ("path", "held", "touched"),
    [
        pytest.param(("f:spec", "f:x"), True, True, id="a leaf"),
        pytest.param(("f:spec",), False, True, id="only what is below"),
        pytest.param(("f:spec", "f:list", NAMED), True, True, id="an item, and what is below"),
        pytest.param(("f:spec", "f:x", "f:deeper"), False, True, id="a leaf above stands for the whole"),
        pytest.param(("f:spec", "f:y"), False, False, id="another field"),
    ],
)
def test_what_is_in_a_set(path: tuple[str, ...], held: bool, touched: bool) -> None:
    assert (holds(SET, path), touches(SET, path)) == (held, touched)


@pytest.mark.parametrize(
    ("path", "want"),
    [
        pytest.param(("f:spec", "f:x"), ("spec", "x"), id="a key"),
        pytest.param(("f:spec", "f:list", NAMED, "f:v"), ("spec", "list", 1, "v"), id="an item by its key"),
        pytest.param(("f:spec", "f:set", 'v:"one"'), ("spec", "set", 1), id="an item of a set"),
        pytest.param(("f:spec", "f:list", "i:0"), ("spec", "list", 0), id="an index"),
        pytest.param(("f:spec", "f:y"), None, id="absent"),
        pytest.param(("f:spec", "f:list", 'k:{"name":"c"}'), None, id="no such item"),
    ],
)
def test_where_a_field_stands(path: tuple[str, ...], want: object) -> None:
    assert locate(OBJECT, path) == want


def test_paths_for_people() -> None:
    port = 'k:{"containerPort":80,"protocol":"TCP"}'
    assert shown(("f:spec", "f:ports", port, "f:name")) == ("spec", "ports", "[containerPort=80]", "name")


def test_only_some_fields() -> None:
    assert only(SET, lambda path: path[-1] != NAMED and "f:set" not in path) == {
        "f:spec": {"f:x": {}, "f:list": {NAMED: {"f:v": {}}}}
    }
