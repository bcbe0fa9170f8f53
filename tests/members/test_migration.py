"""What auto-migration learned, as members keep it."""

from __future__ import annotations

from msgspec.structs import replace

from kadm.members.document import Document, write_document
from kadm.members.migration import migration_name, read_migration, write_migration
from kadm.model.migration import Estimate, LearnedWorkload, MigrationState
from tests.members.fake_member import FakeMember, run, serving

ESTIMATE = Estimate(capacity=1, since="2026-01-02T03:04:05Z", until="2026-01-02T03:14:05Z", why="full")
STATE = MigrationState(
    fleet="shop",
    member_uid="uid-eu",
    workloads=(LearnedWorkload(group="apps", kind="Deployment", namespace="a", name="web", estimate=ESTIMATE),),
)


def test_what_is_written_is_read_and_nothing_else() -> None:
    async def body(member: FakeMember) -> None:
        async with member.connection() as connection:
            assert await read_migration(connection, "shop", member_uid="uid-eu") == replace(STATE, workloads=())
            written = await write_migration(connection, STATE)
            assert written.resource_version
            assert await read_migration(connection, "shop", member_uid="uid-eu") == written
            another = await read_migration(connection, "shop", member_uid="uid-us")
            assert (another.workloads, another.resource_version) == ((), written.resource_version)
            broken = Document(
                name=migration_name("shop"), content=b"{", format="1", resource_version=written.resource_version
            )
            await write_document(connection, broken)
            assert (await read_migration(connection, "shop", member_uid="uid-eu")).workloads == ()

    async def whole() -> None:
        async with serving() as member:
            await body(member)

    run(whole())
