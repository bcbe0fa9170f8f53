"""Server-side apply: what is merged, who owns it, which conflicts arise, and what does not fit."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kadm.sandbox.crd_schema import from_crd
from kadm.sandbox.decoding import decode
from kadm.sandbox.managed_fields import settle_times, track_update
from kadm.sandbox.schema import Schema, builtin
from kadm.sandbox.server_side_apply import ApplyConflict, TypedError, apply

NOW = "2026-03-01T10:00:00Z"
LATER = "2026-03-01T10:00:07Z"
Object = dict[str, Any]


def kind(group: str, version: str, name: str) -> Schema:
    found = builtin(group, version, name)
    assert found is not None
    return found


CONFIG_MAP = kind("", "v1", "ConfigMap")
DEPLOYMENT = kind("apps", "v1", "Deployment")
SERVICE = kind("", "v1", "Service")


def config_map(**fields: Any) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "web", **fields.pop("metadata", {})},
        **fields,
    }


def service(*ports: Object, **spec: Any) -> Object:
    body = {"ports": list(ports), **spec}
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web"}, "spec": body}


def deployment(*containers: Object, **spec: Any) -> Object:
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": list(containers)}}
    body = {"selector": {"matchLabels": {"app": "web"}}, "template": template, **spec}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": body}


def applied(live: Object | None, wanted: Object, schema: Schema, manager: str, *, force: bool = False) -> Object:
    """The stored object after an apply, as the server keeps it."""
    merged = decode(apply(live, wanted, schema=schema, manager=manager, force=force, now=NOW), schema).object
    return merged if live is None else settle_times(live, merged)


def updated(live: Object | None, new: Object, schema: Schema, manager: str) -> Object:
    decoded = decode(new, schema).object
    return track_update(live, decoded, schema=schema, manager=manager, now=NOW)


def owners(obj: Object) -> dict[str, Object]:
    return {entry["manager"]: entry["fieldsV1"] for entry in obj["metadata"].get("managedFields", [])}


def container(name: str, **fields: Any) -> Object:
    return {"name": name, "image": f"{name}:1", **fields}


MERGES = [
    pytest.param(
        CONFIG_MAP,
        config_map(data={"a": "1", "b": "1"}),
        config_map(data={"a": "1"}),
        {"data": {"a": "1"}},
        id="what is left out is removed",
    ),
    pytest.param(
        CONFIG_MAP,
        config_map(data={"a": "1"}),
        config_map(metadata={"labels": {"x": "y"}}),
        {"metadata": {"name": "web", "labels": {"x": "y"}}},
        id="the last key takes the map along",
    ),
    pytest.param(
        CONFIG_MAP,
        config_map(data={"a": "1"}),
        config_map(data={"a": None}),
        {"data": {"a": ""}},
        id="a null is a zero value",
    ),
    pytest.param(
        SERVICE,
        service({"port": 80, "protocol": "TCP"}),
        service({"port": 80, "name": "http"}, {"port": 80, "protocol": "UDP"}),
        {
            "spec": {
                "ports": [
                    {"port": 80, "name": "http", "targetPort": 0},
                    {"port": 80, "protocol": "UDP", "targetPort": 0},
                ]
            }
        },
        id="an absent protocol counts as TCP in the key",
    ),
    pytest.param(
        DEPLOYMENT,
        deployment(container("a", args=["x", "y"])),
        deployment(container("a", args=["z"])),
        {"spec": {**deployment()["spec"], "strategy": {}, "template": {
            "metadata": {"labels": {"app": "web"}},
            "spec": {"containers": [container("a", args=["z"], resources={})]},
        }}},
        id="an atomic list is replaced",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("schema", "first", "second", "want"), MERGES)
def test_one_manager_applies_twice(schema: Schema, first: Object, second: Object, want: Object) -> None:
    out = applied(applied(None, first, schema, "kadm"), second, schema, "kadm")
    assert {name: out[name] for name in want} == {
        name: value if name != "metadata" else {**value, "managedFields": out["metadata"]["managedFields"]}
        for name, value in want.items()
    }


SETS = [
    pytest.param(CONFIG_MAP, config_map(data={"a": "1"}), {"f:data": {"f:a": {}}}, id="a map's key"),
    pytest.param(CONFIG_MAP, config_map(data={}), {"f:data": {}}, id="an empty map is owned"),
    pytest.param(CONFIG_MAP, config_map(metadata={"finalizers": []}), None, id="an empty set is not"),
    pytest.param(
        CONFIG_MAP,
        config_map(metadata={"finalizers": ["a/b"]}),
        {"f:metadata": {"f:finalizers": {'v:"a/b"': {}}}},
        id="a set",
    ),
    pytest.param(
        SERVICE,
        service({"port": 80}, selector={"app": "web"}),
        {
            "f:spec": {
                "f:ports": {'k:{"port":80,"protocol":"TCP"}': {".": {}, "f:port": {}}},
                "f:selector": {},
            }
        },
        id="a keyed list with a defaulted key, and an atomic map",
    ),
]


@pytest.mark.parametrize(("schema", "wanted", "want"), SETS)
def test_apply_owns_what_it_mentions(schema: Schema, wanted: Object, want: Object | None) -> None:
    assert owners(applied(None, wanted, schema, "kadm")) == ({} if want is None else {"kadm": want})


def test_a_repeated_apply_changes_nothing() -> None:
    live = applied(None, deployment(container("a"), replicas=2), DEPLOYMENT, "kadm")
    assert applied(live, deployment(container("a"), replicas=2), DEPLOYMENT, "kadm") is live


def test_a_quantity_written_otherwise_changes_nothing() -> None:
    live = applied(None, deployment(container("a", resources={"limits": {"cpu": "1"}})), DEPLOYMENT, "kadm")
    again = deployment(container("a", resources={"limits": {"cpu": "1000m"}}))
    assert applied(live, again, DEPLOYMENT, "kadm") is live


def test_a_new_owner_of_the_same_value_has_no_time() -> None:
    live = applied(None, config_map(data={"a": "1"}), CONFIG_MAP, "kadm")
    merged = apply(live, config_map(data={"a": "1"}), schema=CONFIG_MAP, manager="argo", force=False, now=LATER)
    assert {entry["manager"]: entry.get("time") for entry in merged["metadata"]["managedFields"]} == {
        "argo": None,
        "kadm": NOW,
    }


def test_what_others_own_stays() -> None:
    live = applied(None, config_map(data={"a": "1", "b": "1"}), CONFIG_MAP, "kadm")
    live = applied(live, config_map(data={"b": "1"}), CONFIG_MAP, "argo")
    assert applied(live, config_map(), CONFIG_MAP, "kadm")["data"] == {"b": "1"}


def test_what_an_update_added_stays() -> None:
    live = applied(None, config_map(data={"a": "1"}), CONFIG_MAP, "kadm")
    live = updated(live, {**live, "data": {"a": "1", "hand": "1"}}, CONFIG_MAP, "kubectl-edit")
    assert applied(live, config_map(), CONFIG_MAP, "kadm")["data"] == {"hand": "1"}


def test_an_object_without_entries_gets_one_for_what_was_there() -> None:
    live = decode(config_map(metadata={"uid": "u"}, data={"a": "1"}), CONFIG_MAP).object
    assert owners(applied(live, config_map(data={"a": "1"}), CONFIG_MAP, "kadm")) == {
        "before-first-apply": {"f:data": {".": {}, "f:a": {}}},
        "kadm": {"f:data": {"f:a": {}}},
    }


def test_force_takes_fields_over() -> None:
    live = applied(None, config_map(data={"a": "1", "b": "1"}), CONFIG_MAP, "argo")
    assert owners(applied(live, config_map(data={"a": "2"}), CONFIG_MAP, "kadm", force=True)) == {
        "argo": {"f:data": {"f:b": {}}},
        "kadm": {"f:data": {"f:a": {}}},
    }


ORDERS = [
    pytest.param("ab", "abc", "abc", id="new ones follow"),
    pytest.param("ab", "cab", "cab", id="new ones lead"),
    pytest.param("abc", "ca", "bca", id="shared ones are reordered"),
    pytest.param("ab", "ba", "ba", id="swapped"),
    pytest.param("abc", "xb", "axbc", id="before the shared one"),
]


@pytest.mark.parametrize(("live", "wanted", "want"), ORDERS)
def test_order_of_a_merged_list(live: str, wanted: str, want: str) -> None:
    old = applied(None, deployment(*map(container, live)), DEPLOYMENT, "argo")
    out = applied(old, deployment(*map(container, wanted)), DEPLOYMENT, "kadm")
    assert "".join(item["name"] for item in out["spec"]["template"]["spec"]["containers"]) == want


CONFLICTS = [
    pytest.param(
        updated(None, config_map(data={"a": "1"}), CONFIG_MAP, "one"),
        config_map(data={"a": "2"}),
        'Apply failed with 1 conflict: conflict with "one" using v1: .data.a',
        id="one field",
    ),
    pytest.param(
        applied(
            updated(None, config_map(data={"a": "1"}), CONFIG_MAP, "one"),
            config_map(data={"b": "1"}),
            CONFIG_MAP,
            "two",
        ),
        config_map(data={"a": "2", "b": "2"}),
        'Apply failed with 2 conflicts: conflicts with "one" using v1:\n- .data.a\nconflicts with "two":\n- .data.b',
        id="two managers",
    ),
    pytest.param(
        applied(None, config_map(data={"b": "1", "a": "1"}, metadata={"labels": {"x": "1"}}), CONFIG_MAP, "one"),
        config_map(data={"a": "2", "b": "2"}, metadata={"labels": {"x": "2"}}),
        'Apply failed with 3 conflicts: conflicts with "one":\n- .data.a\n- .data.b\n- .metadata.labels.x',
        id="fields in order",
    ),
]


@pytest.mark.parametrize(("live", "wanted", "want"), CONFLICTS)
def test_conflicts(live: Object, wanted: Object, want: str) -> None:
    with pytest.raises(ApplyConflict) as raised:
        applied(live, wanted, CONFIG_MAP, "kadm")
    assert str(raised.value) == want


def test_conflict_in_a_keyed_list_names_the_item() -> None:
    live = applied(None, service({"port": 80, "targetPort": 8080}), SERVICE, "argo")
    with pytest.raises(ApplyConflict) as raised:
        applied(live, service({"port": 80, "targetPort": "http"}), SERVICE, "kadm")
    assert [(item.message, item.field) for item in raised.value.conflicts] == [
        ('conflict with "argo"', '.spec.ports[port=80,protocol="TCP"].targetPort')
    ]


FAULTS = [
    pytest.param(DEPLOYMENT, deployment(bogus=1), ".spec.bogus: field not declared in schema", id="unknown field"),
    pytest.param(
        DEPLOYMENT, deployment(replicas="x"), ".spec.replicas: expected numeric (int or float), got string", id="string"
    ),
    pytest.param(
        CONFIG_MAP,
        config_map(data={"pin": 987654}),
        ".data.pin: expected string, got &value.valueUnstructured{Value:987654}",
        id="number",
    ),
    pytest.param(
        DEPLOYMENT,
        deployment(container("a"), container("a")),
        '.spec.template.spec.containers: duplicate entries for key [name="a"]',
        id="duplicate key",
    ),
    pytest.param(
        DEPLOYMENT,
        {**deployment(), "spec": {"template": {"spec": {"containers": "x"}}}},
        ".spec.template.spec.containers: expected list, got &{x}",
        id="no list",
    ),
]


@pytest.mark.parametrize(("schema", "wanted", "want"), FAULTS)
def test_what_does_not_fit_its_type(schema: Schema, wanted: Object, want: str) -> None:
    with pytest.raises(TypedError) as raised:
        applied(None, wanted, schema, "kadm")
    named = f"/web; {schema.group}/{schema.version}, Kind={schema.kind}"
    assert str(raised.value) == f"failed to create typed patch object ({named}): {want}"


OPEN = from_crd("example.com", "v1", "Widget", {"type": "object", "x-kubernetes-preserve-unknown-fields": True})


def widget(**fields: Any) -> Object:
    return {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "web"}, **fields}


UNTYPED_STEPS = [
    pytest.param(widget(spec={"m": {"x": 1}}), widget(spec={"m": {"y": 2}}), {"m": {"y": 2}}, id="maps merge by key"),
    pytest.param(widget(spec={"l": [1, 2]}), widget(spec={"l": [3]}), {"l": [3]}, id="lists are atomic"),
    pytest.param(widget(spec={"m": {"x": 1}}), widget(spec={"m": "text"}), {"m": "text"}, id="a map becomes a scalar"),
    pytest.param(
        widget(spec={"m": "text"}), widget(spec={"m": {"x": 1}}), {"m": {"x": 1}}, id="a scalar becomes a map"
    ),
    pytest.param(widget(spec={"m": {"x": 1}}), widget(spec={}), {}, id="an emptied map stays"),
]


@pytest.mark.parametrize(("first", "second", "want"), UNTYPED_STEPS)
def test_untyped_objects(first: Object, second: Object, want: Object) -> None:
    assert applied(applied(None, first, OPEN, "kadm"), second, OPEN, "kadm")["spec"] == want


LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


def client_side_applied() -> Object:
    """A ConfigMap as client-side ``kubectl apply`` leaves it, with one value changed by hand since."""
    text = json.dumps(config_map(data={"a": "1", "b": "1"}))
    obj = config_map(metadata={"annotations": {LAST_APPLIED: text}}, data={"a": "1", "b": "2"})
    return updated(None, obj, CONFIG_MAP, "kubectl-client-side-apply")


def test_kubectl_takes_over_what_it_applied_from_the_client() -> None:
    out = applied(client_side_applied(), config_map(data={"a": "9"}), CONFIG_MAP, "kubectl")
    assert (out["data"], json.loads(out["metadata"]["annotations"][LAST_APPLIED])) == (
        {"a": "9", "b": "2"},
        config_map(data={"a": "9"}),
    )


TAKEOVERS = [
    pytest.param("kubectl", ".data.b", id="changed since"),
    pytest.param("kadm", ".data.a", id="another manager"),
]


@pytest.mark.parametrize(("manager", "field"), TAKEOVERS)
def test_fields_that_are_not_taken_over(manager: str, field: str) -> None:
    wanted = config_map(data={field.removeprefix(".data."): "9"})
    with pytest.raises(ApplyConflict) as raised:
        applied(client_side_applied(), wanted, CONFIG_MAP, manager)
    assert [item.field for item in raised.value.conflicts] == [field]
