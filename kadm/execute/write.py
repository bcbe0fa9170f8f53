"""Carrying out one change in one member."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Sequence
from typing import Literal, assert_never

from msgspec import Struct
from msgspec.structs import replace

from kadm.compare import REPAIR_MANAGER, generation_of, goes_when_finished, not_kept, prepared, striking, whole
from kadm.compare.ownership import created_by
from kadm.errors import MemberRefused, Problem
from kadm.members.connection import Connection
from kadm.members.release import release_operations
from kadm.members.resources import Applied, delete, get, json_patch, server_side_apply
from kadm.model.applyset import with_membership
from kadm.model.objects import JsonObject
from kadm.model.observation import ApiResource
from kadm.model.plan import Change

GONE_TIMEOUT_S = 120.0
"""How long a recreated object may take to go: its pods end first."""
_FIRST_POLL_S = 0.1
_LONGEST_POLL_S = 1.0
_ATTEMPTS = 5
"""So often a patch is tried on an object whose status moves all the time."""

_CONFLICT_WITH = re.compile(r'conflict with "([^"]+)"')
_KUBERNETES_OWN = re.compile(r"foregroundDeletion|orphan|kubernetes|([^/]+\.)?(kubernetes|k8s)\.io/.*|[^/]+\.k8s\.io")
"""Finalizers that a cluster's own controllers take away in time."""


class Written(Struct, frozen=True, kw_only=True):
    """What a change left in the member. ``uid`` is empty where nothing is left. ``notes`` tell of surprises.

    ``digest`` is the desired object's where it is a Job that the member removes once it has finished, else empty.
    """

    uid: str = ""
    origin: Literal["created", "adopted"] | None = None
    """None: as the record says."""
    notes: tuple[Problem, ...] = ()
    digest: str = ""


async def write(
    connection: Connection,
    resource: ApiResource,
    change: Change,
    *,
    manager: str,
    set_id: str,
    gone_timeout_s: float = GONE_TIMEOUT_S,
) -> Written:
    """Carry out one change, once. Raises MemberRefused where the member does not take it.

    A create is unforced and without uid: 201 is ours; 200 means that the object existed, and it is recorded as adopted,
    unless kadm's own apply made it (an earlier attempt whose answer was lost). Everything else carries the uid that was
    planned on, so it can neither recreate nor hit another object. Only a change whose plan named the managers that it
    takes from is forced (design, sections 6 and 7).
    """
    match change.action:
        case "create":
            return await _create(connection, resource, change, manager=manager, set_id=set_id)
        case "update" | "own" | "adopt":
            sent = _sent(change, set_id)
            await _prepare(connection, resource, change, sent, manager=manager)
            applied = await _apply(connection, resource, change, sent, manager=manager)
            return _written(change, applied.object, "adopted" if change.action == "adopt" else None, manager)
        case "recreate":
            await _remove(connection, resource, change, timeout_s=gone_timeout_s)
            return await _create(connection, resource, change, manager=manager, set_id=set_id)
        case "delete":
            waits_for = await delete(connection, resource, change.key.namespace, change.key.name, uid=change.uid)
            return Written(notes=_not_gone(change, waits_for))
        case "release":
            live = await get(connection, resource, change.key.namespace, change.key.name)
            if live is not None and live["metadata"]["uid"] == change.uid:
                await _patched(connection, resource, change, live, lambda now: release_operations(now, manager, set_id))
            return Written()
        case _:
            assert_never(change.action)


def refused(change: Change, error: MemberRefused) -> Problem:
    """Why the member did not take a change, in the user's terms."""
    problem = error.problem
    where = change.desired.location if change.desired else None
    if error.status == 409 and (by := _holders(error)):
        problem = replace(problem, what=f"taken meanwhile by {', '.join(by)}", hint="plan again: it is not overwritten")
    elif error.status == 409 and change.action == "create":
        problem = replace(
            problem, what="it appeared meanwhile, and others hold its fields", hint="look at it, then plan again"
        )
    elif error.status == 409:
        problem = replace(problem, what="it changed since it was planned", hint="plan again")
    return replace(problem, where=where, member=change.cluster, object=str(change.key), partial=error.blames_member)


async def _create(
    connection: Connection, resource: ApiResource, change: Change, *, manager: str, set_id: str
) -> Written:
    """Make the object. Fields left to others are sent once, and kadm's entry lets them go at once."""
    wanted = change.desired
    assert wanted is not None, "a create has a desired object"
    sent = with_membership(whole(wanted), set_id)
    applied = await server_side_apply(connection, resource, sent, manager=manager)
    if wanted.left:
        live = await _patched(
            connection, resource, change, applied.object, lambda now: striking(now, wanted.left, manager)
        )
        applied = Applied(live, applied.created)
    if applied.created or created_by(applied.object, manager):
        return _written(change, applied.object, "created", manager)
    appeared = Problem(
        what="it appeared since it was planned: taken over, and recorded as adopted",
        severity="warning",
        member=change.cluster,
        object=str(change.key),
    )
    written = _written(change, applied.object, "adopted", manager)
    return replace(written, notes=(appeared, *written.notes))


