"""What a credential may do, by asking the member."""

from __future__ import annotations

from typing import Any

import pytest
from aiohttp import web

from kadm.members.permissions import EVERYTHING, Permission, missing_permissions
from tests.members.fake_member import FakeMember, run, serving

REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
GET_MAPS = Permission("", "configmaps", "get", "kadm-system")
LIST_NODES = Permission("", "nodes", "list")
PATCH_APPS = Permission("apps", "deployments", "patch", "web")


async def missing(granted: set[Permission]) -> tuple[tuple[Permission, ...], int]:
    """What is missing where these are granted, and how many questions it took."""

    async def review(request: web.Request) -> web.StreamResponse:
        asked: dict[str, Any] = (await request.json())["spec"]["resourceAttributes"]
        permission = Permission(asked["group"], asked["resource"], asked["verb"], asked.get("namespace", ""))
        return web.json_response({"status": {"allowed": permission in granted}}, status=201)

    member = FakeMember(answers={("POST", REVIEWS): review})
    async with serving(member), member.connection(read_only=True) as connection:
        found = await missing_permissions(connection, [PATCH_APPS, GET_MAPS, LIST_NODES, GET_MAPS])
    return found, len(member.requests)


@pytest.mark.parametrize(
    ("granted", "want"),
    [
        pytest.param({EVERYTHING}, ((), 1), id="an administrator"),
        pytest.param(
            {Permission("", "configmaps", "get"), LIST_NODES, Permission("apps", "deployments", "patch")},
            ((), 4),
            id="for all namespaces",
        ),
        pytest.param({GET_MAPS, PATCH_APPS}, ((LIST_NODES,), 6), id="for namespaces"),
        pytest.param(set(), ((GET_MAPS, LIST_NODES, PATCH_APPS), 6), id="nothing"),
    ],
)
def test_missing_permissions(granted: set[Permission], want: tuple[tuple[Permission, ...], int]) -> None:
    assert run(missing(granted)) == want
