"""Carrying out one change in one member."""

from __future__ import annotations

from typing import Literal, assert_never

from msgspec import Struct

from kadm.compare.ownership import created_by
from kadm.errors import MemberRefused, Problem
from kadm.members.connection import Connection
from kadm.members.release import release
from kadm.members.resources import delete, get, server_side_apply
from kadm.model.applyset import with_membership
from kadm.model.objects import JsonObject
from kadm.model.observation import ApiResource
from kadm.model.plan import Change


class Written(Struct, frozen=True, kw_only=True):
    """What a change left in the member. ``uid`` is empty where nothing is left. ``note`` tells of a surprise."""

    uid: str = ""
    origin: Literal["created", "adopted"] | None = None
    """None: as the record says."""
    note: Problem | None = None


async def write(connection: Connection, resource: ApiResource, change: Change, *, manager: str, set_id: str) -> Written:
    """Carry out one change, once. Raises MemberRefused where the member does not take it.

    A create is unforced and without uid: 201 is ours; 200 means that the object existed, and it is recorded as adopted,
    unless kadm's own apply made it (an earlier attempt whose answer was lost). Everything else carries the uid that was
    planned on, so it can neither recreate nor hit another object. Only a change whose plan named the managers that it
    takes from is forced (design, sections 6 and 7).
    """
    match change.action:
        case "create":
            applied = await server_side_apply(connection, resource, _sent(change, set_id), manager=manager)
            uid = applied.object["metadata"]["uid"]
            if applied.created or created_by(applied.object, manager):
                return Written(uid=uid, origin="created")
            return Written(uid=uid, origin="adopted", note=_appeared(change))
        case "update" | "own" | "adopt":
            applied = await server_side_apply(
                connection, resource, _sent(change, set_id), manager=manager, force=change.force
            )
            return Written(
                uid=applied.object["metadata"]["uid"], origin="adopted" if change.action == "adopt" else None
            )
        case "delete":
            await delete(connection, resource, change.key.namespace, change.key.name, uid=change.uid)
            return Written()
        case "release":
            live = await get(connection, resource, change.key.namespace, change.key.name)
            if live is not None and live["metadata"]["uid"] == change.uid:
                await release(connection, resource, live, manager=manager)
            return Written()
        case _:
            assert_never(change.action)


def refused(change: Change, error: MemberRefused) -> Problem:
    """Why the member did not take a change, in the user's terms."""
    from msgspec.structs import replace

    problem = error.problem
    where = change.desired.location if change.desired else None
    if error.status == 409 and change.action == "create":
        problem = replace(
            problem, what="it appeared meanwhile, and others hold its fields", hint="look at it, then plan again"
        )
    elif error.status == 409:
        problem = replace(problem, what="it changed since it was planned", hint="plan again")
    return replace(problem, where=where, member=change.cluster, object=str(change.key))


def _sent(change: Change, set_id: str) -> JsonObject:
    assert change.desired is not None, f"{change.action} has a desired object"
    sent = with_membership(change.desired.object, set_id)
    if not change.uid:
        return sent
    return {**sent, "metadata": {**sent["metadata"], "uid": change.uid}}


def _appeared(change: Change) -> Problem:
    return Problem(
        what="it appeared since it was planned: taken over, and recorded as adopted",
        severity="warning",
        member=change.cluster,
        object=str(change.key),
    )
