"""The daemon on real API servers, with their scheduler and their controllers: what does not run in a member runs
elsewhere, what changes in git or in a member is followed, and of two daemons one writes.

Tests share their members. What a fleet's pods find in one is its own: an extended resource and labels of nodes that
nobody else asks for, and a node of its own where one is lost.
"""

from __future__ import annotations

import json
import signal
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.access import MERGE
from tests.e2e.daemon import Daemon, watching
from tests.e2e.watched_fleet import config
from tests.real.conftest import MakeFleet
from tests.real.fleet import Fleet
from tests.real.members import Members

pytestmark = [pytest.mark.e2e, pytest.mark.real, pytest.mark.timeout(600)]

Json = Any
MEMBERS = ("member1", "member2", "member3")
MANY = 100
FEW = 2
"""Pods that there is room for in the first member."""

DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {name}
  namespace: {namespace}
  labels: {{kubeadmiral.io/cluster-propagation-policy-name: {policy}}}
spec:
  replicas: {replicas}
  selector: {{matchLabels: {{app: {name}}}}}
  template:
    metadata: {{labels: {{app: {name}}}}}
    spec:
      containers: [{{name: app, image: "app:1"{container}}}]
{pod}"""

POLICY = """\
apiVersion: core.kubeadmiral.io/v1alpha1
kind: ClusterPropagationPolicy
metadata: {{name: {name}, annotations: {{kadm.io/migration-cool-down: 3s}}}}
spec:
  schedulingMode: Divide
  placement:
  - {{cluster: member1, preferences: {{weight: 1}}}}
  - {{cluster: member2, preferences: {{weight: 1}}}}
  - {{cluster: member3, preferences: {{weight: 1}}}}
  autoMigration: {{when: {{podUnschedulableFor: 1s}}, keepUnschedulableReplicas: {keep}}}
"""

NAMESPACE = "apiVersion: v1\nkind: Namespace\nmetadata: {{name: {name}}}\n"
QUOTA = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "few"}, "spec": {"hard": {"pods": str(FEW)}}}


@dataclass
class Ground:
    """One fleet in three members, and what its pods find there."""

    fleet: Fleet

    def __post_init__(self) -> None:
        self.members = [self.fleet.members.access(name) for name in MEMBERS]
        self.label = f"kind-{self.fleet.name}"
        self.own_node = f"node-{self.fleet.name}"

    # What there is in members.

    def resource(self, name: str) -> str:
        """The extended resource that nobody but this workload asks for."""
        return f"example.com/{self.fleet.name}-{name}"

    def slots(self, member: int, name: str, count: int | None) -> None:
        """So many pods of this workload find a place in the member; None: nobody knows of its resource any more."""
        amount = {self.resource(name): None if count is None else str(count)}
        status = {"status": {"capacity": amount, "allocatable": amount}}
        self.members[member].call("PATCH", "/api/v1/nodes/node-0/status", status, media_type=MERGE)

    def mark(self, member: int, node: str, kind: str | None) -> None:
        """Pods that ask for nodes of this kind find the node; None: they do not any more."""
        label = {"metadata": {"labels": {self.label: kind}}}
        self.members[member].call("PATCH", f"/api/v1/nodes/{node}", label, media_type=MERGE)

    def node_is(self, ready: str, reason: str) -> None:
        """What the fleet's own node in the first member says of itself."""
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        condition = {"type": "Ready", "status": ready, "reason": reason, "lastTransitionTime": now}
        amount = {"cpu": "4", "memory": "8Gi", "pods": "110"}
        status = {"status": {"capacity": amount, "allocatable": amount, "conditions": [condition]}}
        self.members[0].call("PATCH", f"/api/v1/nodes/{self.own_node}/status", status, media_type=MERGE)

    @contextmanager
    def with_room(self) -> Iterator[None]:
        """Room for all that the cases ask for, but where their sort says otherwise; nothing of it after the block."""
        own = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": self.own_node}}
        path = f"/api/v1/nodes/{self.own_node}"
        try:
            self.members[0].call("POST", "/api/v1/nodes", own)
            self.node_is("True", "Played")
            taint = {
                "key": self.label,
                "value": "lost",
                "effect": "NoSchedule",
            }  # whom it is not for, it is not to take
            self.members[0].call("PATCH", path, {"spec": {"taints": [taint]}}, media_type=MERGE)
            self.mark(0, self.own_node, "lost")
            for name in COUNTED:
                for member, _ in enumerate(MEMBERS):
                    self.slots(member, name, FEW if member == 0 else MANY)
            for member in (1, 2):
                self.mark(member, "node-0", "lost")
                self.mark(member, "node-1", "affine")
            yield
        finally:
            self.members[0].ask("DELETE", path)
            for member, _ in enumerate(MEMBERS):
                for name in COUNTED:
                    self.slots(member, name, None)
                for node in ("node-0", "node-1"):
                    self.mark(member, node, None)

    # Workloads.

    def write(self, one: Workload, replicas: int) -> None:
        text = DEPLOYMENT.format(
            name=one.name,
            namespace=one.namespace or self.fleet.name,
            policy=one.policy,
            replicas=replicas,
            container=SLOT.replace("RESOURCE", self.resource(one.name)) if one.name in COUNTED else "",
            pod=one.pod.replace("LABEL", self.label),
        )
        self.fleet.write(f"manifests/{one.name}.yaml", text)

    def counts(self, one: Workload) -> tuple[list[int], list[int]]:
        """Replicas and ready ones by member; 0 where it is not."""
        path = f"/apis/apps/v1/namespaces/{one.namespace or self.fleet.name}/deployments/{one.name}"
        found = [member.there(path) or {} for member in self.members]
        replicas = [one.get("spec", {}).get("replicas", 0) for one in found]
        return replicas, [one.get("status", {}).get("readyReplicas", 0) for one in found]

    def values(self) -> list[str]:
        path = f"/api/v1/namespaces/{self.fleet.name}/configmaps/c"
        return [(member.there(path) or {"data": {"v": ""}})["data"]["v"] for member in self.members]

    def is_empty(self, daemon: Daemon) -> None:
        """Return once a plan is empty; fails where it does not come to that."""
        daemon.wait_until(lambda: self.fleet.kadm("plan", "--detailed-exitcode", code=None).code == 0, "plan")


