"""Documents beside the record: what cannot be used is left unused, and the next write takes its place."""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from msgspec.structs import replace

from kadm.members import document
from kadm.members.connection import Connection
from kadm.members.migration import read_migration, write_migration
from kadm.members.stamps import read_stamps, write_stamps
from kadm.model.migration import Estimate, LearnedWorkload, MigrationState
from kadm.model.stamps import Stamp, Stamps
from tests.members.fake_member import run, serving

MAPS = "/api/v1/namespaces/kadm-system/configmaps"

Aside = Stamps | MigrationState
Read = Callable[[Connection], Awaitable[Aside]]
Write = Callable[[Connection, Any], Awaitable[object]]


async def stamps(connection: Connection) -> Stamps:
    return await read_stamps(connection, "shop", member_uid="uid-eu")


async def migration(connection: Connection) -> MigrationState:
    return await read_migration(connection, "shop", member_uid="uid-eu")


STAMPS = Stamps(fleet="shop", member_uid="uid-eu", objects={"a": Stamp("raw", "projected")})
ESTIMATE = Estimate(capacity=1, since="2026-01-02T03:04:05Z", until="2026-01-02T03:14:05Z", why="full")
LEARNED = MigrationState(
    fleet="shop",
    member_uid="uid-eu",
    workloads=(LearnedWorkload(group="apps", kind="Deployment", namespace="a", name="web", estimate=ESTIMATE),),
)
BOTH = [
    pytest.param(stamps, write_stamps, STAMPS, "kadm-shop.state", id="stamps"),
    pytest.param(migration, write_migration, LEARNED, "kadm-shop.migration", id="what migration learned"),
]


@pytest.mark.parametrize(("read", "write", "content", "name"), BOTH)
@pytest.mark.parametrize(
    "damage",
    [
        pytest.param({"binaryData": {}}, id="no bytes"),
        pytest.param({"binaryData": {"document": "AAAA"}}, id="other bytes"),
        pytest.param({"binaryData": {"document": "!"}}, id="no base64"),
        pytest.param({"data": {}}, id="nothing in clear"),
        pytest.param({"data": {"parts": "gone"}}, id="a part is missing"),
    ],
)
def test_a_damaged_one_is_replaced(read: Read, write: Write, content: Aside, name: str, damage: dict[str, Any]) -> None:
    async def body() -> None:
        async with serving() as member, member.connection() as connection:
            await write(connection, content)
            member.objects[f"{MAPS}/{name}"].update(damage)
            found = await read(connection)
            version = member.objects[f"{MAPS}/{name}"]["metadata"]["resourceVersion"]
            empty = type(content)(fleet="shop", member_uid="uid-eu", resource_version=version)
            assert found == empty
            await write(connection, replace(content, resource_version=found.resource_version))
            assert replace(await read(connection), resource_version="") == content

    run(body())


def test_one_whose_further_part_is_damaged_is_replaced() -> None:
    large = replace(STAMPS, objects={"a": Stamp(secrets.token_hex(document.PART_BYTES), "projected")})

    async def body() -> None:
        async with serving() as member, member.connection() as connection:
            await write_stamps(connection, large)
            part = next(path for path in member.objects if path.startswith(f"{MAPS}/kadm-shop.state-"))
            member.objects[part]["binaryData"] = {"document": "!"}
            found = await stamps(connection)
            assert found.resource_version == member.objects[f"{MAPS}/kadm-shop.state"]["metadata"]["resourceVersion"]
            await write_stamps(connection, replace(STAMPS, resource_version=found.resource_version))
            assert replace(await stamps(connection), resource_version="") == STAMPS

    run(body())
