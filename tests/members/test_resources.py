"""Requests for objects: paths, selectors, pages, and what an answer means."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import msgspec
import pytest
from aiohttp import web

from kadm.errors import MemberRefused
from kadm.members import resources
from kadm.members.connection import Connection
from kadm.members.resources import CONFIG_MAPS, LEASES, NAMESPACES, Applied, url_path
from kadm.model.observation import ApiResource
from tests.members.fake_member import FakeMember, always, always_json, in_turn, run, serving, status

T = TypeVar("T")
PATH = "/api/v1/namespaces/default/configmaps/a"
A = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "default"}, "data": {"k": "v"}}


def using(member: FakeMember, work: Callable[[Connection], Awaitable[T]]) -> T:
    """What ``work`` gives with a connection to the member."""

    async def connected() -> T:
        async with serving(member), member.connection() as connection:
            return await work(connection)

    return run(connected())


@pytest.mark.parametrize(
    ("resource", "place", "want"),
    [
        pytest.param(CONFIG_MAPS, (), "/api/v1/configmaps", id="all namespaces"),
        pytest.param(CONFIG_MAPS, ("a",), "/api/v1/namespaces/a/configmaps", id="one namespace"),
        pytest.param(LEASES, ("a", "b"), "/apis/coordination.k8s.io/v1/namespaces/a/leases/b", id="an object"),
        pytest.param(NAMESPACES, ("", "a"), "/api/v1/namespaces/a", id="cluster scope"),
        pytest.param(NAMESPACES, ("ignored", "a"), "/api/v1/namespaces/a", id="cluster scope, namespace given"),
        pytest.param(NAMESPACES, ("", "a", "status"), "/api/v1/namespaces/a/status", id="subresource"),
        pytest.param(NAMESPACES, ("", "system:a b"), "/api/v1/namespaces/system:a%20b", id="quoted"),
        pytest.param(NAMESPACES, ("", "../x"), "/api/v1/namespaces/..%2Fx", id="no way out of the path"),
    ],
)
def test_url_path(resource: ApiResource, place: tuple[str, ...], want: str) -> None:
    assert url_path(resource, *place) == want


def test_absent_is_what_the_member_calls_absent() -> None:
    async def both(connection: Connection) -> list[Any]:
        return [
            await resources.get(connection, CONFIG_MAPS, "default", "a"),
            await resources.get(connection, CONFIG_MAPS, "default", "b"),
        ]

    assert using(FakeMember({PATH: A}), both) == [A, None]


def test_a_404_of_something_else_is_not_absence() -> None:
    member = FakeMember(answers={("GET", PATH): always(lambda: web.Response(status=404, text="404 page not found"))})
    with pytest.raises(MemberRefused, match="not found"):
        using(member, lambda connection: resources.get(connection, CONFIG_MAPS, "default", "a"))


def page(*names: str, token: str = "") -> Callable[[], web.Response]:
    items = [{"metadata": {"name": name}} for name in names]
    return lambda: web.json_response({"metadata": {"continue": token}, "items": items or None})


def names(found: list[Any]) -> list[str]:
    return [item["metadata"]["name"] for item in found]


def test_lists_are_read_in_pages_and_say_what_their_items_are() -> None:
    member = FakeMember(answers={("GET", "/api/v1/configmaps"): in_turn(page("a", token="next"), page("b"))})
    found = using(
        member, lambda connection: resources.list_objects(connection, CONFIG_MAPS, labels="a=b", fields="c=d")
    )
    assert found == [{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}} for name in ("a", "b")]
    query = f"limit={resources.PAGE}&labelSelector=a%3Db&fieldSelector=c%3Dd"
    assert member.requests == [
        f"GET /api/v1/configmaps?{query}",
        f"GET /api/v1/configmaps?{query}&continue=next",
    ]


def test_a_list_that_the_member_forgot_starts_again() -> None:
    answers = in_turn(page("a", token="old"), lambda: status(410, "Expired"), page("a", token="new"), page("b"))
    member = FakeMember(answers={("GET", "/api/v1/configmaps"): answers})
    assert names(using(member, lambda connection: resources.list_objects(connection, CONFIG_MAPS))) == ["a", "b"]


def test_a_list_that_is_forgotten_for_ever_ends() -> None:
    def forgetful(request: web.Request) -> web.StreamResponse:
        return status(410, "Expired") if "continue" in request.query else page("a", token="t")()

    async def answer(request: web.Request) -> web.StreamResponse:
        return forgetful(request)

    member = FakeMember(answers={("GET", "/api/v1/configmaps"): answer})
    with pytest.raises(MemberRefused, match="gone"):
        using(member, lambda connection: resources.list_objects(connection, CONFIG_MAPS))


def test_a_list_may_be_null_and_items_may_stay_raw() -> None:
    member = FakeMember(answers={("GET", "/api/v1/configmaps"): in_turn(page(), page("a"))})

    async def twice(connection: Connection) -> list[bytes]:
        found = [await resources.list_as(connection, CONFIG_MAPS, msgspec.Raw) for _ in range(2)]
        return [bytes(item) for items in found for item in items]

    assert using(member, twice) == [b'{"metadata": {"name": "a"}}']


@pytest.mark.parametrize(("code", "created"), [(201, True), (200, False)])
def test_apply_tells_created_from_existing(code: int, created: bool) -> None:
    member = FakeMember(answers={("PATCH", PATH): always(lambda: web.json_response(A, status=code))})
    applied = using(
        member,
        lambda connection: resources.server_side_apply(connection, CONFIG_MAPS, A, manager="kadm-shop", dry_run=True),
    )
    assert (applied, member.requests, member.bodies, member.headers[0]["Content-Type"]) == (
        Applied(A, created),
        [f"PATCH {PATH}?fieldManager=kadm-shop&force=false&dryRun=All"],
        [A],
        "application/apply-patch+yaml",
    )


def test_delete_names_the_uid_and_takes_gone_for_an_answer() -> None:
    member = FakeMember()
    uid = member.add(PATH, {"metadata": {"name": "a"}})["metadata"]["uid"]

    async def twice(connection: Connection) -> list[tuple[str, ...]]:
        return [await resources.delete(connection, CONFIG_MAPS, "default", "a", uid=uid) for _ in range(2)]

    assert using(member, twice) == [(), ()]
    assert PATH not in member.objects
    assert member.bodies[0] == {
        "apiVersion": "v1",
        "kind": "DeleteOptions",
        "preconditions": {"uid": uid},
        "propagationPolicy": "Background",
    }


@pytest.mark.parametrize(
    ("answer", "want"),
    [
        pytest.param({"kind": "Status", "status": "Success", "metadata": {}}, (), id="it is gone"),
        pytest.param({"metadata": {"name": "a", "finalizers": ["x.io/hold"]}}, ("x.io/hold",), id="it stays for now"),
        pytest.param({"metadata": {"name": "a", "finalizers": None}}, (), id="an answer of another shape"),
    ],
)
def test_delete_tells_what_the_object_waits_for(answer: dict[str, Any], want: tuple[str, ...]) -> None:
    member = FakeMember(answers={("DELETE", PATH): always_json(answer)})
    assert using(member, lambda one: resources.delete(one, CONFIG_MAPS, "default", "a", uid="u")) == want


def test_delete_leaves_another_object_of_the_same_name() -> None:
    member = FakeMember({PATH: A | {"metadata": {"name": "a", "uid": "other"}}})
    with pytest.raises(MemberRefused) as caught:
        using(member, lambda connection: resources.delete(connection, CONFIG_MAPS, "default", "a", uid="mine"))
    assert (caught.value.status, PATH in member.objects) == (409, True)


def test_a_replacement_must_say_what_it_replaces() -> None:
    member = FakeMember(answers={("PUT", PATH): always_json(A)})
    with pytest.raises(ValueError, match="resourceVersion"):
        using(member, lambda connection: resources.replace(connection, CONFIG_MAPS, A, manager="kadm-record"))
    assert member.requests == []
