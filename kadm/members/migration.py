"""What auto-migration learned of a member, in ConfigMap ``kadm-<fleet>.migration`` beside the record."""

from __future__ import annotations

import msgspec

from kadm.members.connection import Connection
from kadm.members.document import Document, read_aside, write_document
from kadm.members.record import record_name
from kadm.model.migration import MIGRATION_FORMAT, MigrationState


def migration_name(fleet: str) -> str:
    """The name of the document in every member."""
    return f"{record_name(fleet)}.migration"


async def read_migration(connection: Connection, fleet: str, *, member_uid: str) -> MigrationState:
    """What was learned of this member; empty where there is nothing, or nothing that can be used.

    Like stamps it is worth what it says or nothing: of another cluster, of another format, or damaged, it is left
    unused, and learned anew. Raises MemberError where it could not be read.
    """
    nothing = MigrationState(fleet=fleet, member_uid=member_uid)
    return await read_aside(connection, migration_name(fleet), nothing, format_=MIGRATION_FORMAT)


async def write_migration(connection: Connection, state: MigrationState) -> MigrationState:
    """Store it in place of the version that it carries, and return it with the new one. Raises DocumentConflict."""
    stored = msgspec.structs.replace(
        state, workloads=tuple(sorted(state.workloads, key=lambda one: one.key)), resource_version=""
    )
    version = await write_document(
        connection,
        Document(
            name=migration_name(state.fleet),
            content=msgspec.json.encode(stored, order="sorted"),
            format=str(state.format),
            clear={"fleet": state.fleet, "memberUID": state.member_uid},
            labels={"app.kubernetes.io/managed-by": "kadm"},
            resource_version=state.resource_version,
        ),
    )
    return msgspec.structs.replace(stored, resource_version=version)
