"""Which fields differ, and how they are named."""

from __future__ import annotations

from typing import Any

import pytest

from kadm.compare.difference import differences, field_changes, leaves, same
from kadm.model.objects import JsonObject, ObjectKey
from kadm.model.plan import FieldChange
from tests.compare.builders import MANAGER, entry, live

DNS = [{"port": 53, "protocol": "TCP"}, {"port": 53, "protocol": "UDP"}]


def an_object(spec: JsonObject) -> JsonObject:
    return {"apiVersion": "v1", "kind": "Thing", "metadata": {"name": "a", "namespace": "n"}, "spec": spec}


def changes(before: JsonObject, after: JsonObject) -> list[tuple[str, Any, Any]]:
    found = differences(an_object(before), an_object(after))
    return [
        (change.path, change.before, change.after) for change in field_changes(ObjectKey("", "Thing", "n", "a"), found)
    ]


@pytest.mark.parametrize(
    ("before", "after", "want"),
    [
        pytest.param({"a": 1}, {"a": 1}, [], id="nothing differs"),
        pytest.param({"a": 1}, {"a": 2}, [("spec.a", 1, 2)], id="a value"),
        pytest.param({"a": 1}, {"a": "1"}, [("spec.a", 1, "1")], id="a type is a difference"),
        pytest.param({"a": True}, {"a": 1}, [("spec.a", True, 1)], id="true is not 1"),
        pytest.param({}, {"a": 1}, [("spec.a", None, 1)], id="added"),
        pytest.param({"a": {"b": 1}}, {}, [("spec.a", {"b": 1}, None)], id="removed whole"),
        pytest.param({"a": [1, 2]}, {"a": [1, 3]}, [("spec.a", [1, 2], [1, 3])], id="a plain list is one field"),
        pytest.param(
            {"c": [{"name": "x", "v": 1}, {"name": "y"}]},
            {"c": [{"name": "new"}, {"name": "x", "v": 2}, {"name": "y"}]},
            [("spec.c[name=new]", None, {"name": "new"}), ("spec.c[name=x].v", 1, 2)],
            id="an item put in front shifts nothing",
        ),
        pytest.param(
            {"c": [{"name": "x"}, {"name": "y"}]},
            {"c": [{"name": "y"}, {"name": "x"}]},
            [("spec.c[order]", ["x", "y"], ["y", "x"])],
            id="order of a keyed list",
        ),
        pytest.param(
            {"p": [{"port": 80, "protocol": "TCP"}, *DNS]},
            {"p": DNS},
            [("spec.p[port=80,protocol=TCP]", {"port": 80, "protocol": "TCP"}, None)],
            id="an item that it takes two keys to tell from others",
        ),
        pytest.param(
            {"p": DNS},
            {"p": DNS[::-1]},
            [("spec.p[order]", ["53/TCP", "53/UDP"], ["53/UDP", "53/TCP"])],
            id="order where it takes two keys",
        ),
        pytest.param({"a.b/c": 1}, {"a.b/c": 2}, [('spec["a.b/c"]', 1, 2)], id="a key with dots is quoted"),
    ],
)
def test_differences(before: JsonObject, after: JsonObject, want: list[tuple[str, Any, Any]]) -> None:
    assert changes(before, after) == want


def test_noise_is_no_difference() -> None:
    obj = an_object({"a": 1})
    assert differences(live(obj), live({**obj, "status": {"x": 1}}, uid="u2", resourceVersion="9", generation=4)) == ()


def test_same_tells_numbers_apart() -> None:
    assert [same(1, 1), same(1, 1.0), same(True, 1), same({"a": 1, "b": 2}, {"b": 2, "a": 1})] == [
        True,
        False,
        False,
        True,
    ]


def test_secret_values_are_masked() -> None:
    key = ObjectKey("", "Secret", "n", "s")
    before = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "data": {"p": "b2xk"}}
    after = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "data": {"p": "bmV3"}}
    assert field_changes(key, differences(before, after)) == (
        FieldChange(path="data.p", before="(secret)", after="(secret)"),
    )


@pytest.mark.parametrize(
    "obj",
    [
        pytest.param({"data": {"p": "Y2FuYXJ5"}}, id="data"),
        pytest.param({"stringData": {"p": "Y2FuYXJ5"}}, id="stringData"),
        pytest.param(
            {"metadata": {"annotations": {"kubectl.kubernetes.io/last-applied-configuration": "Y2FuYXJ5"}}},
            id="the copy that kubectl keeps",
        ),
    ],
)
def test_no_value_of_a_new_secret_is_shown(obj: JsonObject) -> None:
    key = ObjectKey("", "Secret", "n", "s")
    whole = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, **obj}
    assert "Y2FuYXJ5" not in str(field_changes(key, leaves(whole)))
    assert "Y2FuYXJ5" not in str(field_changes(key, differences({**whole, **{field: {} for field in obj}}, whole)))


def test_the_manager_of_an_overwritten_value_is_named() -> None:
    before = live(
        an_object({"replicas": 5}),
        managers=(
            entry(MANAGER, {"f:spec": {"f:other": {}}}),
            entry("kubectl", {"f:spec": {"f:replicas": {}}}, operation="Update"),
        ),
    )
    found = differences(before, an_object({"replicas": 3}))
    assert field_changes(ObjectKey("", "Thing", "n", "a"), found, live=before, manager=MANAGER) == (
        FieldChange(path="spec.replicas", before=5, after=3, manager="kubectl"),
    )


def test_the_manager_of_an_item_with_two_keys_is_named() -> None:
    items: JsonObject = {'k:{"port":53,"protocol":"UDP"}': {".": {}, "f:port": {}, "f:name": {}}}
    others: JsonObject = {'k:{"port":53,"protocol":"TCP"}': {".": {}, "f:port": {}, "f:name": {}}}
    before = live(
        an_object({"p": [DNS[0], {**DNS[1], "name": "dns"}]}),
        managers=(entry("kubectl", {"f:spec": {"f:p": items}}), entry("helm", {"f:spec": {"f:p": others}})),
    )
    found = differences(before, an_object({"p": DNS}))
    assert field_changes(ObjectKey("", "Thing", "n", "a"), found, live=before, manager=MANAGER) == (
        FieldChange(path="spec.p[port=53,protocol=UDP].name", before="dns", after=None, manager="kubectl"),
    )
