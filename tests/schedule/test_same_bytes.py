"""The same input gives the same bytes: with every hash seed, and in whatever order files and documents stand."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
MEMBERS = ("ap", "cn", "eu", "sa", "us")


def policy(name: str, spec: dict[str, Any], *, kind: str = "ClusterPropagationPolicy") -> dict[str, Any]:
    return {
        "apiVersion": "core.kubeadmiral.io/v1alpha1",
        "kind": kind,
        "metadata": {"name": name},
        "spec": spec,
    }


def member(name: str, number: int) -> dict[str, Any]:
    labels = {"region": name, "tier": "prod" if number % 2 else "test"}
    taints = [{"key": "old", "effect": "PreferNoSchedule"}] if name == "sa" else []
    return {
        **policy(name, {"taints": taints}, kind="FederatedCluster"),
        "metadata": {"name": name, "labels": labels},
    }


def workload(kind: str, name: str, replicas: int, bound: str) -> dict[str, Any]:
    labels = {
        "kubeadmiral.io/cluster-propagation-policy-name": bound,
        "kubeadmiral.io/cluster-override-policy-name": "mirror",
        "b": "2",
        "a": "1",
    }
    container = {
        "name": "c",
        "image": "nginx:1.25",
        "envFrom": [{"configMapRef": {"name": f"{name}-config"}}, {"secretRef": {"name": "shared"}}],
    }
    return {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": {"name": name, "namespace": "shop", "labels": labels},
        "spec": {
            "replicas": replicas,
            "serviceName": name,
            "selector": {"matchLabels": {"app": name}},
            "template": {"metadata": {"labels": {"app": name}}, "spec": {"containers": [container]}},
        },
    }


def plain(kind: str, name: str, **rest: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": kind, "metadata": {"name": name, "namespace": "shop"}, **rest}


POLICIES = [
    policy("even", {"schedulingMode": "Divide", "placement": [{"cluster": name} for name in MEMBERS[:3]]}),
    policy("free", {"schedulingMode": "Divide", "maxClusters": 4}),
    policy(
        "weighted",
        {
            "schedulingMode": "Divide",
            "placement": [{"cluster": name, "preferences": {"weight": 1, "maxReplicas": 9}} for name in MEMBERS],
        },
    ),
    policy("packed", {"schedulingMode": "Divide", "replicasStrategy": "Binpack", "clusterSelector": {"tier": "prod"}}),
    policy("copied", {"schedulingMode": "Duplicate", "maxClusters": 2}),
    policy(
        "mirror",
        {
            "overrideRules": [
                {
                    "targetClusters": {"clusterSelector": {"tier": "test"}},
                    "overriders": {
                        "image": [{"operations": [{"imageComponent": "Registry", "value": "mirror.local"}]}],
                        "labels": [{"operator": "upsert", "value": {"z": "1", "y": "2"}}],
                    },
                }
            ]
        },
        kind="ClusterOverridePolicy",
    ),
]
OBJECTS = [
    *(
        workload(kind, f"{bound}-{kind.lower()}-{number}", replicas, bound)
        for bound in ("even", "free", "weighted", "packed", "copied")
        for kind in ("Deployment", "StatefulSet")
        for number, replicas in enumerate((1, 7, 50))
    ),
    plain("Secret", "shared", stringData={"token": "x"}),
]
CONFIGS = [plain("ConfigMap", f"{one['metadata']['name']}-config", data={"k": "v"}) for one in OBJECTS[:-1]]


def a_fleet(root: Path, *, shuffle: int | None = None) -> Path:
    """The fleet on disk; ``shuffle`` says in which order documents stand, and in how many files."""
    chance = random.Random(shuffle)
    groups = {
        "clusters": [member(name, number) for number, name in enumerate(MEMBERS)],
        "policies": POLICIES,
        "manifests": [*OBJECTS, *CONFIGS],
    }
    root.mkdir()
    head = {"apiVersion": "kadm.io/v1alpha1", "kind": "Fleet", "metadata": {"name": "shop"}, "spec": {}}
    (root / "kadm.yaml").write_text(json.dumps(head), encoding="utf-8")
    for folder, documents in groups.items():
        (root / folder).mkdir()
        files = 1
        if shuffle is not None:
            documents = chance.sample(documents, len(documents))
            files = 3
        for index in range(files):
            text = "\n---\n".join(json.dumps(document) for document in documents[index::files])
            (root / folder / f"{index}.yaml").write_text(text, encoding="utf-8")
    return root


def run(fleet: Path, *, seed: str) -> bytes:
    command = [sys.executable, "-m", "tests.schedule.whole_run", str(fleet)]
    environ = {**os.environ, "PYTHONHASHSEED": seed, "LC_ALL": "C", "TZ": f"UTC+{int(seed) % 12}"}
    done = subprocess.run(command, cwd=ROOT, env=environ, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


@pytest.fixture(scope="module")
def plain_run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, bytes]:
    fleet = a_fleet(tmp_path_factory.mktemp("same") / "fleet")
    return fleet, run(fleet, seed="0")


def test_the_run_is_about_something(plain_run: tuple[Path, bytes]) -> None:
    decided, rendered, again, _ = json.loads(plain_run[1])
    assert (len(decided), sorted(rendered)) == (len(OBJECTS) + len(CONFIGS) + 1, sorted([*MEMBERS, "problems"]))
    assert {outcome["outcome"] for key, outcome in decided.items() if key != "problems"} == {"scheduled", "following"}
    assert again.keys() == decided.keys()


@pytest.mark.parametrize("seed", ["1", "4711"])
def test_the_hash_seed_changes_nothing(plain_run: tuple[Path, bytes], seed: str) -> None:
    fleet, want = plain_run
    assert run(fleet, seed=seed) == want


@pytest.mark.parametrize("shuffle", [1, 2])
def test_the_order_of_files_and_documents_changes_nothing(
    plain_run: tuple[Path, bytes], tmp_path: Path, shuffle: int
) -> None:
    assert run(a_fleet(tmp_path / "fleet", shuffle=shuffle), seed="0") == plain_run[1]
