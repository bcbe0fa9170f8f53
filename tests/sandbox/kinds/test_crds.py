"""CustomResourceDefinitions, and the objects of the kinds that they define."""

from __future__ import annotations

from typing import Any

import pytest

from kadm.model.objects import JsonObject
from kadm.sandbox.kinds import crds, custom_objects, strategy
from kadm.sandbox.kinds.registry import ResourceKind
from tests.sandbox.kinds.objects import NOW, a_context, an_object, changed, created, decoded, kind_of


def a_version(name: str = "v1", *, storage: bool = True, **fields: Any) -> JsonObject:
    schema = {"type": "object", "properties": {"spec": {"type": "object", "properties": {"n": {"type": "integer"}}}}}
    return {"name": name, "served": True, "storage": storage, "schema": {"openAPIV3Schema": schema}, **fields}


def a_crd(*versions: JsonObject, plural: str = "widgets", kind: str = "Widget", **names: Any) -> JsonObject:
    return an_object(
        "apiextensions.k8s.io/v1",
        "CustomResourceDefinition",
        f"{plural}.x.io",
        spec={
            "group": "x.io",
            "scope": "Namespaced",
            "names": {"plural": plural, "kind": kind, **names},
            "versions": list(versions) or [a_version()],
        },
    )


def established(crd: JsonObject, *others: JsonObject) -> JsonObject:
    return crds.accepted(created(crd), others, NOW)


def conditions(crd: JsonObject) -> list[str]:
    return [f"{each['type']}={each['status']}: {each['message']}" for each in crd["status"]["conditions"]]


def widget_kind(schema: JsonObject, *, status: bool = True) -> ResourceKind:
    """A kind whose spec has this schema."""
    whole = {"type": "object", "properties": {"spec": schema, "status": {"type": "object"}}}
    subresources: JsonObject = {"status": {}} if status else {}
    crd = established(a_crd(a_version(schema={"openAPIV3Schema": whole}, subresources=subresources)))
    return crds.kinds_of(crd)[0]


def a_widget(spec: Any, **fields: Any) -> JsonObject:
    metadata = {"name": "w", "namespace": "shop"}
    return {"apiVersion": "x.io/v1", "kind": "Widget", "metadata": metadata, "spec": spec, **fields}


def test_a_new_crd_is_not_served_yet() -> None:
    crd = created(a_crd())
    assert (crds.kinds_of(crd), crd["status"]) == (
        (),
        {"conditions": None, "acceptedNames": {"plural": "", "kind": ""}, "storedVersions": ["v1"]},
    )


def test_names_are_accepted() -> None:
    crd = established(a_crd(shortNames=["wd"]))
    assert (conditions(crd), crd["status"]["acceptedNames"]) == (
        ["NamesAccepted=True: no conflicts found", "Established=True: the initial names have been accepted"],
        {"plural": "widgets", "singular": "widget", "shortNames": ["wd"], "kind": "Widget", "listKind": "WidgetList"},
    )


def test_acceptance_settles() -> None:
    crd = established(a_crd())
    assert crds.accepted(crd, [crd], "2030-01-01T00:00:00Z") is crd


@pytest.mark.parametrize(
    ("second", "want"),
    [
        pytest.param({"shortNames": ["wd"]}, '"wd" is already in use', id="short name"),
        pytest.param({"kind": "Widget", "singular": "gadget"}, '"Widget" is already in use', id="kind"),
    ],
)
def test_a_name_that_another_holds_is_refused(second: JsonObject, want: str) -> None:
    first = established(a_crd(shortNames=["wd"]))
    crd = established(a_crd(plural="gadgets", **{"kind": "Gadget", **second}), first)
    assert (conditions(crd), crds.kinds_of(crd)) == (
        [f"NamesAccepted=False: {want}", "Established=False: not all names are accepted"],
        (),
    )


