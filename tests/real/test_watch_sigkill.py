"""A daemon that is killed at any moment of a migration or a new commit: no replica is lost, and none is there twice
but for what keepUnschedulableReplicas allows.

Each life of the daemon begins with what the one before it left. Mostly it puts that in order first; then the next
commit comes, a member fills or has room again, and after a random time the daemon is killed. Sometimes it is killed
while it puts things in order. All the time somebody looks on.
"""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest

from tests.e2e.access import MERGE
from tests.e2e.daemon import watching
from tests.e2e.watched_fleet import commit, config, git, migrate
from tests.real.conftest import MakeFleet
from tests.real.fleet import Fleet
from tests.real.members import Members, Sort

pytestmark = [pytest.mark.e2e, pytest.mark.real, pytest.mark.timeout(3600)]

MOMENTS: dict[Sort, int] = {"sandbox": 3, "real": 2}
EVERY_MOMENT = 25
"""With KADM_EXHAUSTIVE=1, on either sort. Numbers count twice: both ways of keepUnschedulableReplicas."""
EXHAUSTIVE = os.environ.get("KADM_EXHAUSTIVE") == "1"
SEED = 20261129
LONGEST_S = 6.0
WHILE_IN_ORDER_S = (0.2, 4.0)
SETTLED_WITHIN_S = 120.0
LOOK_AGAIN_S = 0.02
FEWEST, MOST = 6, 18

WEB = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {kubeadmiral.io/cluster-propagation-policy-name: migrate}}
spec:
  replicas: REPLICAS
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      nodeSelector: {ROOM: "yes"}
      containers: [{name: app, image: "app:1"}]
"""


@dataclass(frozen=True)
class Look:
    """The workload in each member at one moment: replicas and ready ones."""

    replicas: tuple[int, ...]
    ready: tuple[int, ...]


class Ground:
    """One fleet whose first member can be filled: its nodes lose the label that the workload's pods ask for."""

    def __init__(self, fleet: Fleet) -> None:
        self.fleet = fleet
        self.room = f"room-{fleet.name}"
        self.members = [fleet.members.access(name) for name in fleet.members.names[:3]]

    def fill(self, number: int, *, full: bool) -> None:
        member = self.members[number]
        for node in member.call("GET", "/api/v1/nodes")["items"]:
            label = {"metadata": {"labels": {self.room: None if full else "yes"}}}
            member.call("PATCH", f"/api/v1/nodes/{node['metadata']['name']}", label, media_type=MERGE)

    @contextmanager
    def labelled(self) -> Iterator[None]:
        """Room everywhere at first, and no label left after the block."""
        for number in range(3):
            self.fill(number, full=False)
        try:
            yield
        finally:
            for number in range(3):
                self.fill(number, full=True)

    def commit(self, total: int, value: str, *, keep: bool) -> None:
        self.fleet.write("policies/migrate.yaml", migrate(after="1s", keep=keep))
        self.fleet.write("manifests/web.yaml", WEB.replace("REPLICAS", str(total)).replace("ROOM", self.room))
        self.fleet.write("manifests/c.yaml", config(value))
        commit(self.fleet.root)

    def look(self) -> Look:
        """All members at one moment: they are read until nothing changed between two readings."""
        before: Any = None
        while (now := [self._web(number) for number in range(3)]) != before:
            before = now
        return Look(tuple(one[1] for one in now), tuple(one[2] for one in now))

    def _web(self, number: int) -> tuple[str, int, int]:
        path = f"/apis/apps/v1/namespaces/{self.fleet.name}/deployments/web"
        web = self.members[number].there(path)
        if web is None:
            return "", 0, 0
        return web["metadata"]["resourceVersion"], web["spec"]["replicas"], web["status"].get("readyReplicas", 0)

    def values(self) -> list[str]:
        path = f"/api/v1/namespaces/{self.fleet.name}/configmaps/c"
        return [(member.there(path) or {"data": {"v": ""}})["data"]["v"] for member in self.members]


