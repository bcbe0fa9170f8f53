"""The override engine on hand-made objects (propagation spec, section 12)."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from kadm.errors import Location
from kadm.model.desired import Provenance
from kadm.model.objects import JsonObject
from kadm.model.override import OverridePolicy, OverridePolicySpec, OverrideRule
from kadm.model.policy import PolicyKey
from kadm.overrides import apply_overrides

POLICY = PolicyKey("OverridePolicy", "shop", "op")
PLACE = Location("policies/op.yaml", 7, 3)
LABELS = {"env": "prod", "n": "5"}
DIGEST = "sha256:" + "a" * 64


def a_deployment() -> JsonObject:
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "shop", "labels": {"a": "1"}},
        "spec": {
            "template": {
                "spec": {
                    "containers": [
                        {
                            "name": "w",
                            "image": "reg.io:5000/t/app:1",
                            "command": ["x", "y", "x"],
                            "env": [env("A", "1"), env("B", "2"), env("A", "3")],
                        }
                    ],
                    "initContainers": [{"name": "i", "image": "busybox"}],
                }
            }
        },
    }


def env(name: str, value: str) -> dict[str, str]:
    return {"name": name, "value": value}


def a_policy(*rules: dict[str, Any], key: PolicyKey = POLICY) -> OverridePolicy:
    spec = OverridePolicySpec(tuple(msgspec.convert(rule, OverrideRule) for rule in rules))
    return OverridePolicy(key=key, spec=spec, location=PLACE, rule_locations=(PLACE,) * len(rules))


def image(component: str, operator: str, value: str = "", *names: str) -> dict[str, Any]:
    operation = {"imageComponent": component, "operator": operator, "value": value}
    return {"image": [{"containerNames": list(names), "operations": [operation]}]}


def after(*rules: dict[str, Any], obj: JsonObject | None = None) -> Any:
    """Path → value that the rules' overriders lead to, or "error"."""
    result = apply_overrides(
        obj or a_deployment(), "c1", LABELS, policies=(a_policy(*({"overriders": rule} for rule in rules)),)
    )
    if result.problems:
        assert result.object is None
        return "error"
    return {patch.path: patch.value for patch in result.patches}


W = "/spec/template/spec/containers/0"
I = "/spec/template/spec/initContainers/0"  # noqa: E741
CONFIG_MAP = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"image": "busybox:1"}}
REPLICA_SET = {**a_deployment(), "kind": "ReplicaSet"}


