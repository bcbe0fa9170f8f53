"""Types made from the schemas of CustomResourceDefinitions, and the built-in ones."""

from __future__ import annotations

from typing import Any

import pytest

from kadm.sandbox.crd_schema import from_crd
from kadm.sandbox.schema import builtin, builtin_kinds
from kadm.sandbox.typed import faults, field_set

Object = dict[str, Any]
SCHEMA = {
    "type": "object",
    "properties": {
        "spec": {
            "type": "object",
            "properties": {
                "ports": {
                    "type": "array",
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["port", "proto"],
                    "items": {
                        "type": "object",
                        "properties": {"port": {"type": "integer"}, "proto": {"type": "string", "default": "TCP"}},
                    },
                },
                "tags": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
                "plain": {"type": "array", "items": {"type": "string"}},
                "atom": {"type": "object", "x-kubernetes-map-type": "atomic", "properties": {"a": {"type": "string"}}},
                "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
                "text": {"type": "object", "additionalProperties": {"type": "string"}},
                "either": {"x-kubernetes-int-or-string": True},
            },
        }
    },
}
WIDGET = from_crd("example.com", "v1", "Widget", SCHEMA)

SETS = [
    pytest.param(
        {"ports": [{"port": 1}]}, {"f:ports": {'k:{"port":1,"proto":"TCP"}': {".": {}, "f:port": {}}}}, id="keyed list"
    ),
    pytest.param({"tags": ["a"]}, {"f:tags": {'v:"a"': {}}}, id="set"),
    pytest.param({"plain": ["a"]}, {"f:plain": {}}, id="atomic list"),
    pytest.param({"atom": {"a": "b"}}, {"f:atom": {}}, id="atomic map"),
    pytest.param(
        {"free": {"q": {"r": 1}, "l": [1]}}, {"f:free": {"f:q": {".": {}, "f:r": {}}, "f:l": {}}}, id="unknown fields"
    ),
    pytest.param({"text": {"k": "v"}}, {"f:text": {"f:k": {}}}, id="map of strings"),
]


@pytest.mark.parametrize(("spec", "want"), SETS)
def test_field_sets(spec: Object, want: Object) -> None:
    assert field_set({"spec": spec}, WIDGET.root) == {"f:spec": want}


FAULTS = [
    pytest.param({"plain": "x"}, [".spec.plain: expected list, got &{x}"], id="no list"),
    pytest.param(
        {"ports": [{"port": "1"}]},
        ['.spec.ports[port="1",proto="TCP"].port: expected numeric (int or float), got string'],
        id="no number",
    ),
    pytest.param({"nope": 1}, [".spec.nope: field not declared in schema"], id="undeclared"),
    pytest.param({"tags": ["a", "a"]}, ['.spec.tags: duplicate entries for key [="a"]'], id="twice in a set"),
    pytest.param({"either": 1}, [], id="integer or string"),
    pytest.param({"free": {"x": [1]}}, [], id="anything"),
]


@pytest.mark.parametrize(("spec", "want"), FAULTS)
def test_faults(spec: Object, want: list[str]) -> None:
    assert faults({"spec": spec}, WIDGET.root) == want


def test_every_built_in_type_resolves() -> None:
    """Walk all types: a reference to a type that the data lacks would raise."""
    seen: set[int] = set()
    todo = []
    for key in builtin_kinds():
        api_version, _, name = key.rpartition("/")
        group, _, version = api_version.rpartition("/")
        schema = builtin(group, version, name)
        assert schema is not None
        todo.append(schema.root)
    while todo:
        atom = todo.pop()
        if id(atom) in seen:
            continue
        seen.add(id(atom))
        todo += [*atom.fields.values(), *(below for below in (atom.items, atom.values) if below is not None)]
    assert len(seen) > 500
