"""The stamps of a member, in ConfigMap ``kadm-<fleet>.state`` beside the record.

A fleet's name holds no dot, so no other fleet's record can be called like it.
"""

from __future__ import annotations

import msgspec

from kadm.members import resources
from kadm.members.connection import Connection
from kadm.members.document import (
    Document,
    delete_document,
    read_aside,
    write_document,
)
from kadm.members.record import record_name
from kadm.model.repository import RECORD_NAMESPACE
from kadm.model.stamps import STAMPS_FORMAT, Stamps


def stamps_name(fleet: str) -> str:
    """The name of a fleet's stamps in every member."""
    return f"{record_name(fleet)}.state"


async def read_stamps(connection: Connection, fleet: str, *, member_uid: str) -> Stamps:
    """The stamps of this member; empty where there are none, or none that can be used.

    Unlike the record, stamps prove something or are worth nothing: those of another cluster, of another format, or
    damaged ones are left unused, and the next apply replaces them. Raises MemberError where they could not be read.
    """
    nothing = Stamps(fleet=fleet, member_uid=member_uid)
    return await read_aside(connection, stamps_name(fleet), nothing, format_=STAMPS_FORMAT)


async def has_stamps(connection: Connection, fleet: str) -> bool:
    """Whether the member holds stamps, of whatever worth: kadm wrote to it once. Raises MemberError."""
    return await resources.get(connection, resources.CONFIG_MAPS, RECORD_NAMESPACE, stamps_name(fleet)) is not None


async def delete_stamps(connection: Connection, fleet: str) -> None:
    """Remove the fleet's stamps from the member; none are fine."""
    await delete_document(connection, stamps_name(fleet))


async def write_stamps(connection: Connection, stamps: Stamps) -> None:
    """Store the stamps in place of those of their ``resource_version``. Raises DocumentConflict where others wrote."""
    stored = msgspec.structs.replace(stamps, resource_version="")
    await write_document(
        connection,
        Document(
            name=stamps_name(stamps.fleet),
            content=msgspec.json.encode(stored, order="sorted"),
            format=str(stamps.format),
            clear={"fleet": stamps.fleet, "memberUID": stamps.member_uid},
            labels={"app.kubernetes.io/managed-by": "kadm"},
            resource_version=stamps.resource_version,
        ),
    )
