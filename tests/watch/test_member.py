"""Watching one member: synced, kept current, a list again where it is needed, lost and found."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from aiohttp import web

from kadm.errors import MemberUnreachable, Problem
from kadm.members.connection import Connection
from kadm.members.record import write_record
from kadm.model.objects import JsonObject, ObjectKey
from kadm.model.record import Record
from kadm.watch.member import RELIST_S, MemberWatch
from kadm.watch.seen import Seen
from tests.members.fake_member import FakeMember, a_cluster, always_json, run, serving, status

KINDS = {("", "v1", "ConfigMap")}
PATH = "/api/v1/configmaps"


def a_config(value: str, version: int, *, managers: str = "") -> JsonObject:
    """A ConfigMap as it is live."""
    return {
        "metadata": {
            "name": "c",
            "namespace": "a",
            "uid": "u",
            "resourceVersion": str(version),
            "managedFields": [{"manager": managers}],
        },
        "data": {"v": value},
    }


@dataclass
class Told:
    """Hears what happens, in words."""

    heard: list[str] = field(default_factory=list)

    def changed(self, member: str, key: ObjectKey, before: Seen | None, now: Seen | None) -> None:
        what = "gone" if now is None else "new" if before is None else "different"
        self.heard.append(f"{key} {what}")

    def record_changed(self, member: str) -> None:
        self.heard.append("record")

    def pods_changed(self, member: str) -> None:
        self.heard.append("pods")

    def synced(self, member: str) -> None:
        self.heard.append("synced")

    def lost(self, member: str, problem: Problem) -> None:
        self.heard.append("lost")


@dataclass
class Cluster:
    """A member whose ConfigMaps are listed and watched; ``send`` makes a watch bring something."""

    fake: FakeMember = field(default_factory=a_cluster)
    listed: list[JsonObject] = field(default_factory=list)
    lists: int = 0
    watches: list[asyncio.Queue[bytes | None]] = field(default_factory=list)
    refuse: int = 0
    refuse_watches: int = 0

    def __post_init__(self) -> None:
        resource = {"name": "configmaps", "kind": "ConfigMap", "namespaced": True, "verbs": ["list", "watch"]}
        self.fake.answers["GET", "/api"] = always_json({"kind": "APIVersions", "versions": ["v1"]})
        self.fake.answers["GET", "/api/v1"] = always_json({"kind": "APIResourceList", "resources": [resource]})
        self.fake.answers["GET", PATH] = self.answer
        self.fake.answers["GET", "/api/v1/namespaces/kadm-system/configmaps"] = self.record

    async def answer(self, request: web.Request) -> web.StreamResponse:
        if self.refuse:
            return status(self.refuse, "No", "no")
        if request.query.get("watch") != "true":
            self.lists += 1
            return web.json_response({"metadata": {"resourceVersion": "7"}, "items": self.listed})
        if self.refuse_watches:
            return status(self.refuse_watches, "No", "no")
        queue: asyncio.Queue[bytes | None] = asyncio.Queue()
        self.watches.append(queue)
        response = web.StreamResponse()
        await response.prepare(request)
        while (chunk := await queue.get()) is not None:
            await response.write(chunk)
        await response.write_eof()
        return response

    async def record(self, request: web.Request) -> web.StreamResponse:
        if request.query.get("watch") != "true":
            return web.json_response({"metadata": {"resourceVersion": "7"}, "items": []})
        response = web.StreamResponse()
        await response.prepare(request)
        await asyncio.sleep(30)
        return response

    def send(self, kind: str, obj: JsonObject) -> None:
        whole = {"apiVersion": "v1", "kind": "ConfigMap", **obj}
        self.watches[-1].put_nowait(json.dumps({"type": kind, "object": whole}).encode() + b"\n")


@dataclass
class Scene:
    """A member that is watched."""

    cluster: Cluster
    told: Told
    watch: MemberWatch

    async def until(self, true: Callable[[], bool]) -> None:
        while not true():  # noqa: ASYNC110  # several tasks bring it about; the deadline is the test's
            await asyncio.sleep(0.01)


@asynccontextmanager
async def watched(cluster: Cluster, **options: Any) -> AsyncIterator[Scene]:
    cluster.fake.add("/api/v1/namespaces/kadm-system", {"metadata": {"name": "kadm-system"}})
    async with serving(cluster.fake), cluster.fake.connection(read_only=True) as connection:
        async with cluster.fake.connection() as writer:
            await write_record(writer, Record(fleet="shop", member_uid="uid-eu"))
        cluster.fake.requests.clear()

        async def connect() -> Connection:
            return connection

        told = Told()
        options = {"lists": asyncio.Semaphore(4), "pulse_s": 0.1, "pulse_timeout_s": 0.1, **options}
        watch = MemberWatch("shop", "eu", connect, told, set_id="x", **options)
        watch.want(KINDS, pods=False)
        task = asyncio.create_task(watch.run())
        try:
            yield Scene(cluster, told, watch)
        finally:
            task.cancel()
            await asyncio.wait([task])


def scene(body: Callable[[Scene], Coroutine[Any, Any, None]], cluster: Cluster | None = None, **options: Any) -> None:
    async def whole() -> None:
        async with watched(cluster or Cluster(), **options) as found:
            await body(found)

    run(whole())


KEY = "ConfigMap a/c"


def test_it_is_synced_and_then_kept_current() -> None:
    async def body(it: Scene) -> None:
        await it.until(lambda: it.watch.synced and bool(it.cluster.watches))
        it.cluster.send("MODIFIED", a_config("x", 8, managers="somebody"))
        it.cluster.send("MODIFIED", a_config("y", 9))
        it.cluster.send("DELETED", a_config("y", 10))
        await it.until(lambda: it.told.heard[-1] == f"{KEY} gone")
        assert it.told.heard == [f"{KEY} new", "synced", f"{KEY} different", f"{KEY} gone"]
        assert (it.watch.reachable, it.watch.objects) == (True, {})

    scene(body, Cluster(listed=[a_config("x", 7)]))


def test_a_watch_that_ends_goes_on_from_where_it_was() -> None:
    async def body(it: Scene) -> None:
        await it.until(lambda: bool(it.cluster.watches))
        it.cluster.send("BOOKMARK", {"metadata": {"resourceVersion": "99"}})
        it.cluster.watches[0].put_nowait(None)
        await it.until(lambda: len(it.cluster.watches) == 2)
        asked = [request for request in it.cluster.fake.requests if "watch=true" in request and PATH + "?" in request]
        assert [request.partition("resourceVersion=")[2].partition("&")[0] for request in asked] == ["7", "99"]
        assert (it.cluster.lists, it.watch.counts.restarts) == (1, 1)

    scene(body)


def test_a_forgotten_version_costs_a_list_and_nothing_is_missed() -> None:
    async def body(it: Scene) -> None:
        await it.until(lambda: it.watch.synced and bool(it.cluster.watches))
        it.cluster.listed = []
        it.cluster.watches[0].put_nowait(json.dumps({"type": "ERROR", "object": {"code": 410}}).encode() + b"\n")
        await it.until(lambda: len(it.cluster.watches) == 2)
        assert it.told.heard == [f"{KEY} new", "synced", f"{KEY} gone"]
        assert (it.cluster.lists, it.watch.counts.expired, it.watch.reachable) == (2, 1, True)

    scene(body, Cluster(listed=[a_config("x", 7)]))


SOON = (0.1, 0.2)


@pytest.mark.parametrize(
    "refuse_watches", [pytest.param(0, id="a watch that never ends"), pytest.param(403, id="no permission to watch")]
)
def test_whatever_its_watch_says_everything_is_listed_again(refuse_watches: int) -> None:
    async def body(it: Scene) -> None:
        await it.until(lambda: it.watch.synced)
        it.cluster.listed = [a_config("y", 8)]
        await it.until(lambda: it.told.heard[-1] == f"{KEY} different")
        lists = it.cluster.lists
        await it.until(lambda: it.cluster.lists > lists)
        assert (it.told.heard, it.watch.reachable) == ([f"{KEY} new", "synced", f"{KEY} different"], True)

    scene(body, Cluster(listed=[a_config("x", 7)], refuse_watches=refuse_watches), relist_s=SOON)


def test_lists_are_ten_minutes_apart_at_most_and_do_not_come_at_once() -> None:
    least_s, most_s = RELIST_S
    assert most_s <= 600
    assert least_s < most_s


@pytest.mark.parametrize("code", [pytest.param(503, id="503"), pytest.param(401, id="401")])
def test_a_member_that_refuses_is_lost_and_found(code: int) -> None:
    async def body(it: Scene) -> None:
        await it.until(lambda: it.told.heard == ["lost"])
        assert it.watch.silent_since_s is None, "it answers, so nothing may leave it"
        assert (it.watch.reachable, it.watch.first_try.is_set()) == (False, True)
        assert set(it.watch.counts.failures) == {str(code)}
        it.cluster.refuse = 0
        it.watch.try_now()
        await it.until(lambda: it.watch.reachable)
        assert it.told.heard == ["lost", "synced"]

    scene(body, Cluster(refuse=code))


def test_each_reason_for_which_a_member_is_lost_is_told_once() -> None:
    async def body() -> None:
        reasons = ["no connection", "no context eu", "no connection", "no context eu"]

        async def connect() -> Connection:
            if not reasons:
                all_tried.set()
                await asyncio.Event().wait()
            raise MemberUnreachable(reasons.pop(0), member="eu")

        all_tried = asyncio.Event()
        told = Told()
        watch = MemberWatch("shop", "eu", connect, told, set_id="x", lists=asyncio.Semaphore(4))
        task = asyncio.create_task(watch.run())
        await all_tried.wait()
        task.cancel()
        assert told.heard == ["lost", "lost"]

    run(body())


def test_a_member_that_goes_silent_is_lost_although_its_watches_stand() -> None:
    async def body(it: Scene) -> None:
        await it.until(lambda: it.watch.synced)
        await it.until(lambda: any("leases" in request for request in it.cluster.fake.requests))
        assert it.watch.reachable, "there is no Lease, and that is an answer"

        async def silence(_request: web.Request) -> web.StreamResponse:
            await asyncio.sleep(10)
            return web.Response()

        lease = "/apis/coordination.k8s.io/v1/namespaces/kadm-system/leases/kadm-shop"
        it.cluster.fake.answers["GET", lease] = silence
        await it.until(lambda: not it.watch.reachable)
        assert (it.watch.silent_since_s is not None, it.watch.pulse_took_s) == (True, None)
        assert it.told.heard == ["synced", "lost"]
        del it.cluster.fake.answers["GET", lease]
        await it.until(lambda: it.watch.reachable)
        assert it.watch.silent_since_s is None

    scene(body)


def test_a_member_that_cannot_be_asked_is_lost_and_not_silent() -> None:
    """Whatever is wrong with our own credential says nothing of the member: nothing may leave it for that."""

    async def body() -> None:
        async def connect() -> Connection:
            raise MemberUnreachable("no credential", member="eu")

        told = Told()
        watch = MemberWatch("shop", "eu", connect, told, set_id="x", lists=asyncio.Semaphore(4))
        task = asyncio.create_task(watch.run())
        await watch.first_try.wait()
        task.cancel()
        assert (told.heard, watch.reachable, watch.silent_since_s) == (["lost"], False, None)

    run(body())


def test_watches_begin_anew_after_a_pulse_that_was_lost() -> None:
    async def body(it: Scene) -> None:
        await it.until(lambda: it.watch.synced and bool(it.cluster.watches))
        lease = "/apis/coordination.k8s.io/v1/namespaces/kadm-system/leases/kadm-shop"

        async def lose_one(_request: web.Request) -> web.StreamResponse:
            del it.cluster.fake.answers["GET", lease]
            await asyncio.sleep(10)
            return web.Response()

        it.cluster.fake.answers["GET", lease] = lose_one
        await it.until(lambda: len(it.cluster.watches) == 2)
        assert (it.watch.counts.silent, it.watch.reachable, it.cluster.lists) == (2, True, 1)
        assert it.watch.counts.failures == {"timeout": 1}
        assert it.told.heard == ["synced"]
        assert it.watch.pulse_took_s is not None

    scene(body)


def test_a_type_that_comes_later_is_watched_when_it_is_wanted_again() -> None:
    async def body(it: Scene) -> None:
        kinds = KINDS | {("example.com", "v1", "Car")}
        it.watch.want(kinds, pods=False)
        await it.until(lambda: it.watch.synced)
        resource = {"name": "cars", "kind": "Car", "namespaced": True, "verbs": ["list", "watch"]}
        version = {"groupVersion": "example.com/v1", "version": "v1"}
        group = {"name": "example.com", "versions": [version], "preferredVersion": version}
        answers = it.cluster.fake.answers
        answers["GET", "/apis"] = always_json({"kind": "APIGroupList", "groups": [group]})
        answers["GET", "/apis/example.com/v1"] = always_json({"kind": "APIResourceList", "resources": [resource]})
        it.watch.want(kinds, pods=False)
        await it.until(lambda: any("/apis/example.com/v1/cars?" in request for request in it.cluster.fake.requests))
        before = len(it.cluster.fake.requests)
        it.watch.want(kinds, pods=False)
        await asyncio.sleep(0.05)
        asked = [one for one in it.cluster.fake.requests[before:] if one.startswith("GET /api ")]
        assert asked == [], "now that it is served, it is not asked for any more"

    scene(body)


def test_a_type_that_may_not_be_watched_loses_nobody() -> None:
    async def body(it: Scene) -> None:
        await it.until(lambda: it.watch.synced)
        assert it.told.heard == ["synced"]

    scene(body, Cluster(refuse=403))


def test_pods_are_watched_while_they_are_wanted() -> None:
    async def body(it: Scene) -> None:
        pod = {"metadata": {"name": "p", "namespace": "a", "labels": {"app": "web"}}, "spec": {"x": 1}, "status": {}}
        it.cluster.fake.answers["GET", "/api/v1/pods"] = always_json(
            {"metadata": {"resourceVersion": "7"}, "items": [pod]}
        )
        await it.until(lambda: it.watch.synced)
        it.watch.want(KINDS, pods=True)
        await it.until(lambda: bool(it.watch.pods))
        assert [list(one) for one in it.watch.pods.values()] == [["apiVersion", "kind", "metadata", "status"]]
        assert "GET /api/v1/pods?limit=3000&fieldSelector=status.phase%3DPending" in it.cluster.fake.requests
        it.watch.want(KINDS, pods=False)
        await it.until(lambda: not it.watch.pods)

    scene(body)