@pytest.mark.parametrize(
    ("overriders", "want"),
    [
        pytest.param(
            image("Registry", "overwrite", "m.io"),
            {f"{W}/image": "m.io/t/app:1", f"{I}/image": "m.io/busybox"},
            id="image of all containers",
        ),
        pytest.param(image("Tag", "addIfAbsent", "2", "w"), "error", id="addIfAbsent of a tag that is there"),
        pytest.param(image("Tag", "addIfAbsent", "2", "i"), {f"{I}/image": "busybox:2"}, id="addIfAbsent of a tag"),
        pytest.param(
            {
                "image": [
                    {
                        "containerNames": ["w"],
                        "operations": [
                            {"imageComponent": "Tag", "operator": "delete"},
                            {"imageComponent": "Digest", "operator": "addIfAbsent", "value": DIGEST},
                        ],
                    }
                ]
            },
            {f"{W}/image": f"reg.io:5000/t/app@{DIGEST}"},
            id="operations run in order",
        ),
        pytest.param(image("Tag", "overwrite", "-bad", "w"), "error", id="no valid tag"),
        pytest.param(image("Tag", "overwrite", "2", "zzz"), {}, id="unknown container"),
        pytest.param({"image": [{"imagePath": "spec/template"}]}, "error", id="imagePath without slash"),
        pytest.param({"image": [{"imagePath": f"{W[:-1]}1/image"}]}, "error", id="imagePath beyond the list"),
        pytest.param(
            {"command": [{"containerName": "w", "operator": "delete", "value": ["x"]}]},
            {f"{W}/command": ["y"]},
            id="delete words",
        ),
        pytest.param(
            {"command": [{"containerName": "w", "operator": "delete", "value": ["x", "y"]}]},
            {f"{W}/command": None},
            id="delete all words",
        ),
        pytest.param({"command": [{"containerName": "w", "operator": "append"}]}, "error", id="append nothing"),
        pytest.param(
            {"command": [{"containerName": "zzz", "operator": "append", "value": ["q"]}]}, {}, id="command of nobody"
        ),
        pytest.param(
            {"command": [{"containerName": "w", "value": ["q"]}]}, {f"{W}/command": ["q"]}, id="default overwrite"
        ),
        pytest.param(
            {
                "args": [
                    {"containerName": "w", "operator": "append", "value": ["a"]},
                    {"containerName": "w", "operator": "append", "value": ["b"]},
                ]
            },
            {f"{W}/args": ["a", "b"]},
            id="overriders of one container add up",
        ),
        pytest.param(
            {"envs": [{"containerName": "w", "value": [env("A", "9"), env("C", "1")]}]},
            {f"{W}/env": [env("A", "9"), env("B", "2"), env("A", "9")]},
            id="overwrite never creates a variable",
        ),
        pytest.param(
            {"envs": [{"containerName": "w", "operator": "upsert", "value": [env("B", "9"), env("C", "1")]}]},
            {f"{W}/env": [env("A", "1"), env("B", "9"), env("A", "3"), env("C", "1")]},
            id="upsert creates a variable",
        ),
        pytest.param(
            {"envs": [{"containerName": "w", "operator": "delete", "value": [{"name": "A"}]}]},
            {f"{W}/env": [env("B", "2")]},
            id="delete a variable",
        ),
        pytest.param(
            {"envs": [{"containerName": "w", "operator": "addIfAbsent", "value": [env("C", v)]} for v in "12"]},
            "error",
            id="addIfAbsent twice",
        ),
        pytest.param(
            {"labels": [{"value": {"a": "2", "b": "3"}}]}, {"/metadata/labels": {"a": "2"}}, id="overwrite labels"
        ),
        pytest.param(
            {"labels": [{"operator": "upsert", "value": {"a": "2", "b": "3"}}]},
            {"/metadata/labels": {"a": "2", "b": "3"}},
            id="upsert labels",
        ),
        pytest.param({"labels": [{"operator": "addIfAbsent", "value": {"a": "2"}}]}, "error", id="label is there"),
        pytest.param(
            {"labels": [{"operator": "delete", "value": {"a": "x"}}]}, {"/metadata/labels": {}}, id="delete label"
        ),
        pytest.param(
            {"annotations": [{"value": {"n": "1"}}]}, {"/metadata/annotations": {}}, id="an empty map is emitted"
        ),
        pytest.param(
            {"annotations": [{"operator": "upsert", "value": {"n": "1"}}]},
            {"/metadata/annotations": {"n": "1"}},
            id="upsert creates the map",
        ),
        pytest.param(
            {"jsonpatch": [{"operator": "add", "path": "/metadata/annotations/x", "value": "1"}]},
            "error",
            id="no parent",
        ),
        pytest.param(
            {"jsonpatch": [{"path": "/metadata/annotations", "value": {"x": "1"}}]},
            {"/metadata/annotations": {"x": "1"}},
            id="replace creates the last key",
        ),
        pytest.param({"jsonpatch": [{"path": "/spec/foo/bar", "value": 1}]}, "error", id="replace creates no parent"),
        pytest.param({"jsonpatch": [{"operator": "remove", "path": "/spec/foo"}]}, "error", id="remove nothing"),
        pytest.param({"jsonpatch": [{"path": "/metadata/name", "value": "x"}]}, "error", id="another name"),
        pytest.param({"jsonpatch": [{"path": "/metadata", "value": {"name": "x"}}]}, "error", id="name by its parent"),
        pytest.param({"jsonpatch": [{"path": "/apiVersion", "value": "x/v1"}]}, "error", id="another group"),
        pytest.param({"jsonpatch": [{"path": "", "value": {"kind": "X"}}]}, "error", id="another object"),
        pytest.param(
            {"jsonpatch": [{"operator": "test", "path": "/metadata/labels/a", "value": 1}]}, "error", id="test fails"
        ),
    ],
)
def test_overriders(overriders: dict[str, Any], want: Any) -> None:
    assert after(overriders) == want


@pytest.mark.parametrize(
    ("obj", "want"),
    [
        pytest.param(CONFIG_MAP, "error", id="ConfigMap"),
        pytest.param(REPLICA_SET, "error", id="ReplicaSet, whose pod spec KubeAdmiral does not know"),
    ],
)
def test_kinds_without_pod_spec(obj: JsonObject, want: Any) -> None:
    assert after(image("Tag", "overwrite", "2"), obj=obj) == want
    assert after({"command": [{"containerName": "zzz", "value": ["q"]}]}, obj=obj) == want


