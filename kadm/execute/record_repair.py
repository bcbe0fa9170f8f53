"""Writing a record anew: one that was lost or damaged, or one that came along with a backup (design, section 5).

Under the member's Lease, and only after somebody has looked at what would be written.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from kadm.errors import MemberError, Problem
from kadm.execute.locking import DEFAULT_LOCK_TIMEOUT_S, Waiting, locking
from kadm.members import resources
from kadm.members.connection import Connection
from kadm.members.identity import read_uid
from kadm.members.observe import observe_itself
from kadm.members.pool import MemberPool
from kadm.members.record import (
    DocumentUnreadable,
    delete_record,
    read_record,
    read_record_of_any_member,
    record_name,
    write_record,
)
from kadm.members.record_proposal import propose_record, rebound_record
from kadm.model.observation import MemberState
from kadm.model.record import RECORD_FORMAT, Record, RecordedObject
from kadm.model.repository import RECORD_NAMESPACE

How = Literal["rebuild", "rebind"]


class Repair(Struct, frozen=True, kw_only=True):
    """What is to be written: ``record``, of which ``added`` are the objects that the member's record lacks.

    ``damaged``: there is a record, and nothing of it can be read. ``needed`` is False where the record is fine.
    """

    record: Record
    added: tuple[RecordedObject, ...] = ()
    damaged: bool = False
    needed: bool = True


Accept = Callable[[Repair], Awaitable[bool]]
"""Whether a repair may be written."""


async def repair(
    pool: MemberPool,
    member: str,
    how: How,
    *,
    manager: str,
    accept: Accept,
    lock_timeout_s: float = DEFAULT_LOCK_TIMEOUT_S,
    waiting: Waiting = lambda _member, _lease: None,
) -> Repair | None:
    """Write the member's record anew, if ``accept`` says so; None where it did not. One that is fine is left alone.

    ``rebuild`` adds what carries the fleet's label and was applied by ``manager``; ``rebind`` makes out to this cluster
    what was written for another one. Raises MemberError where the member cannot be read, holds the record of another
    cluster (``rebuild``) or none (``rebind``); Locked where another run holds it.
    """
    connection = open_connection(pool, member)
    state = await observe_itself(connection)
    async with locking(pool, timeout_s=lock_timeout_s, waiting=waiting) as locks:
        await locks.take({member: state})
        if member in locks.problems:
            raise _as_error(locks.problems[member])
        if how == "rebuild":
            found = await _rebuilt(connection, state, pool.fleet, manager)
        else:
            found = await _rebound(connection, state, pool.fleet)
        if not found.needed:
            return found
        if not await accept(found):
            return None
        if found.damaged:
            await delete_record(connection, pool.fleet)
        return replace(found, record=await write_record(connection, found.record))


async def recorded(pool: MemberPool, member: str) -> tuple[Record | None, bool]:
    """The record that lies in the member, whichever cluster it was written for, and whether that is this one.

    Raises MemberError where the member or its record cannot be read.
    """
    connection = open_connection(pool, member)
    uid = await read_uid(connection)
    record = await read_record_of_any_member(connection, pool.fleet)
    return record, record is None or record.member_uid == uid


def open_connection(pool: MemberPool, member: str) -> Connection:
    """The member's connection. Raises MemberError where the member cannot even be addressed."""
    if member in pool.unread:
        raise _as_error(pool.unread[member].problem)
    return pool.connection(member)


async def _rebuilt(connection: Connection, state: MemberState, fleet: str, manager: str) -> Repair:
    """What the record holds already stays as it is: it knows better what was created, and what was decided."""
    damaged = False
    before: Record | None = None
    try:
        before = await read_record(connection, fleet, member_uid=state.uid)
    except DocumentUnreadable:
        if await _is_newer(connection, fleet):
            raise
        damaged = True
    proposed = await propose_record(connection, state, fleet, manager=manager)
    if before is None:
        return Repair(record=proposed, added=proposed.objects, damaged=damaged)
    known = {entry.key for entry in before.objects}
    added = tuple(entry for entry in proposed.objects if entry.key not in known)
    decided = {entry.key for entry in before.workloads}
    return Repair(
        record=replace(
            before,
            objects=tuple(sorted((*before.objects, *added), key=lambda entry: entry.key)),
            workloads=(*before.workloads, *(one for one in proposed.workloads if one.key not in decided)),
        ),
        added=added,
        needed=bool(added),
    )


async def _rebound(connection: Connection, state: MemberState, fleet: str) -> Repair:
    before = await read_record_of_any_member(connection, fleet)
    if before is not None and before.member_uid == state.uid:
        return Repair(record=before, needed=False)
    record = await rebound_record(connection, fleet, member_uid=state.uid)
    if record is None:
        raise MemberError(
            f"there is no record of fleet {fleet} to rebind",
            member=state.name,
            hint=f"kadm record rebuild {state.name} writes one from what is live",
        )
    return Repair(record=record, added=record.objects)


async def _is_newer(connection: Connection, fleet: str) -> bool:
    """Whether a record that cannot be read has a format that this kadm does not know: another one wrote it, and can."""
    found = await resources.get(connection, resources.CONFIG_MAPS, RECORD_NAMESPACE, record_name(fleet))
    return ((found or {}).get("data") or {}).get("format", "") not in ("", str(RECORD_FORMAT))


def _as_error(problem: Problem) -> MemberError:
    return MemberError(problem.what, member=problem.member, object=problem.object, why=problem.why, hint=problem.hint)
