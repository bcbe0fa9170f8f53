"""Desired fields that a member would not keep."""

from __future__ import annotations

from typing import Any

import pytest

from kadm.compare.kept import not_kept
from kadm.model.desired import DesiredObject
from kadm.model.objects import JsonObject, key_of
from tests.compare.builders import MANAGER, entry, live


def an_object(spec: JsonObject) -> JsonObject:
    return {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "a", "namespace": "n"}, "spec": spec}


def lacking(wanted: JsonObject, answer: JsonObject, fields: JsonObject) -> list[tuple[str, str]]:
    obj = an_object(wanted)
    found = not_kept(
        DesiredObject(key=key_of(obj), version="v1", object=obj, digest=""),
        live(an_object(answer), managers=(entry(MANAGER, {"f:spec": fields}),)),
        member="eu",
        manager=MANAGER,
    )
    return [(problem.severity, problem.what.partition(" ")[0]) for problem in found]


NAMED = 'k:{"name":"app"}'


@pytest.mark.parametrize(
    ("wanted", "answer", "fields", "want"),
    [
        pytest.param({"a": 1}, {"a": 1}, {"f:a": {}}, [], id="kept"),
        pytest.param({"a": 1}, {"a": 2}, {"f:a": {}}, [], id="another value is a difference of its own"),
        pytest.param({"a": 1}, {}, {"f:a": {}}, [("warning", "spec.a")], id="dropped"),
        pytest.param({"a": {"b": 1}}, {"a": {}}, {}, [("warning", "spec.a.b")], id="dropped below"),
        pytest.param(
            {"a": 0, "b": "", "c": False, "d": [], "e": {}, "f": None}, {}, {}, [], id="zero values are no loss"
        ),
        pytest.param({"ordinals": {"start": 3}}, {}, {}, [("error", "spec.ordinals")], id="ordinals"),
        pytest.param({"replicas": 3}, {}, {}, [("error", "spec.replicas")], id="replicas"),
        pytest.param(
            {"c": [{"name": "app", "x": 1}]},
            {"c": [{"name": "sidecar"}, {"name": "app"}]},
            {"f:c": {NAMED: {".": {}, "f:x": {}}}},
            [("warning", "spec.c[0].x")],
            id="in an item of a keyed list, wherever that stands",
        ),
        pytest.param({"c": [{"x": 1}]}, {"c": []}, {}, [("warning", "spec.c[0]")], id="an item"),
    ],
)
def test_not_kept(wanted: Any, answer: Any, fields: Any, want: list[tuple[str, str]]) -> None:
    assert lacking(wanted, answer, fields) == want
