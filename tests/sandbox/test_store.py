from __future__ import annotations

import asyncio

import pytest

from kadm.sandbox.store import Expired, Object, Store

PODS = "pods"


def a_pod(name: str, namespace: str = "default", **labels: str) -> Object:
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": namespace, "labels": labels}}


def names(objects: list[Object]) -> list[str]:
    return [f"{obj['metadata']['namespace']}/{obj['metadata']['name']}" for obj in objects]


def test_every_write_raises_the_version_of_what_it_writes() -> None:
    store = Store()
    first = store.create(PODS, a_pod("a"))
    second = store.create("configmaps", a_pod("a"))
    third = store.update(PODS, a_pod("a", x="y"))
    gone = store.delete(PODS, "default", "a")
    assert [obj["metadata"]["resourceVersion"] for obj in (first, second, third, gone)] == ["2", "3", "4", "5"]
    assert store.revision == 5


def test_a_list_is_ordered_by_storage_key() -> None:
    store = Store()
    for namespace, name in (("ns", "b"), ("ns-b", "x"), ("ns", "a"), ("n", "z")):
        store.create(PODS, a_pod(name, namespace))
    assert names(store.list(PODS)) == ["n/z", "ns-b/x", "ns/a", "ns/b"]
    assert names(store.list(PODS, "ns")) == ["ns/a", "ns/b"]


def test_a_list_can_be_had_as_it_was() -> None:
    store = Store()
    store.create(PODS, a_pod("a"))
    then = store.create(PODS, a_pod("b", x="1"))
    store.update(PODS, a_pod("b", x="2"))
    store.delete(PODS, "default", "a")
    store.create(PODS, a_pod("c"))
    was = store.list_at(PODS, int(then["metadata"]["resourceVersion"]))
    assert [(obj["metadata"]["name"], obj["metadata"]["labels"]) for obj in was] == [("a", {}), ("b", {"x": "1"})]


def test_what_is_forgotten_is_expired() -> None:
    store = Store(history=2)
    for name in "abcd":
        store.create(PODS, a_pod(name))
    assert len(store.list_at(PODS, 4)) == 3
    with pytest.raises(Expired):
        store.list_at(PODS, 2)
    with pytest.raises(Expired):
        store.watch([PODS], since=2)


def test_a_watch_gets_the_backlog_and_what_follows_in_order() -> None:
    store = Store()
    store.create(PODS, a_pod("a"))
    since = store.revision
    store.create("secrets", a_pod("s"))
    store.update(PODS, a_pod("a", x="y"))
    watch = store.watch([PODS, "secrets"], since=since)
    store.delete(PODS, "default", "a")
    store.create("configmaps", a_pod("unwatched"))
    seen = []
    while (event := watch.take()) is not None:
        seen.append((event.type, event.resource, event.revision, event.previous is None))
    assert seen == [("ADDED", "secrets", 3, True), ("MODIFIED", PODS, 4, False), ("DELETED", PODS, 5, False)]


def test_a_watch_wakes_its_reader_and_ends_when_closed() -> None:
    async def scenario() -> list[str]:
        store = Store()
        watch = store.watch(None)
        seen: list[str] = []

        async def read() -> None:
            seen.extend([event.object["metadata"]["name"] async for event in watch])

        reader = asyncio.create_task(read())
        await asyncio.sleep(0)
        store.create(PODS, a_pod("a"))
        await asyncio.sleep(0)
        watch.close()
        store.create(PODS, a_pod("b"))
        await asyncio.wait_for(reader, 1)
        return seen

    assert asyncio.run(scenario()) == ["a"]


def test_a_follower_may_write() -> None:
    store = Store()

    def follow(event: object) -> None:
        if store.get("secrets", "default", "made") is None:
            store.create("secrets", a_pod("made"))

    store.on_write(follow)
    watch = store.watch(None)
    store.create(PODS, a_pod("a"))
    seen = [event.resource for event in (watch.take(), watch.take()) if event is not None]
    assert seen == [PODS, "secrets"]
