"""The ready-made policies that users copy: each does what its comments say, on a fleet with labels and taints.

Everything runs offline: the repository is loaded as kadm does, then scheduled and rendered for members made here, whose
records grow as an apply would write them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

from kadm import pipeline, repo
from kadm.errors import Problem
from kadm.execute.bookkeeping import intended, trimmed
from kadm.model.objects import JsonObject, ObjectKey
from kadm.model.observation import ApiResource, MemberState, Observation
from kadm.model.plan import Change
from kadm.model.record import Record

POLICIES = Path(__file__).parents[1] / "policies"
NOW = datetime(2026, 1, 1, tzinfo=UTC)
WEB = ObjectKey("apps", "Deployment", "default", "web")
SERVED = tuple(
    ApiResource(group="apps", version="v1", kind=kind, plural=f"{kind.lower()}s", namespaced=True)
    for kind in ("DaemonSet", "Deployment", "StatefulSet")
)

FLEET = "apiVersion: kadm.io/v1alpha1\nkind: Fleet\nmetadata: {name: test}\n"

MEMBERS: Mapping[str, dict[str, Any]] = {
    "member1": {"labels": {"region": "eu", "provider": "acme"}},
    "member2": {"labels": {"region": "us", "provider": "globex", "stage": "canary"}},
    "member3": {
        "labels": {"region": "us", "provider": "none", "dedicated": "batch"},
        "taints": [{"key": "dedicated", "value": "batch", "effect": "NoSchedule"}],
    },
}
"""Member → its labels and taints, for each policy to tell apart."""

UNTAINTED: Mapping[str, dict[str, Any]] = {name: {**said, "taints": []} for name, said in MEMBERS.items()}


@dataclass
class Rehearsal:
    """A fleet on disk, and the records that its members would have after every apply so far."""

    root: Path
    policy: tuple[str, str]
    """The kind of the binding label, e.g. ``cluster-propagation-policy-name``, and its value."""
    members: Mapping[str, dict[str, Any]] = field(default_factory=lambda: UNTAINTED)
    replicas: int = 8
    image: str = "shop/web:1"
    containers: dict[str, Any] = field(default_factory=dict)
    records: dict[str, Record] = field(default_factory=dict)

    def apply(self) -> dict[str, JsonObject]:
        """Plan once, and record it as an apply would; member → the Deployment there, members without it left out."""
        loaded = repo.load(self._written(), environ={})
        assert loaded.warnings == ()
        observation = Observation(
            {
                name: MemberState(
                    name=name, uid=name, version="v1.36.2", api_resources=SERVED, record=self.records.get(name)
                )
                for name in sorted(self.members)
            }
        )
        decisions, desired = pipeline.place(loaded, observation, now=NOW)
        told: tuple[Problem, ...] = (*decisions.problems, *desired.problems)
        assert told == ()
        found: dict[str, JsonObject] = {}
        for name in self.members:
            wanted = {one.key: one for one in desired.members[name].objects} if name in desired.members else {}
            record = intended(
                self.records.get(name),
                fleet="test",
                member=name,
                member_uid=name,
                commit="",
                changes=[
                    Change(cluster=name, key=key, version=one.version, action="create") for key, one in wanted.items()
                ],
                decisions=decisions,
                moves=(),
                gone=(),
            )
            left = [entry.key for entry in record.objects if entry.key not in wanted]
            self.records[name] = trimmed(record, removed=left, decisions=decisions, moves=(), unfinished=())
            if WEB in wanted:
                found[name] = wanted[WEB].object
        return found

    def numbers(self) -> dict[str, int]:
        """Apply; member → its replicas."""
        return {name: one["spec"]["replicas"] for name, one in self.apply().items()}

    def images(self) -> dict[str, str]:
        """Apply; member → the image of its container."""
        return {name: container(one)["image"] for name, one in self.apply().items()}

    def _written(self) -> Path:
        labels = {f"kubeadmiral.io/{label}": name for label, name in [self.policy]}
        labels.setdefault("kubeadmiral.io/cluster-propagation-policy-name", "everywhere")
        clusters = [
            {
                "apiVersion": "core.kubeadmiral.io/v1alpha1",
                "kind": "FederatedCluster",
                "metadata": {"name": name, "labels": said["labels"]},
                "spec": {"taints": said.get("taints", [])},
            }
            for name, said in self.members.items()
        ]
        web = {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": "web", "labels": labels},
            "spec": {
                "replicas": self.replicas,
                "selector": {"matchLabels": {"app": "web"}},
                "template": {
                    "metadata": {"labels": {"app": "web"}},
                    "spec": {"containers": [{"name": "app", "image": self.image, **self.containers}]},
                },
            },
        }
        for folder in ("clusters", "manifests", "policies"):
            (self.root / folder).mkdir(parents=True, exist_ok=True)
        (self.root / "kadm.yaml").write_text(FLEET)
        (self.root / "clusters/all.yaml").write_text(yaml.safe_dump_all(clusters))
        (self.root / "manifests/web.yaml").write_text(yaml.safe_dump(web))
        for file in POLICIES.glob("*.yaml"):
            (self.root / "policies" / file.name).write_bytes(file.read_bytes())
        return self.root


def container(deployment: JsonObject) -> JsonObject:
    found: JsonObject = deployment["spec"]["template"]["spec"]["containers"][0]
    return found


def placed_by(root: Path, name: str, **others: Any) -> Rehearsal:
    return Rehearsal(root, ("cluster-propagation-policy-name", name), **others)


def overridden_by(root: Path, name: str, **others: Any) -> Rehearsal:
    return Rehearsal(root, ("cluster-override-policy-name", name), **others)


def test_every_policy_is_tested_here() -> None:
    names = {yaml.safe_load(file.read_text())["metadata"]["name"] for file in POLICIES.glob("*.yaml")}
    assert sorted(name for name in names if f'"{name}"' not in Path(__file__).read_text()) == []


def test_everywhere(tmp_path: Path) -> None:
    fleet = placed_by(tmp_path, "everywhere", replicas=3)
    assert fleet.numbers() == {"member1": 3, "member2": 3, "member3": 3}
    fleet.members = {**UNTAINTED, "member4": {"labels": {}}}
    assert fleet.numbers() == {"member1": 3, "member2": 3, "member3": 3, "member4": 3}, "a member that joins has it"


@pytest.mark.parametrize(
    ("replicas", "want"),
    [
        pytest.param(8, {"member1": 4, "member2": 2, "member3": 2}, id="2 : 1 : 1"),
        pytest.param(100, {"member1": 54, "member2": 26, "member3": 20}, id="the maximum of the third"),
    ],
)
def test_spread_by_weight(tmp_path: Path, replicas: int, want: dict[str, int]) -> None:
    fleet = placed_by(tmp_path, "spread-by-weight", replicas=replicas)
    assert fleet.numbers() == want
    assert fleet.numbers() == want, "planned again, nothing moves"


def test_a_changed_weight_moves_nothing_that_runs(tmp_path: Path) -> None:
    fleet = placed_by(tmp_path, "spread-by-weight")
    before = fleet.numbers()
    file = tmp_path / "policies/heavier.yaml"
    policy = (POLICIES / "spread-by-weight.yaml").read_text()
    assert "{weight: 2}" in policy
    file.write_text(policy.replace("{weight: 2}", "{weight: 9}").replace("name: spread-by-weight", "name: heavier"))
    fleet.policy = ("cluster-propagation-policy-name", "heavier")
    assert fleet.numbers() == before


def test_eu_only_follows_the_label(tmp_path: Path) -> None:
    fleet = placed_by(tmp_path, "eu-only", replicas=2)
    assert fleet.numbers() == {"member1": 2}
    fleet.members = {**UNTAINTED, "member4": {"labels": {"region": "eu"}}, "member5": {"labels": {"region": "us"}}}
    assert fleet.numbers() == {"member1": 2, "member4": 2}, "a new member of the region is used as soon as it joins"
    fleet.members = {**fleet.members, "member1": {"labels": {"region": "us"}}}
    assert fleet.numbers() == {"member4": 2}, "a member that loses the label is left"


def test_one_home_is_chosen_once(tmp_path: Path) -> None:
    fleet = placed_by(tmp_path, "one-home", replicas=1)
    closed = {**UNTAINTED["member1"], "taints": [{"key": "closed", "effect": "NoSchedule"}]}
    fleet.members = {**UNTAINTED, "member1": closed}
    assert fleet.numbers() == {"member2": 1}
    fleet.members = UNTAINTED
    fleet.replicas = 3
    fleet.image = "shop/web:2"
    assert fleet.numbers() == {"member2": 3}, "a better candidate, a changed manifest: it stays"


def test_active_standby(tmp_path: Path) -> None:
    fleet = placed_by(tmp_path, "active-standby", replicas=8)
    assert fleet.numbers() == {"member1": 7, "member2": 1}
    fleet.replicas = 3
    assert fleet.numbers() == {"member1": 2, "member2": 1}


def test_batch_members(tmp_path: Path) -> None:
    assert placed_by(tmp_path / "batch", "batch-members", members=MEMBERS, replicas=2).numbers() == {"member3": 2}
    everything_else = placed_by(tmp_path / "other", "everywhere", members=MEMBERS, replicas=2)
    assert everything_else.numbers() == {"member1": 2, "member2": 2}, "nothing else goes to a tainted member"


def test_canary(tmp_path: Path) -> None:
    assert overridden_by(tmp_path, "canary").images() == {
        "member1": "shop/web:1",
        "member2": "shop/web:canary",
        "member3": "shop/web:1",
    }


def test_registry_mirror(tmp_path: Path) -> None:
    assert overridden_by(tmp_path, "registry-mirror", image="docker.example/shop/web:1").images() == {
        "member1": "mirror.acme.example/shop/web:1",
        "member2": "registry.globex.example/shop/web:1",
        "member3": "docker.example/shop/web:1",
    }


@pytest.mark.parametrize(
    "written",
    [
        pytest.param([{"name": "LOG", "value": "info"}], id="with an environment"),
        pytest.param(None, id="without one"),
    ],
)
def test_region_environment(tmp_path: Path, written: list[dict[str, str]] | None) -> None:
    fleet = overridden_by(tmp_path, "region-environment", containers={"env": written} if written else {})
    found = fleet.apply()
    assert {
        name: (container(one).get("env", []), one["spec"]["template"]["metadata"]["labels"])
        for name, one in found.items()
    } == {
        name: ([*(written or []), {"name": "REGION", "value": region}], {"app": "web", "region": region})
        for name, region in (("member1", "eu"), ("member2", "us"), ("member3", "us"))
    }