def test_kinds_of_versions() -> None:
    old = a_version("v1beta1", storage=False, deprecated=True)
    unserved = {**a_version("v1alpha1", storage=False), "served": False}
    scaled = a_version(
        subresources={"status": {}, "scale": {"specReplicasPath": ".spec.n", "statusReplicasPath": ".s"}}
    )
    kinds = crds.kinds_of(established(a_crd(scaled, old, unserved)))
    shown = [
        (kind.api_version, kind.storage_version, [sub.name for sub in kind.subresources], kind.deprecation_warning)
        for kind in kinds
    ]
    assert shown == [
        ("x.io/v1", "v1", ["scale", "status"], ""),
        ("x.io/v1beta1", "v1", [], "x.io/v1beta1 Widget is deprecated; use x.io/v1 Widget"),
    ]


def test_a_new_storage_version_is_remembered() -> None:
    crd = established(a_crd())
    versions = [a_version(storage=False), a_version("v2")]
    after = strategy.update(kind_of(crd), decoded(changed(crd, "spec", "versions", to=versions)), crd, a_context())
    assert after["status"]["storedVersions"] == ["v1", "v2"]


@pytest.mark.parametrize(
    ("crd", "want"),
    [
        pytest.param(a_crd(), [], id="none"),
        pytest.param(
            {**a_crd(), "metadata": {"name": "wrong"}},
            ['metadata.name: Invalid value: "wrong": must be spec.names.plural+"."+spec.group'],
            id="name",
        ),
        pytest.param(
            a_crd(a_version(schema={"openAPIV3Schema": {"type": "object", "properties": {"a": {"items": {}}}}})),
            [
                (
                    "spec.validation.openAPIV3Schema.properties[a].type: Required value: "
                    "must not be empty for specified object fields"
                ),
                (
                    "spec.validation.openAPIV3Schema.properties[a].items.type: Required value: "
                    "must not be empty for specified array items"
                ),
            ],
            id="a schema that is not structural",
        ),
        pytest.param(
            changed(a_crd(), "spec", "scope", to="Both"),
            ['spec.scope: Unsupported value: "Both": supported values: "Cluster", "Namespaced"'],
            id="scope",
        ),
    ],
)
def test_faults_of_crds(crd: JsonObject, want: list[str]) -> None:
    assert [str(error) for error in strategy.validate_create(kind_of(crd), decoded(crd))] == want


