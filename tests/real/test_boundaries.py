"""An apply killed at any request that writes, before it or after it, and run again ends where an undisturbed one ends.

A request that reads changes nothing: a kill there is one after the write before it.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple

import pytest

from kadm.model.applyset import applyset_id
from tests.e2e.audit import Audit, Request, audited
from tests.e2e.running import BIN
from tests.e2e.test_sigkill import record
from tests.real.access import Access
from tests.real.conftest import MakeFleet
from tests.real.fleet import Fleet
from tests.real.members import Members

pytestmark = [pytest.mark.e2e, pytest.mark.real, pytest.mark.timeout(3600)]

EXHAUSTIVE = "KADM_EXHAUSTIVE"
"""Set to kill at every boundary; else at a few, of as many kinds as there are."""
SAMPLE = 8
SEED = 20261129
FLAGS = ("--yes", "--adopt-all", "--allow-deletes", "20")
SETTLED_WITHIN_S = 20.0
ASK_AGAIN_S = 0.1

Json = Any

POLICY = """\
apiVersion: core.kubeadmiral.io/v1alpha1
kind: ClusterPropagationPolicy
metadata: {{name: spread}}
spec:
  schedulingMode: Divide
  placement:
  - {{cluster: member1, preferences: {{weight: {first}}}}}
  - {{cluster: member2, preferences: {{weight: {second}}}}}
  reschedulePolicy:
    rescheduleWhen: {{policyContentChanged: true}}
    replicaRescheduling: {{avoidDisruption: false}}
"""


def deployment(name: str, *, image: str = "app:1", replicas: int = 1, strategy: str = "", labels: str = "") -> str:
    return f"""\
apiVersion: apps/v1
kind: Deployment
metadata: {{name: {name}, namespace: $NS, labels: {{{labels}}}}}
spec:
  replicas: {replicas}
  {strategy}
  selector: {{matchLabels: {{app: {name}}}}}
  template:
    metadata: {{labels: {{app: {name}}}}}
    spec: {{containers: [{{name: main, image: "{image}"}}]}}
"""


def config(name: str, data: str = 'a: "1"', *, namespace: str = "$NS", more: str = "", annotations: str = "") -> str:
    return f"""\
apiVersion: v1
kind: ConfigMap
metadata: {{name: {name}, namespace: {namespace}, annotations: {{{annotations}}}}}
data: {{{data}}}
{more}
"""


def secret(name: str, value: str) -> str:
    return f"""\
