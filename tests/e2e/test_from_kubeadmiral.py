"""A team that comes from KubeAdmiral: its YAML is taken as it is, and what runs goes on running."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.e2e.small_fleet import Shared, SmallFleet, config, deployment, namespace, shared_sandbox, small_fleet

pytestmark = pytest.mark.e2e

MANAGER = "kubeadmiral-controller-manager"
REPLICAS = {"member1": 4, "member2": 2}
THEIRS = ("--take-over", "kubeadmiral")
"""Somebody has to say that KubeAdmiral no longer writes what carries its mark."""


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shared]:
    with shared_sandbox(tmp_path_factory.mktemp("kubeadmiral"), members=2) as found:
        yield found


@pytest.fixture
def fleet(shared: Shared, tmp_path: Path) -> SmallFleet:
    """Their policies and source objects in a repository, and in the members what KubeAdmiral made of them."""
    found = small_fleet(shared, tmp_path)
    name = found.name
    first = found.root / "clusters/member1.yaml"
    (found.root / "clusters/member2.yaml").write_text(first.read_text().replace("member1", "member2"))
    policies = [
        {
            "apiVersion": "core.kubeadmiral.io/v1alpha1",
            "kind": "PropagationPolicy",
            "metadata": {"name": "spread", "namespace": name},
            "spec": {
                "schedulingMode": "Divide",
                "schedulingProfile": "",
                "stickyCluster": False,
                "clusterSelector": {},
                "placement": [
                    {"cluster": "member1", "preferences": {"weight": 2}},
                    {"cluster": "member2", "preferences": {"weight": 1}},
                ],
                "autoMigration": {"when": {"podUnschedulableFor": "5m"}},
            },
        },
        {
            "apiVersion": "core.kubeadmiral.io/v1alpha1",
            "kind": "OverridePolicy",
            "metadata": {"name": "paths", "namespace": name},
            "spec": {
                "overrideRules": [
                    {
                        "targetClusters": {"clusters": ["member2"]},
                        "overriders": {
                            "jsonpatch": [{"operator": "add", "path": "/metadata/annotations/where", "value": "two"}]
                        },
                    }
                ]
            },
        },
    ]
    (found.root / "policies/theirs.yaml").write_text(yaml.safe_dump_all(policies))
    adopt = {
        "kubeadmiral.io/conflict-resolution": "adopt",
        "kubeadmiral.io/clusters-to-adopt": '{"regexp": "^member"}',
        "kubeadmiral.io/orphan": "all",
    }
    web = deployment(name, replicas=6)
    bound = {"kubeadmiral.io/propagation-policy-name": "spread", "kubeadmiral.io/override-policy-name": "paths"}
    web["metadata"] |= {"labels": {"app": "web", **bound}, "annotations": {"team": "a", **adopt}}
    web["spec"]["template"]["spec"]["volumes"] = [{"name": "c", "configMap": {"name": "c"}}]
    settings = config(name)
    settings["metadata"]["annotations"] = dict(adopt)
    found.write(namespace(name), settings, web)
    for member, number in REPLICAS.items():
        there = shared.members[member]
        there.create(namespace(name), "kubectl")
        there.create(propagated(config(name)), MANAGER)
        made = deployment(name, replicas=number)
        made["metadata"] |= {
            "labels": {"app": "web"},
            "annotations": {"team": "a"} | ({"where": "two"} if member == "member2" else {}),
        }
        made["spec"]["template"]["spec"]["volumes"] = web["spec"]["template"]["spec"]["volumes"]
        there.create(propagated(made), MANAGER)
    return found


def propagated(obj: dict[str, Any]) -> dict[str, Any]:
    """The object with what KubeAdmiral writes onto it in a member (propagation spec 0.4)."""
    metadata = obj["metadata"]
    labels = {**metadata.get("labels", {}), "kubeadmiral.io/managed": "true"}
    notes = {
        "kubeadmiral.io/propagated-annotation-keys": ",".join(sorted(metadata.get("annotations", {}))),
        "kubeadmiral.io/propagated-label-keys": ",".join(sorted(labels)),
        "kubeadmiral.io/source-generation": "3",
    }
    annotations = {**metadata.get("annotations", {}), **notes}
    return {**obj, "metadata": {**metadata, "labels": labels, "annotations": annotations}}


def test_what_runs_goes_on_running(fleet: SmallFleet, shared: Shared) -> None:
    web = deployment(fleet.name)
    before = {name: shared.members[name].get(web) for name in REPLICAS}
    fleet.kadm("validate")
    assert {one["flag"] for one in fleet.plan()["held"]} == {"--take-over kubeadmiral"}
    plan = fleet.plan(*THEIRS)
    assert {(one["action"], one["kind"]) for one in plan["changes"]} == {
        ("adopt", "ConfigMap"),
        ("adopt", "Deployment"),
        ("adopt", "Namespace"),
    }
    assert (plan["held"], plan["moves"]) == ([], [])
    assert {one["name"]: one["clusters"] for one in plan["placements"]} == {
        "c": {"member1": None, "member2": None},
        "web": REPLICAS,
    }
    fleet.apply(*THEIRS)
    fleet.plan("--detailed-exitcode")
    after = {name: shared.members[name].get(web) for name in REPLICAS}
    assert {name: (one["metadata"]["uid"], one["metadata"]["generation"]) for name, one in after.items()} == {
        name: (one["metadata"]["uid"], one["metadata"]["generation"]) for name, one in before.items()
    }
    assert {name: one["spec"]["replicas"] for name, one in after.items()} == REPLICAS
    assert {name: one["metadata"]["annotations"].get("where") for name, one in after.items()} == {
        "member1": None,
        "member2": "two",
    }


def test_their_keys_do_not_reach_members(fleet: SmallFleet, shared: Shared) -> None:
    fleet.apply(*THEIRS)
    live = shared.members["member1"].get(deployment(fleet.name))["metadata"]
    assert sorted(key for key in (*live["labels"], *live["annotations"]) if "kubeadmiral.io" in key) == [
        "kubeadmiral.io/managed",
        "kubeadmiral.io/propagated-annotation-keys",
        "kubeadmiral.io/propagated-label-keys",
        "kubeadmiral.io/source-generation",
    ]


def test_orphaned_objects_are_let_go(fleet: SmallFleet, shared: Shared) -> None:
    fleet.apply(*THEIRS)
    fleet.write()
    fleet.apply("--allow-empty", code=None)
    assert shared.members["member1"].get(deployment(fleet.name)) is not None
    assert fleet.deleted() == []


def test_a_federated_object_is_refused(fleet: SmallFleet) -> None:
    fleet.write(
        {
            "apiVersion": "core.kubeadmiral.io/v1alpha1",
            "kind": "FederatedObject",
            "metadata": {"name": "web-deployments.apps", "namespace": fleet.name},
            "spec": {"template": deployment(fleet.name)},
        }
    )
    said = fleet.kadm("validate", code=1).err
    assert (
        "a FederatedObject is no native object (write the object that it wraps; kadm has no federated objects)" in said
    )
