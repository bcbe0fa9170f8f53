"""An apply killed at any of its requests and run again ends where an undisturbed one ends.

A boundary is the moment before any request, and the one after each that writes. There is none after a read: nothing
that can be seen happens between its answer and the next request. Before the first write all kills leave what was there,
so that many of them share a fleet.
"""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import pytest

from tests.e2e.access import Access
from tests.e2e.audit import Audit, audited, everything
from tests.e2e.running import Said, Tools
from tests.real.blade import Blade, Boundary
from tests.real.fleet import Fleet, sweep
from tests.real.look import Look
from tests.real.members import Members

pytestmark = [pytest.mark.e2e, pytest.mark.real, pytest.mark.timeout(7200)]

EXHAUSTIVE = "KADM_EXHAUSTIVE"
"""Set to kill at every boundary; else at a few, of as many kinds as there are."""
ONLY = "KADM_BOUNDARIES"
"""Of every boundary only those that this pattern finds, as the test prints them."""
WRITES, LATE_READS, EARLY_READS = 8, 2, 6
SEED = 20261129
AT_ONCE = 2
"""Rounds at the same time: much of each is waiting."""
READS_IN_A_ROUND = 20
FLAGS = ("--yes", "--adopt-all", "--allow-deletes", "20")
SETTLED_WITHIN_S = 60.0
ASK_AGAIN_S = 0.2

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
RUNNING_AFTER = {"member1": 4, "member2": 6}
"""Pods in the end: rolls, switches and comes in each, and 1 or 3 of moves."""


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
    tools: Tools
    accesses: dict[str, Access]
    first: Look | None = None

    def start(self) -> None:
        """What is there before the apply that is killed."""
        fleet = self.fleet
        fleet.join(*self.accesses)
        self._write(BEFORE, first=3, second=1)
        for access in self.accesses.values():
            made(access, fleet.name, "is-released")
        fleet.kadm("apply", *FLAGS)
        for access in self.accesses.values():
            made(access, fleet.name, "is-adopted")
        self._write(AFTER, first=1, second=3)
        self.first = self.look()

    def killed(self, blade: Blade) -> None:
        """Run the apply under the blade."""
        self.audit.hook = blade
        run = self.tools.begin("-C", self.fleet.root, "apply", *FLAGS)
        blade.pid.set_result(run.pid)
        self.tools.ended(run)
        blade.dead.set()

    def again(self, blade: Blade) -> tuple[Said, frozenset[str]]:
        """Run the apply to its end; what it said, and the objects that another one took the place of since."""
        there = self.look()
        blade.sheathe()
        said = self.fleet.kadm("apply", *FLAGS, code=None)
        return said, self.look().replaced(there)

    def ended(self, blade: Blade, want: Ended | None = None) -> Ended:
        """What is there once everything is as it must be, or the time for it is over."""
        assert self.first is not None
        deadline = time.monotonic() + SETTLED_WITHIN_S
        while True:
            seen = self.look()
            found = Ended(seen.state(), seen.replaced(self.first), seen.kept(self.first), tuple(blade.boundaries))
            as_wanted = is_settled(seen) if want is None else (found.state, found.kept) == (want.state, want.kept)
            if as_wanted or time.monotonic() > deadline:
                return found
            time.sleep(ASK_AGAIN_S)

    def _write(self, manifests: Iterable[str], *, first: int, second: int) -> None:
        self.fleet.write("policies/spread.yaml", POLICY.format(first=first, second=second))
        text = "---\n".join(manifests).replace("$NS", self.fleet.name)
        self.fleet.write("manifests/all.yaml", text)

    def look(self) -> Look:
        return Look.at(self.accesses, self.fleet.name)


def is_settled(seen: Look) -> bool:
    """Whether the controllers have done what an undisturbed apply leaves to them."""
    running = {member: len(pods) for member, pods in seen.pods().items()}
    return running == RUNNING_AFTER and not any(
        kind == "ReplicaSet" and item["metadata"]["name"].startswith("goes-")
        for objects in seen.objects.values()
        for kind, item in objects
    )


def made(access: Access, fleet: str, name: str) -> None:
    """A ConfigMap that somebody else made, in a namespace that may not be there yet."""
    if access.there(f"/api/v1/namespaces/{fleet}") is None:
        access.call("POST", "/api/v1/namespaces", {"metadata": {"name": fleet}})
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"a": "1", "theirs": "2"}}
    query = {"fieldManager": "before-first-apply"}
    access.call("POST", f"/api/v1/namespaces/{fleet}/configmaps", body, query=query)


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


def chosen(boundaries: Iterable[Boundary], few: int) -> list[Boundary]:
    """A few of the boundaries, of as many kinds as they are; all of them where the environment asks for that."""
    every = sorted(boundaries)
    if os.environ.get(EXHAUSTIVE):
        wanted = re.compile(os.environ.get(ONLY, ""))
        return [one for one in every if wanted.search(str(one))]
    seed = random.Random(SEED)
    seed.shuffle(every)
    seen: Counter[tuple[str, ...]] = Counter()
    turns = {}
    for boundary in every:
        seen[boundary.kind] += 1
        turns[boundary] = seen[boundary.kind]
    return sorted(every, key=lambda boundary: turns[boundary])[:few]


