"""How full a fleet gets: workloads are added until they ask for nearly all that there is, and all of it must run.

Members are of unequal size, and run something of their own already. Weights are dynamic: what is free when a workload
comes decides where it goes; what does not fit for all that is moved by the daemon.

How even it gets is KubeAdmiral's way to divide: it rounds up for large members first, gives no member more than 1.4
times its part of the fleet, and what runs stays where it is. So a member a third as large as the others is the last to
be filled, and these are of about one size.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from kadm.model.quantity import parse_quantity
from kadm.sandbox.options import SandboxOptions
from kadm.sandbox.process import down, up
from tests.e2e.access import MERGE, Access, access
from tests.e2e.conftest import CLUSTER, FLEET
from tests.e2e.daemon import Daemon, watching
from tests.e2e.running import Tools

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(1800)]

EXHAUSTIVE = os.environ.get("KADM_EXHAUSTIVE") == "1"
SEED = 20261129
ASKED_FOR = 0.97
"""Of the fleet's CPU, in the end."""
ALLOCATED = 0.95
"""Of each member's CPU, at least."""
REQUESTS_M = (250, 500)
REPLICAS = (10, 40)

POLICY = """\
apiVersion: core.kubeadmiral.io/v1alpha1
kind: ClusterPropagationPolicy
metadata: {name: everywhere}
spec:
  schedulingMode: Divide
  autoMigration: {when: {podUnschedulableFor: 1s}}
"""

WEB = """\
apiVersion: apps/v1
kind: Deployment
metadata: {{name: {name}, namespace: default}}
spec:
  replicas: {replicas}
  selector: {{matchLabels: {{app: {name}}}}}
  template:
    metadata: {{labels: {{app: {name}}}}}
    spec: {{containers: [{{name: app, image: "app:1", resources: {{requests: {{cpu: {cpu}m}}}}}}]}}
"""


@dataclass(frozen=True)
class Size:
    """One member: what its nodes have, and what others ask of it already, both in thousandths of a CPU."""

    nodes_m: tuple[int, ...]
    taken_m: int


SIZES = {
    "member1": Size((16_000, 16_000), 2_000),
    "member2": Size((20_000, 20_000), 8_000),
    "member3": Size((24_000, 24_000), 6_000),
}
MORE_SIZES = {
    "member1": Size((30_000, 30_000), 4_000),
    "member2": Size((30_000, 40_000), 8_000),
    "member3": Size((40_000, 40_000), 10_000),
    "member4": Size((50_000, 50_000), 24_000),
}


@dataclass(frozen=True)
class Seen:
    """A member at one moment: the share of its CPU that runs pods, and pods that find no node or are not ready."""

    allocated: float
    waiting: int