apiVersion: v1
kind: Secret
metadata: {{name: {name}, namespace: $NS}}
stringData: {{a: {value}}}
"""


def namespace(name: str) -> str:
    return f"apiVersion: v1\nkind: Namespace\nmetadata: {{name: {name}}}\n"


SERVICE = """\
apiVersion: v1
kind: Service
metadata: {name: front, namespace: $NS}
spec: {selector: {app: moves}, ports: [{name: web, port: 80}]}
"""
SPREAD = "kubeadmiral.io/cluster-propagation-policy-name: spread"
ROLLING = "strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 1, maxUnavailable: 0}}"
RECREATED = 'kadm.io/recreate: "true"'
SEALED = "immutable: true"

BEFORE = (
    deployment("moves", replicas=4, labels=SPREAD),
    deployment("rolls"),
    deployment("switches", strategy=ROLLING),
    deployment("goes"),
    config("loses-a-field", 'a: "1", b: "2"'),
    config("goes"),
    config("is-released"),
    config("is-recreated", more=SEALED, annotations=RECREATED),
    secret("rotates", "one"),
    namespace("$NS-old"),
    config("goes", namespace="$NS-old"),
)
AFTER = (
    deployment("moves", replicas=4, labels=SPREAD),
    deployment("rolls", image="app:2"),
    deployment("switches", strategy="strategy: {type: Recreate}"),
    deployment("comes"),
    SERVICE,
    config("loses-a-field"),
    config("is-adopted"),
    config("is-recreated", 'a: "2"', more=SEALED, annotations=RECREATED),
    secret("rotates", "two"),
    secret("comes", "one"),
    namespace("$NS-new"),
    config("comes", namespace="$NS-new"),
)
NAMESPACES = ("", "-old", "-new")
LEAVES = frozenset({"goes"})
RUNNING_AFTER = {"member1": 4, "member2": 6}
"""Pods in the end: rolls, switches and comes in each, and 1 or 3 of moves."""

KINDS = {
    "Deployment": "/apis/apps/v1/namespaces/{}/deployments",
    "ReplicaSet": "/apis/apps/v1/namespaces/{}/replicasets",
    "Pod": "/api/v1/namespaces/{}/pods",
    "Service": "/api/v1/namespaces/{}/services",
    "ConfigMap": "/api/v1/namespaces/{}/configmaps",
    "Secret": "/api/v1/namespaces/{}/secrets",
}
OF_THE_MEMBER = {"kube-root-ca.crt", "kubernetes.io/service-account-token"}
"""A ConfigMap's name, and a Secret's type: every namespace has its own."""


class Boundary(NamedTuple):
    """The ``number``-th request of its sort is about to be forwarded, or was answered and nobody was told yet."""

    member: str
    method: str
    path: str
    number: int
    side: Literal["before", "after"]

    def __str__(self) -> str:
        return f"{self.side} {self.method} {self.path} ({self.number}) in {self.member}"

    @property
    def kind(self) -> tuple[str, ...]:
        """What is alike: the verb, the resource, and the side."""
        return self.method, "/".join(self.path.split("/namespaces/")[-1].split("/")[1:2]), self.side


@dataclass
class Blade:
    """Notes the boundaries that a run comes to, and kills it at one of them. A hook of the audit."""

    fleet: str
    at: Boundary | None = None
    process: subprocess.Popen[bytes] | None = None
    struck: bool = False
    boundaries: list[Boundary] = field(default_factory=list)
    deleted: Counter[tuple[str, str]] = field(default_factory=Counter)
    """How often a member said that it deletes an object."""
    _seen: Counter[tuple[str, ...]] = field(default_factory=Counter)

    def __call__(self, request: Request, status: int | None) -> bool:
        if not request.writes:
            return True
        path = request.path.replace(self.fleet, "$NS")
        side: Literal["before", "after"] = "before" if status is None else "after"
        if request.method == "DELETE" and status in (200, 202):
            self.deleted[request.member, path] += 1
        key = (request.member, request.method, path)
        self._seen[(*key, side)] += 1
        boundary = Boundary(*key, self._seen[(*key, side)], side)
        self.boundaries.append(boundary)
        if boundary != self.at or self.process is None:
            return True
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.struck = True
        return False


@dataclass(frozen=True)
class Ended:
    """What an apply, or a killed one and the next, left. ``state`` has no uids, times and versions.

    ``replaced``: objects that were there at the start and in the end are others. ``kept``: how many of the pods of the
    start are left, by member and workload.
    """

    state: Json
    replaced: frozenset[str]
    kept: Json
    boundaries: tuple[Boundary, ...]


@dataclass
class Round:
    """One fleet of its own, brought to the start state."""

    fleet: Fleet
    audit: Audit
    uids: dict[str, str] = field(default_factory=dict)
    pods: Json = None

    @property
    def names(self) -> tuple[str, ...]:
        return self.fleet.members.names[:2]

    def start(self) -> None:
        """What is there before the apply that is killed."""
        fleet = self.fleet
        fleet.join(*self.names)
        self._write(BEFORE, first=3, second=1)
        for access in self._accesses():
            made(access, fleet.name, "is-released")
        fleet.kadm("apply", *FLAGS)
        for access in self._accesses():
            made(access, fleet.name, "is-adopted")
        self._write(AFTER, first=1, second=3)
        self.uids, self.pods = self._uids(), self._pods()

    def killed(self, blade: Blade) -> None:
        """Run the apply under the blade."""
        self.audit.hook = blade
        fleet = self.fleet
        blade.process = subprocess.Popen(
            [str(BIN / "kadm"), "-C", str(fleet.root), "apply", *FLAGS],
            cwd=fleet.tools.cwd,
            env=fleet.tools.environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        blade.process.wait(120)

    def again(self, blade: Blade) -> frozenset[str]:
        """Run the apply to its end; the objects that another one took the place of since."""
        there = self._uids()
        blade.process = None
        self.fleet.kadm("apply", *FLAGS)
        return replaced(there, self._uids())

    def ended(self, blade: Blade, want: Ended | None = None) -> Ended:
        """What is there once everything is as it must be, or the time for it is over."""
        deadline = time.monotonic() + SETTLED_WITHIN_S
        while True:
            found = Ended(
                {member: self._state(member) for member in self.names},
                replaced(self.uids, self._uids()),
                self._kept(),
                tuple(blade.boundaries),
            )
            as_wanted = self._is_settled() if want is None else (found.state, found.kept) == (want.state, want.kept)
            if as_wanted or time.monotonic() > deadline:
                return found
            time.sleep(ASK_AGAIN_S)

    def _write(self, manifests: Iterable[str], *, first: int, second: int) -> None:
        self.fleet.write("policies/spread.yaml", POLICY.format(first=first, second=second))
        text = "---\n".join(manifests).replace("$NS", self.fleet.name)
        self.fleet.write("manifests/all.yaml", text)

    def _accesses(self) -> Iterator[Access]:
        return (self.fleet.members.access(name) for name in self.names)

    def _listed(self, member: str, kinds: Iterable[str] = KINDS) -> Iterator[tuple[str, Json]]:
        """Kind and object of everything that the fleet could have made, and that is not on its way out."""
        access = self.fleet.members.access(member)
        for suffix in NAMESPACES:
            name = self.fleet.name + suffix
            found = access.there(f"/api/v1/namespaces/{name}")
            if found is None or "deletionTimestamp" in found["metadata"]:
                continue
            yield "Namespace", found
            for kind in kinds:
                for item in access.call("GET", KINDS[kind].format(name))["items"]:
                    own = item["metadata"]["name"] not in OF_THE_MEMBER and item.get("type") not in OF_THE_MEMBER
                    if own and "deletionTimestamp" not in item["metadata"]:
                        yield kind, item

    def _uids(self) -> dict[str, str]:
        """Member and object → uid, but for what controllers make."""
        kinds = KINDS.keys() - {"Pod", "ReplicaSet"}
        return {
            self._alike(f"{member} {named(kind, item)}"): item["metadata"]["uid"]
            for member in self.names
            for kind, item in self._listed(member, sorted(kinds))
        }

    def _pods(self) -> Json:
        """Member → uid of a pod → its workload."""
        return {
            member: {
                item["metadata"]["uid"]: item["metadata"]["labels"]["app"]
                for kind, item in self._listed(member, ["Pod"])
                if kind == "Pod"
            }
            for member in self.names
        }

    def _kept(self) -> Json:
        now = self._pods()
        return {
            member: dict(sorted(Counter(app for uid, app in self.pods[member].items() if uid in now[member]).items()))
            for member in self.names
        }

    def _state(self, member: str) -> Json:
        """Everything that must be equal: specs, labels, generations, what kadm owns, and its record.

        Its Lease is not: one that a killed run leaves with nothing to do expires by itself.
        """
        found = {named(kind, item): essence(kind, item) for kind, item in self._listed(member) if kind != "Pod"}
        access = self.fleet.members.access(member)
        own = f"kadm-{self.fleet.name}"
        for plural in ("configmaps", "secrets"):
            for item in access.call("GET", f"/api/v1/namespaces/kadm-system/{plural}")["items"]:
                name = item["metadata"]["name"]
                if name == own or name.startswith(f"{own}."):
                    found[f"{plural}/{name}"] = record(item) if name == own and plural == "configmaps" else "there"
        alike = json.loads(self._alike(json.dumps(found, sort_keys=True)))
        tracked = alike["configmaps/kadm-$NS"]
        tracked["objects"] = [one for one in tracked["objects"] if not _may_be_on_its_way_out(one)]
        return alike

    def _alike(self, text: str) -> str:
        """The text as it is in every round, whatever its fleet is called."""
        own = self.fleet.name
        return text.replace(applyset_id(f"kadm-{own}"), "$SET").replace(own, "$NS")

    def _is_settled(self) -> bool:
        """Whether the controllers have done what an undisturbed apply leaves to them."""
        running = {member: len(pods) for member, pods in self._pods().items()}
        sets = [
            item for member in self.names for kind, item in self._listed(member, ["ReplicaSet"]) if kind != "Namespace"
        ]
        return running == RUNNING_AFTER and not any(one["metadata"]["name"].startswith("goes-") for one in sets)


def made(access: Access, fleet: str, name: str) -> None:
    """A ConfigMap that somebody else made, in a namespace that may not be there yet."""
    if access.there(f"/api/v1/namespaces/{fleet}") is None:
        access.call("POST", "/api/v1/namespaces", {"metadata": {"name": fleet}})
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"a": "1", "theirs": "2"}}
    query = {"fieldManager": "before-first-apply"}
    access.call("POST", f"/api/v1/namespaces/{fleet}/configmaps", body, query=query)


def named(kind: str, item: Json) -> str:
    return f"{kind}/{item['metadata'].get('namespace', '')}/{item['metadata']['name']}"


def _may_be_on_its_way_out(recorded: Json) -> bool:
    """A namespace takes its time to go: the run that finds it being deleted keeps it in the record."""
    return (recorded["kind"], recorded["name"]) == ("Namespace", "$NS-old")


def replaced(before: dict[str, str], after: dict[str, str]) -> frozenset[str]:
    return frozenset(key for key in before.keys() & after.keys() if before[key] != after[key])


def essence(kind: str, item: Json) -> Json:
    """What must be equal of an object."""
    metadata, spec = item["metadata"], dict(item.get("spec", {}))
    if kind == "ReplicaSet":
        return {"replicas": spec["replicas"], "template": spec["template"]}
    for name in ("clusterIP", "clusterIPs"):
        spec.pop(name, None)
    owned = [
        (one["manager"], one["operation"], one["fieldsV1"])
        for one in metadata.get("managedFields", ())
        if one["manager"].startswith("kadm")
    ]
    return {
        "labels": metadata.get("labels", {}),
        "annotations": metadata.get("annotations", {}),
        "generation": metadata.get("generation"),
        "spec": spec,
        "data": item.get("data", {}),
        "owned": sorted(owned, key=str),
    }


def different(found: Json, want: Json, path: str = "") -> dict[str, tuple[Json, Json]]:
    """Path → what is there and what should be, for every value that differs."""
    if isinstance(found, dict) and isinstance(want, dict):
        parts: Iterable[tuple[object, Json, Json]] = (
            (name, found.get(name), want.get(name)) for name in sorted(found.keys() | want.keys())
        )
    elif isinstance(found, list) and isinstance(want, list) and len(found) == len(want):
        parts = zip(range(len(found)), found, want, strict=True)
    else:
        return {} if found == want else {path: (found, want)}
    return {key: pair for name, one, other in parts for key, pair in different(one, other, f"{path} {name}").items()}


def sample(boundaries: Iterable[Boundary]) -> list[Boundary]:
    """Some of the boundaries, of as many kinds as they are; all of them where the environment asks for that."""
    every = sorted(boundaries)
    if os.environ.get(EXHAUSTIVE):
        return every
    seed = random.Random(SEED)
    seed.shuffle(every)
    seen: Counter[tuple[str, ...]] = Counter()
    turns = {}
    for boundary in every:
        seen[boundary.kind] += 1
        turns[boundary] = seen[boundary.kind]
    return sorted(every, key=lambda boundary: turns[boundary])[:SAMPLE]


@pytest.fixture
def audit(members: Members, tmp_path: Path) -> Iterator[Audit]:
    if len(members.names) < 2:
        pytest.skip("a workload moves from one member to another")
    with audited(members.directory, tmp_path) as running:
        yield running


def test_killed_at_a_boundary_and_run_again(fleet: MakeFleet, audit: Audit) -> None:
    def started() -> Round:
        audit.hook = lambda _request, _status: True
        one = Round(fleet(), audit)
        one.fleet.tools.env["KUBECONFIG"] = str(audit.kubeconfig)
        one.start()
        return one

    undisturbed = started()
    blade = Blade(undisturbed.fleet.name)
    audit.hook = blade
    undisturbed.fleet.kadm("apply", *FLAGS)
    want = undisturbed.ended(blade)
    undisturbed.fleet.nothing_to_do()
    faults: dict[str, Json] = {}
    missed = []
    chosen = sample(want.boundaries)
    for boundary in chosen:
        one = started()
        blade = Blade(one.fleet.name, boundary)
        one.killed(blade)
        if not blade.struck:
            missed.append(str(boundary))
        meanwhile = one.again(blade)
        found = one.ended(blade, want)
        plan = one.fleet.kadm("plan", "--detailed-exitcode", code=None)
        fault = {
            "state": different(found.state, want.state),
            "pods kept": {} if found.kept == want.kept else (found.kept, want.kept),
            "replaced": found.replaced ^ want.replaced,
            "replaced by the second run": meanwhile - found.replaced,
            "deleted twice": {key: count for key, count in blade.deleted.items() if count > 1},
            "plan": {} if plan.code == 0 else plan.out,
        }
        if any(fault.values()):
            faults[str(boundary)] = {name: value for name, value in fault.items() if value}
    assert not faults, json.dumps(faults, indent=1, default=str)
    assert len(missed) <= len(chosen) // 4, missed