@dataclass
class Place:
    """Where rounds are played, one after the other."""

    members: Members
    audit: Audit
    tools: Tools
    accesses: dict[str, Access]

    @contextmanager
    def round(self) -> Iterator[Round]:
        """A fleet in the start state, which is taken away afterwards."""
        self.audit.hook = everything
        one = Round(Fleet(self.members, self.tools), self.audit, self.tools, self.accesses)
        self.tools.env["KUBECONFIG"] = str(self.audit.kubeconfig)
        try:
            one.start()
            yield one
        finally:
            sweep(self.members, one.fleet.name)
            shutil.rmtree(one.fleet.root)

    def undisturbed(self) -> Ended:
        """What an apply leaves that nobody kills, and the boundaries that it comes to."""
        with self.round() as one:
            blade = Blade(one.fleet.name)
            self.audit.hook = blade
            one.fleet.kadm("apply", *FLAGS)
            want = one.ended(blade)
            one.fleet.nothing_to_do()
            return want

    def killed_at(self, boundaries: Sequence[Boundary], want: Ended) -> Found:
        """Kill a run at each of the boundaries, in one fleet, then run again. All but the last are before any write."""
        found = Found()
        with self.round() as one:
            for boundary in boundaries:
                blade = Blade(one.fleet.name, boundary)
                one.killed(blade)
                if not blade.struck:
                    found.missed.append(boundary)
                if blade.wrote and boundary != boundaries[-1]:
                    found.faults[str(boundary)] = "it wrote before it had read everything"
                    return found
            said, meanwhile = one.again(blade)
            ended = one.ended(blade, want)
            plan = one.fleet.kadm("plan", "--detailed-exitcode", code=None)
            fault = {
                "second run": {} if said.code == 0 else f"{said.code}: {said.out}{said.err}",
                "state": different(ended.state, want.state),
                "pods kept": {} if ended.kept == want.kept else (ended.kept, want.kept),
                "replaced": ended.replaced ^ want.replaced,
                "replaced by the second run": meanwhile - ended.replaced,
                "deleted twice": {key: count for key, count in blade.deleted.items() if count > 1},
                "plan": {} if plan.code == 0 else f"{plan.code}: {plan.out}{plan.err}",
            }
            if any(fault.values()):
                found.faults[str(boundaries[-1])] = {name: value for name, value in fault.items() if value}
        return found


@dataclass
class Found:
    """What was wrong, by boundary, and the boundaries that a run did not come to."""

    faults: dict[str, Json] = field(default_factory=dict)
    missed: list[Boundary] = field(default_factory=list)


@pytest.fixture
def places(members: Members, tmp_path: Path) -> Iterator[list[Place]]:
    if len(members.names) < 2:
        pytest.skip("a workload moves from one member to another")
    with ExitStack() as stack:
        found = []
        for number in range(AT_ONCE):
            directory = tmp_path / f"place{number}"
            directory.mkdir()
            audit = stack.enter_context(audited(members.directory, directory))
            found.append(
                Place(members, audit, Tools(directory), {name: members.access(name) for name in members.names[:2]})
            )
        yield found


def test_killed_at_a_boundary_and_run_again(places: list[Place]) -> None:
    want = places[0].undisturbed()
    first = next(at for at, boundary in enumerate(want.boundaries) if not boundary.reads)
    before, after = want.boundaries[:first], want.boundaries[first:]
    early = chosen(before, EARLY_READS)
    late = chosen((one for one in after if one.reads), LATE_READS)
    writes = chosen((one for one in after if not one.reads), WRITES)
    rounds = [[boundary] for boundary in (*late, *writes)]
    rounds += [early[at : at + READS_IN_A_ROUND] for at in range(0, len(early), READS_IN_A_ROUND)]
    free = SimpleQueue[Place]()
    for place in places:
        free.put(place)

    def played(boundaries: Sequence[Boundary]) -> Found:
        place = free.get()
        try:
            return place.killed_at(boundaries, want)
        except (AssertionError, OSError) as fault:
            return Found({str(boundaries[-1]): repr(fault)})
        finally:
            free.put(place)

    faults: dict[str, Json] = {}
    missed: list[Boundary] = []
    with ThreadPoolExecutor(len(places)) as threads:
        for number, (boundaries, found) in enumerate(zip(rounds, threads.map(played, rounds), strict=True), start=1):
            print(f"{number}/{len(rounds)}", *boundaries, found, sep="\n  ", flush=True)
            faults |= found.faults
            missed += found.missed
    assert not faults, json.dumps(faults, indent=1, default=str)
    assert not [str(one) for one in missed if one.always_comes]
    assert len(missed) <= sum(map(len, rounds)) // 4, [str(one) for one in missed]
