"""Karmada's kinds as KubeAdmiral's: what each field becomes, what is noted, and that the result is a valid fleet."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from kadm.cli.main import main
from kadm.convert import Converted, Converting, convert_karmada
from kadm.model.objects import ObjectKey
from kadm.repo.documents import read_documents
from tests.repo.fleets import loaded

LEFT_OUT = " has no counterpart, and is left out"
BY_LABELS = " has no counterpart: give the members labels for provider, region and zone"
SELECTS_WEB = [{"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}]


def converting(*objects: dict[str, Any]) -> Converting:
    return convert_karmada(read_documents(yaml.safe_dump_all(objects).encode(), "k.yaml").documents)


def a_policy(kind: str = "PropagationPolicy", name: str = "p", **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "policy.karmada.io/v1alpha1",
        "kind": kind,
        "metadata": {"name": name},
        "spec": {"resourceSelectors": SELECTS_WEB, "propagateDeps": True, **spec},
    }


def an_override(**overriders: Any) -> dict[str, Any]:
    rules = [{"overriders": overriders}]
    return {**a_policy("OverridePolicy"), "spec": {"resourceSelectors": SELECTS_WEB, "overrideRules": rules}}


def a_deployment(name: str = "web", **labels: str) -> dict[str, Any]:
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name, "labels": labels}}


def converted(one: dict[str, Any]) -> Converted:
    (found,) = converting(one).converted
    return found


def weighted(*rules: tuple[str, int], names: tuple[str, ...] = ()) -> dict[str, Any]:
    static = [{"targetCluster": {"clusterNames": [name]}, "weight": weight} for name, weight in rules]
    return {
        "clusterAffinity": {"clusterNames": list(names)},
        "replicaScheduling": {
            "replicaSchedulingType": "Divided",
            "replicaDivisionPreference": "Weighted",
            "weightPreference": {"staticWeightList": static},
        },
    }


def entry(name: str, weight: int) -> dict[str, Any]:
    return {"cluster": name, "preferences": {"weight": weight}}


@pytest.mark.parametrize(
    ("placement", "spec", "notes"),
    [
        pytest.param({}, {"schedulingMode": "Duplicate"}, [], id="nothing said: copies everywhere"),
        pytest.param(
            {"clusterAffinity": {"clusterNames": ["eu", "us"]}},
            {"schedulingMode": "Duplicate", "placement": [{"cluster": "eu"}, {"cluster": "us"}]},
            [],
            id="names",
        ),
        pytest.param(
            {"clusterAffinity": {"labelSelector": {"matchLabels": {"a": "b"}}, "exclude": ["us", "eu"]}},
            {
                "schedulingMode": "Duplicate",
                "clusterSelector": {"a": "b"},
                "clusterAffinity": [
                    {
                        "matchFields": [
                            {"key": "metadata.name", "operator": "NotIn", "values": [name]} for name in ("eu", "us")
                        ]
                    }
                ],
            },
            [],
            id="labels, and all but some",
        ),
        pytest.param(
            weighted(("eu", 2), ("us", 1)),
            {"schedulingMode": "Divide", "placement": [entry("eu", 2), entry("us", 1)]},
            [],
            id="static weights",
        ),
        pytest.param(
            weighted(("eu", 2), names=("eu", "us")),
            {"schedulingMode": "Divide", "placement": [entry("eu", 2), entry("us", 0)]},
            [],
            id="a member without weight gets none",
        ),
        pytest.param(
            weighted(names=("eu", "us")),
            {"schedulingMode": "Divide", "placement": [entry("eu", 1), entry("us", 1)]},
            [],
            id="no weights are equal ones",
        ),
        pytest.param(
            {"replicaScheduling": {"replicaSchedulingType": "Divided", "replicaDivisionPreference": "Aggregated"}},
            {"schedulingMode": "Divide", "replicasStrategy": "Binpack"},
            [],
            id="aggregated",
        ),
        pytest.param(
            {
                "replicaScheduling": {
                    "replicaDivisionPreference": "Weighted",
                    "weightPreference": {"dynamicWeight": "AvailableReplicas"},
                }
            },
            {"schedulingMode": "Divide"},
            [],
            id="by what is free",
        ),
        pytest.param(
            {"spreadConstraints": [{"spreadByField": "cluster", "maxGroups": 2, "minGroups": 1}]},
            {"schedulingMode": "Duplicate", "maxClusters": 2},
            [],
            id="at most so many members",
        ),
        pytest.param(
            {"spreadConstraints": [{"spreadByField": "region", "maxGroups": 2}]},
            {"schedulingMode": "Duplicate"},
            ["spec.placement.spreadConstraints[0].spreadByField other than cluster" + LEFT_OUT],
            id="over regions",
        ),
        pytest.param(
            {"clusterAffinity": {"fieldSelector": {"matchExpressions": [{"key": "region"}]}}},
            {"schedulingMode": "Duplicate"},
            ["spec.placement.clusterAffinity.fieldSelector" + BY_LABELS],
            id="by fields of members",
        ),
        pytest.param(
            {"workloadAffinity": {"x": 1}},
            {"schedulingMode": "Duplicate"},
            ["spec.placement.workloadAffinity has no counterpart, and is left out"],
            id="what nobody knows yet",
        ),
    ],
)
def test_placement(placement: dict[str, Any], spec: dict[str, Any], notes: list[str]) -> None:
    found = converted(a_policy(placement=placement))
    assert (found.object["spec"], list(found.notes)) == (spec, notes)


@pytest.mark.parametrize(
    ("overriders", "made", "notes"),
    [
        pytest.param(
            {"imageOverrider": [{"component": "Registry", "operator": "replace", "value": "eu.example.com"}]},
            {
                "image": [
                    {"operations": [{"imageComponent": "Registry", "operator": "overwrite", "value": "eu.example.com"}]}
                ]
            },
            0,
            id="image",
        ),
        pytest.param(
            {"imageOverrider": [{"component": "Tag", "operator": "remove", "predicate": {"path": "/spec/image"}}]},
            {"image": [{"imagePath": "/spec/image", "operations": [{"imageComponent": "Tag", "operator": "delete"}]}]},
            1,
            id="an image elsewhere, and its digest",
        ),
        pytest.param(
            {"commandOverrider": [{"containerName": "c", "operator": "add", "value": ["-v"]}]},
            {"command": [{"containerName": "c", "operator": "append", "value": ["-v"]}]},
            0,
            id="command",
        ),
        pytest.param(
            {"labelsOverrider": [{"operator": "add", "value": {"a": "b"}}]},
            {"labels": [{"operator": "upsert", "value": {"a": "b"}}]},
            0,
            id="labels",
        ),
        pytest.param(
            {
                "plaintext": [
                    {"path": "/spec/paused", "operator": "replace", "value": True},
                    {"path": "/spec/x", "operator": "remove"},
                ]
            },
            {
                "jsonpatch": [
                    {"path": "/spec/paused", "operator": "replace", "value": True},
                    {"path": "/spec/x", "operator": "remove"},
                ]
            },
            0,
            id="plain text",
        ),
        pytest.param({"fieldOverrider": [{"fieldPath": "/data/x"}]}, {}, 1, id="inside of fields"),
    ],
)
def test_overriders(overriders: dict[str, Any], made: dict[str, Any], notes: int) -> None:
    found = converted(an_override(**overriders))
    assert (found.object["spec"], len(found.notes)) == ({"overrideRules": [{"overriders": made}]}, notes)


def test_members_of_an_override() -> None:
    rules = [{"targetCluster": {"clusterNames": ["eu"], "labelSelector": {"matchLabels": {"a": "b"}}}}]
    found = converted({**a_policy("OverridePolicy"), "spec": {"overrideRules": rules}})
    assert found.object["spec"] == {
        "overrideRules": [{"targetClusters": {"clusters": ["eu"], "clusterSelector": {"a": "b"}}, "overriders": {}}]
    }


def test_without_dependencies_nothing_follows() -> None:
    assert converted(a_policy(propagateDeps=False)).object["spec"] == {
        "schedulingMode": "Duplicate",
        "disableFollowerScheduling": True,
    }


@pytest.mark.parametrize(
    ("policies", "bound"),
    [
        pytest.param([("a", {}), ("b", {})], "a", id="the first by name"),
        pytest.param([("a", {}), ("b", {"priority": 1})], "b", id="the highest priority"),
        pytest.param(
            [("a", {"resourceSelectors": [{"apiVersion": "apps/v1", "kind": "Deployment"}]}), ("b", {})],
            "b",
            id="the one that names it",
        ),
        pytest.param(
            [
                ("a", {"resourceSelectors": [{"apiVersion": "apps/v1", "kind": "Deployment", "name": "other"}]}),
                (
                    "b",
                    {
                        "resourceSelectors": [
                            {
                                "apiVersion": "apps/v1",
                                "kind": "Deployment",
                                "labelSelector": {"matchLabels": {"tier": "web"}},
                            }
                        ]
                    },
                ),
            ],
            "b",
            id="the one whose labels it has",
        ),
    ],
)
def test_one_policy_per_object(policies: list[tuple[str, dict[str, Any]]], bound: str) -> None:
    found = converting(*(a_policy(name=name, **spec) for name, spec in policies), a_deployment(tier="web"))
    web = ObjectKey("apps", "Deployment", "default", "web")
    assert {one.object["metadata"]["name"]: one.bound for one in found.converted if one.bound} == {bound: (web,)}


def test_several_overrides_of_one_object_are_told() -> None:
    found = converting(an_override(), {**an_override(), "metadata": {"name": "q"}}, a_deployment())
    assert [one.notes for one in found.converted] == [
        (),
        ("Deployment.apps default/web is bound to p: an object has one OverridePolicy, so join their rules",),
    ]


def test_a_cluster() -> None:
    cluster = {
        "apiVersion": "cluster.karmada.io/v1alpha1",
        "kind": "Cluster",
        "metadata": {"name": "eu", "labels": {"tier": "gold"}, "uid": "u"},
        "spec": {
            "region": "eu-1",
            "syncMode": "Push",
            "taints": [{"key": "a", "effect": "NoSchedule", "timeAdded": "t"}],
        },
    }
    assert converted(cluster).object == {
        "apiVersion": "core.kubeadmiral.io/v1alpha1",
        "kind": "FederatedCluster",
        "metadata": {"name": "eu", "labels": {"region": "eu-1", "tier": "gold"}},
        "spec": {"taints": [{"key": "a", "effect": "NoSchedule"}]},
    }


def test_what_cannot_be_converted_is_named() -> None:
    found = converting({"apiVersion": "work.karmada.io/v1alpha2", "kind": "ResourceBinding", "metadata": {"name": "x"}})
    assert [problem.what for problem in found.problems] == [
        "ResourceBinding of work.karmada.io/v1alpha2 has no counterpart"
    ]


def test_what_it_prints_is_a_fleets(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Policies go into policies/ as they are printed, and the label that it names binds."""
    file = tmp_path / "karmada.yaml"
    override = an_override(labelsOverrider=[{"operator": "add", "value": {"a": "b"}}])
    placement = weighted(("eu", 2), ("us", 1))
    file.write_text(yaml.safe_dump_all([a_policy(placement=placement), override, a_deployment()]))
    assert main(["convert", "karmada", str(file)]) == 0
    printed = capsys.readouterr().out
    assert printed.splitlines()[:4] == [
        "---",
        f"# From Karmada's PropagationPolicy default/p ({file}:1:1).",
        "# An object is bound to it by the label kubeadmiral.io/propagation-policy-name: p.",
        "# Of these files: Deployment default/web.",
    ]
    labelled = yaml.safe_dump(
        {
            **a_deployment(
                **{"kubeadmiral.io/propagation-policy-name": "p", "kubeadmiral.io/override-policy-name": "p"}
            ),
            "spec": {},
        }
    )
    repo = loaded(tmp_path / "fleet", {"policies/converted.yaml": printed, "manifests/web.yaml": labelled})
    (web,) = repo.manifests
    assert (web.propagation and web.propagation.policy.name, [one.policy.name for one in web.overrides]) == ("p", ["p"])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param(None, "does not exist", id="no file"),
        pytest.param("a: [", "no valid YAML", id="no YAML"),
        pytest.param("kind: X\n", "hold nothing of Karmada's", id="nothing of Karmada's"),
    ],
)
def test_what_cannot_be(tmp_path: Path, text: str | None, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "k.yaml"
    if text is not None:
        file.write_text(text)
    assert main(["convert", "karmada", str(file)]) == 1
    assert said in capsys.readouterr().err
