"""Paths as people write them, and what they name."""

from __future__ import annotations

import pytest

from kadm.compare.field_path import elements_in, found_in
from kadm.model.field_path import parse_path, parse_paths
from kadm.model.objects import Path, path_text

OBJECT = {
    "a": {"b": 1, "c.d": 2},
    "list": [{"name": "x", "v": 1}, {"name": "y"}],
    "plain": ["p", "q"],
    "ports": [{"port": 53, "protocol": "TCP"}, {"port": 53, "protocol": "UDP"}],
    "mounts": [{"mountPath": "/a,b=c"}],
}


@pytest.mark.parametrize(
    ("text", "want"),
    [
        pytest.param("spec.replicas", ("spec", "replicas"), id="dots"),
        pytest.param("/spec/replicas", ("spec", "replicas"), id="a JSON pointer"),
        pytest.param("/metadata/annotations/a.b~1c", ("metadata", "annotations", "a.b/c"), id="an escaped pointer"),
        pytest.param('metadata.annotations["a.b/c"]', ("metadata", "annotations", "a.b/c"), id="quoted"),
        pytest.param("c[name=app].image", ("c", "[name=app]", "image"), id="an item by its key"),
        pytest.param("c[*].image", ("c", "*", "image"), id="every item"),
        pytest.param("c[0]", ("c", 0), id="an index"),
        pytest.param(".spec.replicas", ("spec", "replicas"), id="a dot in front, as kubectl has it"),
        pytest.param("data.*", ("data", "*"), id="every key"),
    ],
)
def test_parsing(text: str, want: Path) -> None:
    assert parse_path(text) == want


@pytest.mark.parametrize("text", ["", "a..b", "a[", "a]"])
def test_no_path(text: str) -> None:
    with pytest.raises(ValueError, match="path"):
        parse_path(text)


def test_what_a_plan_shows_can_be_read_back() -> None:
    path: Path = ("spec", "containers", "[name=app]", "env", 0, "a.b")
    assert parse_path(path_text(path)) == path


def test_several() -> None:
    assert parse_paths("a.b, c[name=x,y=z].d\n/e") == (("a", "b"), ("c", "[name=x,y=z]", "d"), ("e",))


@pytest.mark.parametrize(
    ("pattern", "want"),
    [
        pytest.param("a.b", [("a", "b")], id="a key"),
        pytest.param("a.*", [("a", "b"), ("a", "c.d")], id="every key"),
        pytest.param("list[name=y]", [("list", 1)], id="an item"),
        pytest.param("list[*].v", [("list", 0, "v")], id="of every item that has it"),
        pytest.param("plain[=q]", [("plain", 1)], id="a plain item"),
        pytest.param("ports[port=53,protocol=UDP]", [("ports", 1)], id="an item by two keys"),
        pytest.param("ports[port=53,protocol=SCTP]", [], id="both keys count"),
        pytest.param("mounts[mountPath=/a,b=c]", [("mounts", 0)], id="a value with a comma"),
        pytest.param("none.here", [], id="nothing"),
    ],
)
def test_in_an_object(pattern: str, want: list[Path]) -> None:
    assert list(found_in(OBJECT, parse_path(pattern))) == want


def test_in_a_set_of_fields() -> None:
    item = 'k:{"name":"x"}'
    fields = {"f:list": {item: {".": {}, "f:v": {}}}, "f:a": {"f:b": {}}}
    found = [
        list(elements_in(fields, parse_path(text), OBJECT)) for text in ("list[name=x]", "list[*].v", "a", "plain")
    ]
    assert found == [[("f:list", item)], [("f:list", item, "f:v")], [("f:a",)], []]