def test_image_path_works_on_any_kind() -> None:
    overrider = {"imagePath": "/data/image", "operations": [{"imageComponent": "Tag", "value": "2"}]}
    assert after({"image": [overrider]}, obj=CONFIG_MAP) == {"/data/image": "busybox:2"}


def test_a_rule_sees_the_rules_before_it_and_jsonpatch_what_its_own_rule_did() -> None:
    first, second = {"operator": "addIfAbsent", "value": {"b": "1"}}, {"value": {"b": "2"}}
    assert after({"labels": [first]}, {"labels": [second]}) == {"/metadata/labels": {"a": "1", "b": "2"}}
    both = {
        "jsonpatch": [{"path": "/metadata/labels/b", "value": "7"}],
        "labels": [{"operator": "addIfAbsent", "value": {"b": "1"}}],
    }
    result = apply_overrides(a_deployment(), "c1", LABELS, policies=(a_policy({"overriders": both}),))
    assert result.object is not None
    assert result.object["metadata"]["labels"] == {"a": "1", "b": "7"}


def test_the_later_policy_wins_and_provenance_names_both() -> None:
    cluster = PolicyKey("ClusterOverridePolicy", "", "cop")
    before, mine = a_deployment(), image("Tag", "overwrite", "3", "w")
    first = a_policy({"overriders": image("Tag", "overwrite", "2", "w")}, key=cluster)
    result = apply_overrides(before, "c1", LABELS, policies=(first, a_policy({}, {"overriders": mine})))
    path = ("spec", "template", "spec", "containers", 0, "image")
    old, middle, new = (f"reg.io:5000/t/app:{tag}" for tag in "123")
    assert result.provenance == (
        Provenance(path=path, before=old, after=middle, policy=cluster, rule=0, location=PLACE),
        Provenance(path=path, before=middle, after=new, policy=POLICY, rule=1, location=PLACE),
    )
    assert before == a_deployment()
    assert result.object is not None
    assert (
        result.object["spec"]["template"]["spec"]["initContainers"]
        is (before["spec"]["template"]["spec"]["initContainers"])
    ), "what no rule touches is shared"


def test_an_error_names_rule_and_reason_and_no_value() -> None:
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "data": {"p": "hunter2 "}}
    rules = [
        {"overriders": {"image": [{"imagePath": "/data/p"}]}},
        {"overriders": {"jsonpatch": [{"operator": "test", "path": "/data/p", "value": "x"}]}},
        {"overriders": {"jsonpatch": [{"operator": "remove", "path": "/data/p/q"}]}},
    ]
    for rule in rules:
        (problem,) = apply_overrides(secret, "c1", {}, policies=(a_policy(rule),)).problems
        assert problem.where == PLACE
        assert "hunter2" not in str(problem)


@pytest.mark.parametrize(
    ("target", "want"),
    [
        pytest.param(None, True, id="absent"),
        pytest.param({}, True, id="empty"),
        pytest.param({"clusters": []}, True, id="empty list"),
        pytest.param({"clusters": ["c1"], "clusterSelector": {"env": "dev"}}, False, id="criteria are ANDed"),
        pytest.param({"clusters": ["c2"]}, False, id="not listed"),
        pytest.param(
            {"clusterAffinity": [{"matchExpressions": [{"key": "n", "operator": "Gt", "values": ["4"]}]}]},
            True,
            id="Gt",
        ),
        pytest.param({"clusterAffinity": [{}]}, False, id="empty term"),
        pytest.param(
            {"clusterAffinity": [{}, {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["c1"]}]}]},
            True,
            id="terms are ORed",
        ),
        pytest.param(
            {"clusterAffinity": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["a", "b"]}]}]},
            "error",
            id="a field with two values",
        ),
        pytest.param({"clusterSelector": {"a b": "c"}}, "error", id="illegal label"),
    ],
)
def test_targets(target: dict[str, Any] | None, want: bool | str) -> None:
    rule = {"targetClusters": target, "overriders": {"labels": [{"value": {"a": "2"}}]}}
    result = apply_overrides(a_deployment(), "c1", LABELS, policies=(a_policy(rule),))
    assert ("error" if result.problems else bool(result.patches)) == want