async def _apply(
    connection: Connection, resource: ApiResource, change: Change, sent: JsonObject, *, manager: str
) -> Applied:
    """The apply itself: forced where the plan named whom it takes from, or where kadm's own repair alone is in the way.

    A conflict names every holder, so that nobody else's field is taken with the repair's.
    """
    try:
        return await server_side_apply(connection, resource, sent, manager=manager, force=change.force)
    except MemberRefused as error:
        if error.status != 409 or _holders(error) != [REPAIR_MANAGER]:
            raise
    return await server_side_apply(connection, resource, sent, manager=manager, force=True)


async def _prepare(
    connection: Connection, resource: ApiResource, change: Change, sent: JsonObject, *, manager: str
) -> None:
    """The patch that goes before the apply, where the plan has one."""
    preparation = change.prepare
    if preparation is None:
        return
    live = await get(connection, resource, change.key.namespace, change.key.name)
    if live is None or live["metadata"]["uid"] != change.uid:
        return  # the apply carries the uid: it says what is wrong

    def operations(now: JsonObject) -> Sequence[JsonObject]:
        if preparation.repairs and generation_of(now) != preparation.generation:
            raise _changed(connection, change)
        return prepared(now, sent, preparation, key=change.key, manager=manager)

    await _patched(connection, resource, change, live, operations)


async def _patched(
    connection: Connection,
    resource: ApiResource,
    change: Change,
    live: JsonObject,
    operations: Callable[[JsonObject], Sequence[JsonObject]],
) -> JsonObject:
    """The object after the patch, which is made anew where somebody wrote to the object meanwhile."""
    key = change.key
    for attempt in range(1, _ATTEMPTS + 1):
        patch = operations(live)
        if not patch:
            break
        try:
            return await json_patch(connection, resource, key.namespace, key.name, patch, manager=REPAIR_MANAGER)
        except MemberRefused as error:
            if error.status != 409 or attempt == _ATTEMPTS:
                raise
        now = await get(connection, resource, key.namespace, key.name)
        if now is None or now["metadata"]["uid"] != live["metadata"]["uid"]:
            raise _changed(connection, change)
        live = now
    return live


async def _remove(connection: Connection, resource: ApiResource, change: Change, *, timeout_s: float) -> None:
    """Delete the object in the foreground, and wait until it is gone: its pods are, too, then.

    One that is being deleted is only waited for: a run that was killed has begun this. Raises MemberRefused where it is
    not gone in time.
    """
    key = change.key
    live = await get(connection, resource, key.namespace, key.name)
    going = live is not None and live["metadata"]["uid"] == change.uid and live["metadata"].get("deletionTimestamp")
    if not going:
        await delete(connection, resource, key.namespace, key.name, uid=change.uid, propagation="Foreground")
    clock = asyncio.get_running_loop().time
    deadline = clock() + timeout_s
    pause_s = _FIRST_POLL_S
    while True:
        live = await get(connection, resource, key.namespace, key.name)
        if live is None or live["metadata"]["uid"] != change.uid:
            return
        if clock() >= deadline:
            raise MemberRefused(
                f"it is not gone after {timeout_s:g} s, so that it is not created again yet",
                status=408,
                member=connection.name,
                object=str(key),
                why=f"it waits for finalizers {', '.join(live['metadata'].get('finalizers') or ['(none)'])}",
                hint="apply again once it is gone",
            )
        await asyncio.sleep(pause_s)
        pause_s = min(pause_s * 1.5, _LONGEST_POLL_S)


def _written(change: Change, live: JsonObject, origin: Literal["created", "adopted"] | None, manager: str) -> Written:
    """What the member answered. What it did not keep is told here, too: not every plan could ask before."""
    wanted = change.desired
    assert wanted is not None, f"{change.action} has a desired object"
    digest = wanted.digest if goes_when_finished(wanted, live) else ""
    dropped = not_kept(wanted, live, member=change.cluster, manager=manager)
    return Written(uid=live["metadata"]["uid"], origin=origin, digest=digest, notes=dropped)


def _not_gone(change: Change, waits_for: Sequence[str]) -> tuple[Problem, ...]:
    """What keeps a deleted object there that Kubernetes does not see to by itself."""
    others = [finalizer for finalizer in waits_for if not _KUBERNETES_OWN.fullmatch(finalizer)]
    if not others:
        return ()
    return (
        Problem(
            what=f"it is deleted, but goes only once {', '.join(others)} lets it",
            severity="warning",
            member=change.cluster,
            object=str(change.key),
            hint="see to whoever set this finalizer, if it stays",
        ),
    )


def _holders(error: MemberRefused) -> list[str]:
    """The managers that a conflict of an unforced apply names."""
    message = str((error.body or {}).get("message") or error.problem.why)
    return sorted(set(_CONFLICT_WITH.findall(message)))


def _changed(connection: Connection, change: Change) -> MemberRefused:
    return MemberRefused("it changed since it was planned", status=409, member=connection.name, object=str(change.key))


def _sent(change: Change, set_id: str) -> JsonObject:
    assert change.desired is not None, f"{change.action} has a desired object"
    sent = with_membership(change.desired.object, set_id)
    if not change.uid:
        return sent
    return {**sent, "metadata": {**sent["metadata"], "uid": change.uid}}
