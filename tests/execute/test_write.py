"""Carrying out one change."""

from __future__ import annotations

import pytest
from aiohttp import web
from msgspec.structs import replace

from kadm.execute.write import write
from kadm.model.applyset import PART_OF
from kadm.model.desired import DesiredObject
from kadm.model.objects import JsonObject, key_of
from kadm.model.observation import ApiResource
from kadm.model.plan import Change
from tests.members.fake_member import FakeMember, always_json, in_turn, run, serving, status

CONFIG_MAPS = ApiResource(group="", version="v1", kind="ConfigMap", plural="configmaps", namespaced=True)
PATH = "/api/v1/namespaces/shop/configmaps/a"
CONFIG: JsonObject = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "shop"}}
RECREATE = Change(
    cluster="eu",
    key=key_of(CONFIG),
    version="v1",
    action="recreate",
    desired=DesiredObject(key=key_of(CONFIG), version="v1", object=CONFIG, digest=""),
    uid="old",
)


def stored(uid: str, **metadata: str) -> web.Response:
    entry = {"manager": "kadm-shop", "operation": "Apply", "fieldsV1": {}}
    metadata = {**CONFIG["metadata"], "uid": uid, "resourceVersion": "7", **metadata}
    return web.json_response({**CONFIG, "metadata": {**metadata, "managedFields": [entry]}}, status=201)


def going() -> web.Response:
    return stored("old", deletionTimestamp="2026-01-01T00:00:00Z")


def gone() -> web.Response:
    return status(404, "NotFound")


def test_what_is_released_may_be_busy() -> None:
    """Its status is written between the read and the patch: the patch is made anew."""
    member = FakeMember()
    fields = {"labels": {PART_OF: "set"}, "managedFields": [{"manager": "kadm-shop", "operation": "Apply"}]}
    member.add(PATH, {**CONFIG, "metadata": {**CONFIG["metadata"], "uid": "u", **fields}})
    busy = iter([True, False])

    async def patch(request: web.Request) -> web.StreamResponse:
        if next(busy):
            member.add(PATH, member.objects[PATH])
        return member._store(request)

    member.answers["PATCH", PATH] = patch

    async def body() -> JsonObject:
        async with serving(member), member.connection() as connection:
            change = replace(RECREATE, action="release", desired=None, uid="u")
            await write(connection, CONFIG_MAPS, change, manager="kadm-shop", set_id="set")
            after: JsonObject = member.objects[PATH]["metadata"]
            return after

    after = run(body())
    assert (after["labels"], after["managedFields"]) == ({}, [{}])


def sent(member: FakeMember) -> list[str]:
    """The requests that write, once what is recreated is gone."""

    async def body() -> None:
        async with serving(member), member.connection() as connection:
            written = await write(connection, CONFIG_MAPS, RECREATE, manager="kadm-shop", set_id="set")
            assert (written.uid, written.origin) == ("new", "created")

    run(body())
    return [request.split()[0] for request in member.requests if not request.startswith("GET")]


def test_what_is_recreated_is_deleted_awaited_and_made() -> None:
    member = FakeMember(
        answers={
            ("GET", PATH): in_turn(lambda: stored("old"), going, going, gone),
            ("DELETE", PATH): always_json({}),
            ("PATCH", PATH): in_turn(lambda: stored("new")),
        }
    )
    assert sent(member) == ["DELETE", "PATCH"]


def test_what_a_killed_run_recreates_is_not_deleted_again() -> None:
    member = FakeMember(
        answers={("GET", PATH): in_turn(going, going, gone), ("PATCH", PATH): in_turn(lambda: stored("new"))}
    )
    assert sent(member) == ["PATCH"]


@pytest.mark.parametrize(
    ("finalizers", "want"),
    [
        pytest.param(["kubernetes.io/pvc-protection", "example.com/hold"], "example.com/hold", id="another tool's"),
        pytest.param(["example.com/hold", "b.io/x"], "example.com/hold, b.io/x", id="two of them"),
        pytest.param(["notkubernetes.io/x"], "notkubernetes.io/x", id="a domain that only ends alike"),
        pytest.param(["kubernetes.io/pvc-protection"], "", id="it goes with its pods"),
        pytest.param(["service.kubernetes.io/load-balancer-cleanup"], "", id="it goes with its load balancer"),
        pytest.param(["customresourcecleanup.apiextensions.k8s.io"], "", id="it goes with its objects"),
        pytest.param(["foregroundDeletion"], "", id="it goes with what it owns"),
        pytest.param([], "", id="it is gone"),
    ],
)
def test_what_a_deleted_object_waits_for_is_told(finalizers: list[str], want: str) -> None:
    member = FakeMember(answers={("DELETE", PATH): always_json({"metadata": {"finalizers": finalizers}})})

    async def body() -> list[str]:
        async with serving(member), member.connection() as connection:
            change = replace(RECREATE, action="delete", desired=None)
            written = await write(connection, CONFIG_MAPS, change, manager="kadm-shop", set_id="set")
            return [note.what for note in written.notes]

    assert run(body()) == ([f"it is deleted, but goes only once {want} lets it"] if want else [])