@dataclass(frozen=True, kw_only=True)
class Workload:
    """A Deployment of which ``runs`` replicas can run in the first member. ``placed`` are left there, ``total`` are
    there in all when those that cannot run there run elsewhere. ``why``: the daemon says so."""

    name: str
    replicas: int
    runs: int
    placed: int
    why: str
    total: int = 0
    policy: str = "gives-up"
    namespace: str = ""
    pod: str = ""

    def has_arrived(self, replicas: list[int], ready: list[int]) -> bool:
        there = (replicas[0], ready[0], sum(replicas), sum(ready))
        return there == (self.placed, self.runs, self.total or self.replicas, self.replicas)


COUNTED = ("full", "kept")
"""Workloads whose pods there is a counted number of places for."""

SLOT = ', resources: {requests: {RESOURCE: "1"}, limits: {RESOURCE: "1"}}'
AFFINITY = """\
      affinity:
        nodeAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
            nodeSelectorTerms: [{matchExpressions: [{key: LABEL, operator: In, values: [affine]}]}]
"""
ON_OWN_NODE = """\
      nodeSelector: {LABEL: lost}
      tolerations: [{key: LABEL, operator: Exists, effect: NoSchedule}]
"""

NO_NODE = "replicas do not run: Unschedulable"


def workloads(fleet: str) -> tuple[Workload, ...]:
    """One for each reason for which a replica cannot run in a member."""
    return (
        Workload(name="full", replicas=15, runs=FEW, placed=FEW, why=f"3 of 5 {NO_NODE}"),
        Workload(name="kept", replicas=9, runs=FEW, placed=3, total=10, policy="keeps", why=f"1 of 3 {NO_NODE}"),
        Workload(name="affine", replicas=6, runs=0, placed=0, pod=AFFINITY, why=f"2 of 2 {NO_NODE}"),
        Workload(name="limited", replicas=12, runs=FEW, placed=FEW, namespace=f"{fleet}-few", why="exceeded quota"),
        Workload(name="lost", replicas=6, runs=0, placed=0, pod=ON_OWN_NODE, why="its node is not ready: NodeStatus"),
    )


@pytest.fixture
def ground(members: Members, fleet: MakeFleet) -> Ground:
    if len(members.names) < len(MEMBERS):
        pytest.skip("replicas move between three members")
    made = fleet()
    made.join(*MEMBERS)
    for name, keep in (("gives-up", "false"), ("keeps", "true")):
        made.write(f"policies/{name}.yaml", POLICY.format(name=name, keep=keep))
    return Ground(made)


