"""Auto-migration at work against one member: whose clock counts."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import format_datetime

import msgspec
import pytest
from aiohttp import web

from kadm.members.connection import Connection
from kadm.members.migration import write_migration
from kadm.model.cluster import FederatedCluster
from kadm.model.decision import Decision
from kadm.model.migration import Estimate, LearnedWorkload, MigrationState
from kadm.model.objects import JsonObject, ObjectKey
from kadm.model.observation import MemberState
from kadm.model.repository import Manifest, Repo
from kadm.watch.links import Links
from kadm.watch.member import MemberWatch
from kadm.watch.migration import text_of
from kadm.watch.migrator import Migrator
from kadm.watch.seen import Seen
from tests.members.fake_member import FakeMember, a_cluster, run, serving
from tests.schedule.builders import a_deployment, a_policy, a_repo, at
from tests.watch.test_member import Told

API = ObjectKey("apps", "Deployment", "default", "api")
WEB = ObjectKey("apps", "Deployment", "default", "web")
PODS = "/api/v1/namespaces/default/pods"
SETS = "/apis/apps/v1/namespaces/default/replicasets"
THRESHOLD_S = 60


class Ahead(FakeMember):
    """A member whose clock is ahead of this machine's, and says so."""

    seconds = 0.0

    def now(self) -> float:
        return time.time() + self.seconds

    async def handle(self, request: web.Request) -> web.StreamResponse:
        answer = await super().handle(request)
        answer.headers["Date"] = format_datetime(datetime.fromtimestamp(self.now(), UTC), usegmt=True)
        return answer


class ToOne(Links):
    """Leads to one member, whatever is asked for."""

    def __init__(self, connection: Connection) -> None:
        super().__init__(request_timeout_s=5, parallel=1, environ={})
        self._connection = connection

    async def reader(self, name: str) -> Connection:
        return self._connection

    async def writer(self, name: str) -> Connection:
        return self._connection


@dataclass
class Ground:
    """What the migrator stands on: each workload has three replicas in one member. ``learned`` is what it tells."""

    links: Links
    repo: Repo
    watches: Mapping[str, MemberWatch]
    writing: bool = True
    overridden: Mapping[str, JsonObject] = field(default_factory=dict)
    learned: list[str] = field(default_factory=list)

    def manifest(self, key: ObjectKey) -> Manifest | None:
        return next((one for one in self.repo.manifests if one.key == key), None)

    def rendered(self, member: str, key: ObjectKey) -> JsonObject | None:
        return self.overridden.get(member)

    def decision(self, key: ObjectKey) -> Decision | None:
        return Decision(key=key, outcome="scheduled", placement={"eu": 3}, replicas=3)

    def moving(self, key: ObjectKey) -> bool:
        return False

    def migrated(self, member: str, key: ObjectKey, text: str) -> None:
        self.learned.append(f"{member} {key}: {text}")

    def arrived(self, member: str, key: ObjectKey, replicas: int) -> None:
        pass

    def failed_over(self, member: str, key: ObjectKey, text: str) -> None:
        pass

    def doubts(self, text: str) -> None:
        pass


def a_workload(name: str, *, runs: int = 0) -> JsonObject:
    """A Deployment of three replicas, of which two are ready; or of ``runs``, which all are."""
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": "default", "uid": "d", "generation": 1},
        "spec": {"replicas": runs or 3, "selector": {"matchLabels": {}}},
        "status": {"observedGeneration": 1, "replicas": runs or 3, "readyReplicas": runs or 2},
    }


def waits(since: float) -> JsonObject:
    """A pod that finds no node since then."""
    condition = {
        "type": "PodScheduled",
        "status": "False",
        "reason": "Unschedulable",
        "message": "0/2 nodes are available",
        "lastTransitionTime": text_of(since),
    }
    return {"metadata": {"ownerReferences": [{"uid": "rs"}]}, "status": {"conditions": [condition]}}


@asynccontextmanager
async def at_work(repo: Repo, *, waits_s: float, ahead_s: float = 0.0) -> AsyncIterator[tuple[Migrator, Ground, Ahead]]:
    """A migrator that was told of no workload yet: in each, one pod of three waits for so long."""
    cluster = a_cluster()
    member = Ahead(objects=cluster.objects, answers=cluster.answers)
    member.seconds = ahead_s
    member.add(f"{SETS}/rs", {"metadata": {"uid": "rs", "ownerReferences": [{"uid": "d"}]}})
    member.add(f"{PODS}/waits", waits(member.now() - waits_s))
    for name in ("one", "two"):
        member.add(f"{PODS}/{name}", {"metadata": {"ownerReferences": [{"uid": "rs"}]}})
    async with serving(member), member.connection() as connection:
        watches = {one.name: a_watch(one.name, connection) for one in repo.clusters}
        ground = Ground(ToOne(connection), repo, watches)
        yield Migrator(ground), ground, member