@dataclass(frozen=True, kw_only=True)
class Act:
    """What was asked for last, and how it stood before. ``full``: the first member takes no pod any more."""

    total: int
    value: str
    full: bool
    keep: bool
    before: Look
    total_before: int

    def lasts(self, seen: Look) -> None:
        """Fails where a replica was given up too early, or is there twice."""
        ready, was_ready = sum(seen.ready), sum(self.before.ready)
        assert ready >= min(was_ready, self.total), f"given up before another one was ready: {self} {seen}"
        most = max(self.total, self.total_before)
        kept = sum(self.before.replicas) - self.total_before
        believed = min(self.before.ready[0], self.before.replicas[0] - kept)
        assert sum(seen.replicas[1:]) <= most - believed, f"more elsewhere than do not fit: {self} {seen}"
        grows = max(self.total - self.total_before, 0)
        assert seen.replicas[0] <= self.before.replicas[0] + grows, f"more than were asked for: {self} {seen}"
        if not (self.full or self.keep):
            assert sum(seen.replicas) <= most, f"twice: {self} {seen}"

    def done(self, seen: Look) -> bool:
        """Whether all replicas are there, and no more than may be."""
        return sum(seen.ready) >= self.total and (self.keep or sum(seen.replicas) == self.total)


@pytest.mark.parametrize("keep", [pytest.param(False, id="given up"), pytest.param(True, id="kept")])
def test_killed_at_random_moments(members: Members, fleet: MakeFleet, keep: bool) -> None:
    if len(members.names) < 3:
        pytest.skip("replicas move between three members")
    made = fleet()
    ground = Ground(made)
    seed = random.Random(f"{SEED} {keep}")
    moments = EVERY_MOMENT if EXHAUSTIVE else MOMENTS[members.sort]
    made.join(*made.members.names[:3])
    git(ground.fleet.root, "init", "--quiet", "--initial-branch=main")
    with ground.labelled():
        ground.commit(FEWEST, "v", keep=keep)
        nothing = Look((0, 0, 0), (0, 0, 0))
        act = Act(total=FEWEST, value="v", full=False, keep=keep, before=nothing, total_before=0)
        again = False
        for moment in range(moments + 1):
            with watching(made.tools, "--repo", made.root, "--branch", "main", "--interval", "1s") as daemon:
                longest_s = seed.uniform(*WHILE_IN_ORDER_S)
                if not again:
                    in_order(ground, act)
                    if moment == moments:
                        break
                    before = ground.look()
                    total = seed.choice([number for number in range(FEWEST, MOST + 1) if number != act.total])
                    full = seed.random() < 0.5
                    act = Act(
                        total=total, value=f"v{moment}", full=full, keep=keep, before=before, total_before=act.total
                    )
                    ground.fill(0, full=full)
                    ground.commit(total, act.value, keep=keep)
                    longest_s = seed.uniform(0, LONGEST_S)
                until = time.monotonic() + longest_s
                while time.monotonic() < until:
                    act.lasts(ground.look())
                    time.sleep(LOOK_AGAIN_S)
                assert daemon.process.poll() is None, f"it ended by itself:\n{daemon.text}"
                daemon.stop(signal.SIGKILL)
            again = seed.random() < 1 / 3 and moment + 1 < moments


def in_order(ground: Ground, act: Act) -> None:
    """Return once everything is as it was asked for, and a plan is empty."""
    deadline = time.monotonic() + SETTLED_WITHIN_S
    plan = ""
    while True:
        seen = ground.look()
        act.lasts(seen)
        if act.done(seen) and ground.values() == [act.value] * 3:
            said = ground.fleet.kadm("plan", "--detailed-exitcode", code=None)
            if said.code == 0 and ground.look() == seen:
                return
            plan = f"{said.code} {said.out} {said.err}"
        assert time.monotonic() < deadline, f"it does not settle: {act} {seen}\n{plan}"
        time.sleep(LOOK_AGAIN_S)
