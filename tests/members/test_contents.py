"""What a namespace holds, where a kind goes while it is looked through."""

from __future__ import annotations

from typing import Any

import pytest
from aiohttp import web

from kadm.errors import MemberRefused
from kadm.members.contents import foreign_in_namespace
from kadm.model.observation import ApiResource, MemberState
from tests.members.fake_member import FakeMember, run, serving
from tests.members.test_discovery import aggregated, group_list

THINGS = ApiResource(group="example.com", version="v1", kind="Thing", plural="things", namespaced=True, verbs=("list",))
SERVED = {
    "resource": "things",
    "responseKind": {"group": "example.com", "version": "v1", "kind": "Thing"},
    "scope": "Namespaced",
    "verbs": ["list"],
}


async def not_found(_request: web.Request) -> web.Response:
    return web.Response(status=404, text="404 page not found")


def found(*groups: dict[str, Any]) -> tuple[str, ...]:
    """What is found where things are not there any more, and discovery tells of these groups."""
    member = FakeMember(answers={("GET", "/api"): group_list(), ("GET", "/apis"): group_list(*groups)})
    state = MemberState(name="eu", uid="m", version="v1", api_resources=(THINGS,))

    async def asked() -> tuple[str, ...]:
        async with serving(member), member.connection() as connection:
            member.answers["GET", "/apis/example.com/v1/namespaces/shop/things"] = not_found
            return await foreign_in_namespace(connection, state, "shop", own_uids=())

    return run(asked())


def test_objects_of_a_kind_that_went_are_gone() -> None:
    assert found() == ()


@pytest.mark.parametrize("freshness", ["Current", "Stale"])
def test_a_kind_that_is_served_still_is_unread(freshness: str) -> None:
    with pytest.raises(MemberRefused, match="404"):
        found(aggregated("example.com", "v1", SERVED, freshness=freshness))