@dataclass(frozen=True)
class Ground:
    """Members of these sizes, and a fleet of them."""

    root: Path
    members: dict[str, Access]
    sizes: dict[str, Size]

    def build(self) -> None:
        """Give nodes their sizes, and members what runs there already."""
        for name, size in self.sizes.items():
            member = self.members[name]
            for number, cpu_m in enumerate(size.nodes_m):
                amount = {"cpu": f"{cpu_m}m", "pods": "1000"}
                status = {"status": {"capacity": amount, "allocatable": amount}}
                member.call("PATCH", f"/api/v1/nodes/node-{number}/status", status, media_type=MERGE)
            for number in range(size.taken_m // 500):
                container = {"name": "app", "image": "app:1", "resources": {"requests": {"cpu": "500m"}}}
                pod = {
                    "apiVersion": "v1",
                    "kind": "Pod",
                    "metadata": {"name": f"others-{number}"},
                    "spec": {"containers": [container]},
                }
                member.call("POST", "/api/v1/namespaces/default/pods", pod)

    def write(self, name: str, replicas: int, cpu_m: int) -> None:
        text = WEB.format(name=name, replicas=replicas, cpu=cpu_m)
        (self.root / f"manifests/{name}.yaml").write_text(text, encoding="utf-8")

    def look(self, name: str) -> Seen:
        pods: list[Any] = self.members[name].call("GET", "/api/v1/pods")["items"]
        asked = sum(_cpu_m(pod) for pod in pods if pod["spec"].get("nodeName"))
        return Seen(asked / sum(self.sizes[name].nodes_m), sum(not _ready(pod) for pod in pods))

    def ready(self, name: str) -> tuple[int, int]:
        """Ready replicas of a workload, and those that there are."""
        path = f"/apis/apps/v1/namespaces/default/deployments/{name}"
        found = [one for member in self.members.values() if (one := member.there(path)) is not None]
        return (
            sum(one["status"].get("readyReplicas", 0) for one in found),
            sum(one["spec"]["replicas"] for one in found),
        )


def _cpu_m(pod: Any) -> int:
    return sum(int(parse_quantity(one["resources"]["requests"]["cpu"]) * 1000) for one in pod["spec"]["containers"])


def _ready(pod: Any) -> bool:
    return any(
        one["type"] == "Ready" and one["status"] == "True" for one in pod.get("status", {}).get("conditions") or ()
    )


@pytest.fixture
def ground(tmp_path: Path, tools: Tools) -> Iterator[Ground]:
    sizes = MORE_SIZES if EXHAUSTIVE else SIZES
    directory, root = tmp_path / "sandbox", tmp_path / "fleet"
    up(directory, SandboxOptions(members=len(sizes), start_delay_s=0.05, ready_delay_s=0.05))
    try:
        kubeconfig = directory / "kubeconfig"
        tools.env["KUBECONFIG"] = str(kubeconfig)
        files = {"kadm.yaml": FLEET, "policies/everywhere.yaml": POLICY, "manifests/.keep": ""}
        files |= {f"clusters/{name}.yaml": CLUSTER.format(name=name) for name in sizes}
        for path, text in files.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text, encoding="utf-8")
        ground = Ground(root, {name: access(kubeconfig, name) for name in sizes}, sizes)
        ground.build()
        yield ground
    finally:
        down(directory)


def workloads(ground: Ground) -> list[tuple[str, int, int]]:
    """Name, replicas and thousandths of a CPU of each: together with what runs already they ask for nearly all."""
    seed = random.Random(SEED)
    whole_m = sum(sum(size.nodes_m) for size in ground.sizes.values())
    left_m = int(whole_m * ASKED_FOR) - sum(size.taken_m for size in ground.sizes.values())
    found: list[tuple[str, int, int]] = []
    while left_m >= min(REQUESTS_M):
        cpu_m = seed.choice([one for one in REQUESTS_M if one <= left_m])
        replicas = min(seed.randint(*REPLICAS), left_m // cpu_m)
        found.append((f"web-{len(found)}", replicas, cpu_m))
        left_m -= replicas * cpu_m
    return found


def test_a_fleet_that_is_nearly_full_runs_all_that_it_is_asked_to(ground: Ground, tools: Tools) -> None:
    asked = workloads(ground)
    with watching(tools, "-C", ground.root, "--interval", "1s") as daemon:
        for name, replicas, cpu_m in asked:
            ground.write(name, replicas, cpu_m)
            runs(daemon, ground, name, replicas)
        at_rest(daemon, ground, tools)
        seen = {name: ground.look(name) for name in ground.members}
    assert {name: one for name, one in seen.items() if one.waiting or one.allocated < ALLOCATED} == {}, seen
    assert daemon.of("failed") == []


def runs(daemon: Daemon, ground: Ground, name: str, replicas: int) -> None:
    """Return once all replicas of a workload run, and no more are there."""
    daemon.wait_until(lambda: ground.ready(name) == (replicas, replicas), f"{name} does not run")


def at_rest(daemon: Daemon, ground: Ground, tools: Tools) -> None:
    """Return once no pod waits and nothing is left to do."""

    def rests() -> bool:
        waits = any(ground.look(name).waiting for name in ground.members)
        return not waits and tools.kadm("-C", ground.root, "plan", "--detailed-exitcode", code=None).code == 0

    daemon.wait_until(rests, "it does not come to rest")