def watch(ground: Ground, *flags: str | Path, state: str = "state") -> AbstractContextManager[Daemon]:
    return watching(ground.fleet.tools, "-C", ground.fleet.root, "--interval", "1s", *flags, state=state)


def test_what_does_not_run_in_a_member_runs_elsewhere(ground: Ground) -> None:
    cases = workloads(ground.fleet.name)
    full, kept, _, limited, lost = cases
    ground.fleet.write("manifests/few.yaml", NAMESPACE.format(name=limited.namespace))
    for one in cases:
        ground.write(one, one.replicas if one is not limited else 6)
    with ground.with_room():
        with watch(ground, "--status-dir", ground.fleet.root.parent / "shown") as daemon:
            for one in (limited, lost):  # well at first
                daemon.wait_until(lambda: ground.counts(one) == ([2, 2, 2], [2, 2, 2]), f"{one.name} is not well")  # noqa: B023
            ground.members[0].call("POST", f"/api/v1/namespaces/{limited.namespace}/resourcequotas", QUOTA)
            ground.write(limited, limited.replicas)
            ground.node_is("Unknown", "NodeStatusUnknown")
            for one in cases:
                daemon.wait_until(lambda: one.has_arrived(*ground.counts(one)), f"{one.name} has not moved")  # noqa: B023
                told = about(daemon, "migration", one)
                assert any(one.why in message for message in told), f"{one.name}: {told}"
            ground.is_empty(daemon)
            begun = [message for message in about(daemon, "moved", full) if "begin" in message]
            assert len(begun) == 1, begun
            shown = ground.fleet.root.parent / f"shown/{ground.fleet.name}/Deployment.apps/full.json"
            daemon.wait_until(lambda: json.loads(shown.read_text())["status"]["readyReplicas"] == full.replicas)

        # What was learned is in the members: nothing more goes where there is no room, whoever plans it.
        ground.write(full, full.replicas + 1)
        assert {one["cluster"] for one in ground.fleet.plan()["changes"]} in ({"member2"}, {"member3"})
        assert full.why in ground.fleet.kadm("explain", "deploy/full", "-n", ground.fleet.name).out

        for name in COUNTED:
            ground.slots(0, name, MANY)
        with watch(ground) as daemon:
            daemon.wait_until(lambda: ground.counts(kept) == ([3, 3, 3], [3, 3, 3]), "what waited runs, and is enough")
            daemon.wait_until(lambda: any("trusted again" in one for one in about(daemon, "migration", full)), "room")
            assert ground.counts(full)[0][0] == FEW, "what runs elsewhere stays there"
            ground.write(full, 18)
            daemon.wait_until(lambda: sum(ground.counts(full)[1]) == 18, "not all run")
            replicas, _ = ground.counts(full)
            assert (sum(replicas), replicas[0] > FEW) == (18, True), replicas
            ground.is_empty(daemon)


def about(daemon: Daemon, kind: str, one: Workload) -> list[str]:
    """What the daemon said of a workload, in events of this kind."""
    return [event["message"] for event in daemon.of(kind) if event["object"].endswith(f"/{one.name}")]


def test_git_and_members_are_followed_by_one_of_two_daemons(ground: Ground) -> None:
    def put(value: str) -> None:
        ground.fleet.write("manifests/c.yaml", config(value))

    def all_are(value: str) -> Callable[[], bool]:
        return lambda: ground.values() == [value] * len(MEMBERS)

    path = f"/api/v1/namespaces/{ground.fleet.name}/configmaps/c"
    put("first")
    with watch(ground) as first:
        first.wait_until(all_are("first"))
        with watch(ground, state="other") as second:
            assert f"(process {first.process.pid})" in second.wait_for("writer")["message"]
            ground.members[1].call("PATCH", path, {"data": {"v": "drifted"}}, media_type=MERGE)
            assert first.wait_for("drift", "data.v")["member"] == MEMBERS[1]
            first.wait_until(all_are("first"), "it was not corrected")
            put("second")
            first.wait_until(all_are("second"))
            second.wait_for("commit", count=2)
            assert second.of("applied") == []
            first.stop(signal.SIGKILL)
            second.wait_for("writer", count=2)
            put("third")
            second.wait_until(all_are("third"))
            ground.is_empty(second)