@pytest.mark.parametrize("ahead_s", [-3600.0, 0.0, 3600.0], ids=["behind", "the same", "ahead"])
@pytest.mark.parametrize(("waits_s", "migrates"), [(THRESHOLD_S + 5, True), (THRESHOLD_S - 30, False)])
def test_how_long_a_pod_waits_is_told_by_its_members_clock(ahead_s: float, waits_s: float, migrates: bool) -> None:
    async def scene() -> list[str]:
        async with at_work(a_fleet(a_cluster_of("eu")), waits_s=waits_s, ahead_s=ahead_s) as (migrator, ground, member):
            migrator.touch("eu", WEB)
            task = asyncio.create_task(migrator.run())
            while not any(PODS in request for request in member.requests) or (migrates and not ground.learned):
                assert not task.done()
                await asyncio.sleep(0.02)
            task.cancel()
            return ground.learned

    said = "1 of 3 replicas do not run: Unschedulable: 0/2 nodes are available"
    assert run(scene()) == ([f"eu {WEB}: {said}"] if migrates else [])


@pytest.mark.parametrize(
    ("repo", "suspended", "other"),
    [
        pytest.param(
            lambda: a_fleet(a_cluster_of("eu", suspended=True), a_cluster_of("us")),
            ("eu", WEB),
            ("us", WEB),
            id="member",
        ),
        pytest.param(lambda: a_fleet(a_cluster_of("eu"), suspended="api"), ("eu", API), ("eu", WEB), id="object"),
    ],
)
def test_nothing_is_learned_where_writing_is_switched_off(
    repo: Callable[[], Repo], suspended: tuple[str, ObjectKey], other: tuple[str, ObjectKey]
) -> None:
    async def scene() -> list[str]:
        async with at_work(repo(), waits_s=THRESHOLD_S + 5) as (migrator, ground, _):
            migrator.touch(*suspended)
            task = asyncio.create_task(migrator.run())
            await asyncio.sleep(0)  # it looks at the first now, and at the second when it is done with that
            migrator.touch(*other)
            while not ground.learned:
                assert not task.done()
                await asyncio.sleep(0.02)
            task.cancel()
            return ground.learned

    assert [text.partition(":")[0] for text in run(scene())] == [f"{other[0]} {other[1]}"]


@pytest.mark.parametrize(
    ("cpu", "said"),
    [
        pytest.param("2", [f"eu {WEB}: there is room for 2 more: it is trusted again"], id="one on each node"),
        pytest.param("3", [], id="more than a node has"),
    ],
)
def test_room_is_looked_for_with_what_the_member_must_hold(cpu: str, said: list[str]) -> None:
    async def scene() -> list[str]:
        async with at_work(a_fleet(a_cluster_of("eu")), waits_s=0) as (migrator, ground, member):
            overridden = a_deployment()
            overridden["spec"]["template"]["spec"]["containers"][0]["resources"] = {"requests": {"cpu": cpu}}
            ground.overridden = {"eu": overridden}
            ground.watches["eu"].objects[WEB] = Seen(mark=b"", slim=msgspec.json.encode(a_workload("web", runs=1)))
            for name in ("n1", "n2"):
                member.add(f"/api/v1/nodes/{name}", {"status": {"allocatable": {"cpu": "2", "pods": "9"}}})
            member.add("/api/v1/namespaces/kadm-system", {})
            await write_migration(await ground.links.writer("eu"), was_full(member.now()))
            migrator.touch("eu", WEB)
            task = asyncio.create_task(migrator.run())
            while not any(one.startswith("PUT") for one in member.requests) or (said and not ground.learned):
                assert not task.done()
                await asyncio.sleep(0.02)
            task.cancel()
            return ground.learned

    assert run(scene()) == said


def was_full(now: float) -> MigrationState:
    """The member could run one replica of ``web``, and its cool-down is over."""
    full = Estimate(capacity=1, since=text_of(now - 900), until=text_of(now - 60))
    learned = LearnedWorkload(group="apps", kind="Deployment", namespace="default", name="web", estimate=full)
    return MigrationState(fleet="shop", member_uid="uid-eu", workloads=(learned,))


def a_cluster_of(name: str, *, suspended: bool = False) -> FederatedCluster:
    annotations = {"kadm.io/suspend": "true"} if suspended else {}
    return FederatedCluster(name=name, location=at(f"clusters/{name}.yaml"), annotations=annotations)


def a_fleet(*clusters: FederatedCluster, suspended: str = "") -> Repo:
    """Two Deployments of three replicas each, of which one may be suspended."""
    policy = a_policy(autoMigration={"when": {"podUnschedulableFor": f"{THRESHOLD_S}s"}})
    objects = [
        a_deployment(name, replicas=3, annotations={"kadm.io/suspend": "true"} if name == suspended else {})
        for name in ("api", "web")
    ]
    return a_repo(clusters, policies=[policy], objects=objects)


def a_watch(name: str, connection: Connection) -> MemberWatch:
    async def connect() -> Connection:
        return connection

    watch = MemberWatch("shop", name, connect, Told(), set_id="s", lists=asyncio.Semaphore(1))
    watch.state = MemberState(name=name, uid=f"uid-{name}", version="v1", api_resources=())
    watch.synced = True
    watch.objects |= {key: Seen(mark=b"", slim=msgspec.json.encode(a_workload(key.name))) for key in (API, WEB)}
    return watch