@pytest.mark.parametrize(
    ("schema", "spec", "want"),
    [
        pytest.param({"properties": {"a": {"type": "string"}}}, {"a": "1", "b": 2}, {"a": "1"}, id="unknown fields go"),
        pytest.param(
            {"x-kubernetes-preserve-unknown-fields": True},
            {"a": {"b": []}},
            {"a": {"b": []}},
            id="unless they may stay",
        ),
        pytest.param(
            {"additionalProperties": {"type": "object", "properties": {"k": {"type": "string"}}}},
            {"a": {"k": "1", "z": 1}},
            {"a": {"k": "1"}},
            id="values of a map",
        ),
        pytest.param(
            {"properties": {"l": {"type": "array", "items": {"type": "object", "properties": {"k": {}}}}}},
            {"l": [{"k": 1, "z": 1}]},
            {"l": [{"k": 1}]},
            id="elements of a list",
        ),
        pytest.param({"properties": {"a": {"default": "d"}}}, {}, {"a": "d"}, id="default"),
        pytest.param(
            {"properties": {"a": {"default": "d"}}}, {"a": None}, {"a": "d"}, id="null gives way to a default"
        ),
        pytest.param(
            {"properties": {"a": {"default": "d", "nullable": True}}}, {"a": None}, {"a": None}, id="null that may stay"
        ),
        pytest.param(
            {"properties": {"a": {"default": {}, "properties": {"b": {"default": 1}}}}},
            {},
            {"a": {"b": 1}},
            id="defaults in defaults",
        ),
        pytest.param(
            {"properties": {"p": {"x-kubernetes-embedded-resource": True, "properties": {"spec": {}}}}},
            {"p": {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "z": 1}, "spec": 1, "z": 1}},
            {"p": {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": 1}},
            id="a resource in a resource",
        ),
    ],
)
def test_decoding(schema: JsonObject, spec: JsonObject, want: JsonObject) -> None:
    assert custom_objects.decoded({"properties": {"spec": schema}}, a_widget(spec, extra=1)) == a_widget(want)


ONE_OF = 'spec.v: Invalid value: "": "spec.v" must validate one and only one schema (oneOf). Found 2 valid alternatives'


ONE_OF = 'spec.v: Invalid value: "": "spec.v" must validate one and only one schema (oneOf). Found 2 valid alternatives'


@pytest.mark.parametrize(
    ("schema", "value", "want"),
    [
        pytest.param({"type": "integer"}, 3.0, [], id="a whole number"),
        pytest.param(
            {"type": "integer"},
            "3",
            ['spec.v: Invalid value: "string": spec.v in body must be of type integer: "string"'],
            id="type",
        ),
        pytest.param(
            {"type": "integer", "minimum": 1},
            0,
            ["spec.v: Invalid value: 0: spec.v in body should be greater than or equal to 1"],
            id="minimum",
        ),
        pytest.param(
            {"type": "string", "enum": ["b", "a"]},
            "c",
            ['spec.v: Unsupported value: "c": supported values: "b", "a"'],
            id="enum, in the order of the schema",
        ),
        pytest.param(
            {"type": "string", "maxLength": 1}, "ab", ["spec.v: Too long: may not be more than 1 byte"], id="long"
        ),
        pytest.param(
            {"type": "string", "pattern": "^a"},
            "b",
            ["spec.v: Invalid value: \"b\": spec.v in body should match '^a'"],
            id="pattern",
        ),
        pytest.param(
            {"type": "string", "format": "date-time"},
            "noon",
            ['spec.v: Invalid value: "noon": spec.v in body must be of type date-time: "noon"'],
            id="format",
        ),
        pytest.param(
            {"type": "array", "items": {"type": "string"}, "maxItems": 1},
            ["a", "b"],
            ["spec.v: Too many: 2: must have at most 1 item"],
            id="many",
        ),
        pytest.param({"type": "object", "required": ["k"]}, {}, ["spec.v.k: Required value"], id="required"),
        pytest.param({"x-kubernetes-int-or-string": True}, "50%", [], id="integer or string"),
        pytest.param(
            {
                "oneOf": [{"required": ["a"]}, {"required": ["b"]}],
                "type": "object",
                "x-kubernetes-preserve-unknown-fields": True,
            },
            {"a": 1, "b": 2},
            [ONE_OF],
            id="oneOf",
        ),
        pytest.param(
            {
                "type": "array",
                "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["k"],
                "items": {"type": "object", "properties": {"k": {"type": "string"}}},
            },
            [{"k": "a"}, {"k": "a"}],
            ['spec.v[1]: Duplicate value: {"k":"a"}'],
            id="a key twice",
        ),
    ],
)
def test_faults_of_objects(schema: JsonObject, value: Any, want: list[str]) -> None:
    kind = widget_kind({"type": "object", "properties": {"v": schema}})
    decoded_widget = strategy.defaults(kind, a_widget({"v": value}))
    assert [str(error) for error in strategy.validate_create(kind, decoded_widget)] == want


@pytest.mark.parametrize(
    ("status", "want"),
    [
        pytest.param(True, ({}, 1), id="a subresource: dropped at birth, and no matter of generation"),
        pytest.param(False, ({"a": 2}, 2), id="an ordinary field"),
    ],
)
def test_status_of_objects(status: bool, want: tuple[JsonObject, int]) -> None:
    kind = widget_kind({"type": "object"}, status=status)
    free = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    assert kind.custom is not None
    kind.custom.schema["properties"]["status"] = free
    first = strategy.create(kind, strategy.defaults(kind, a_widget({}, status={"a": 1})), a_context())
    second = strategy.update(kind, {**first, "status": {"a": 2}}, first, a_context())
    assert (second.get("status", {}), second["metadata"]["generation"]) == want
