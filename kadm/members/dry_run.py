"""What a member would make of an object: a server-side apply that stores nothing."""

from __future__ import annotations

from collections.abc import Sequence

from kadm.errors import MemberRefused
from kadm.members.connection import Connection
from kadm.members.refusal import ManifestRefused
from kadm.members.resources import json_patch, server_side_apply
from kadm.model.live import DryRun, Fault
from kadm.model.objects import JsonObject
from kadm.model.observation import ApiResource


async def dry_run(connection: Connection, resource: ApiResource, obj: JsonObject, *, manager: str) -> DryRun:
    """The member's answer to a forced dry run of ``obj``, which carries the uid of the live object where there is one.

    Forced, so that the answer shows what git wants even where others hold fields: who they are, the plan reads from
    managedFields (design, section 6). Raises MemberError where the member does not answer.
    """
    try:
        applied = await server_side_apply(connection, resource, obj, manager=manager, force=True, dry_run=True)
    except MemberRefused as refused:
        return _not_taken(refused)
    return DryRun(outcome="answered", object=applied.object)


async def dry_run_patch(
    connection: Connection, resource: ApiResource, live: JsonObject, operations: Sequence[JsonObject], *, manager: str
) -> DryRun:
    """The member's answer to the dry run of a JSON patch of a live object. Raises MemberError as ``dry_run`` does."""
    metadata = live["metadata"]
    namespace, name = metadata.get("namespace") or "", metadata["name"]
    try:
        patched = await json_patch(connection, resource, namespace, name, operations, manager=manager, dry_run=True)
    except MemberRefused as refused:
        return _not_taken(refused)
    return DryRun(outcome="answered", object=patched)


def _not_taken(refused: MemberRefused) -> DryRun:
    """What an answer that is no success says about the object. Raises it where it says nothing about that."""
    if isinstance(refused, ManifestRefused):
        return DryRun(outcome="refused", problem=refused.problem)
    if note := _why_impossible(refused):
        return DryRun(outcome="impossible", note=note)
    if refused.status in (400, 403, 409, 413, 422):
        return DryRun(outcome="refused", problem=refused.problem, faults=_faults(refused))
    raise refused


def _faults(refused: MemberRefused) -> tuple[Fault, ...]:
    """The fields that the member names. A Secret's causes come without texts: then the reason has to do."""
    details = (refused.body or {}).get("details")
    causes = details.get("causes") if isinstance(details, dict) else None
    return tuple(
        Fault(str(cause.get("field") or ""), str(cause.get("message") or cause.get("reason") or ""))
        for cause in causes or ()
        if isinstance(cause, dict) and cause.get("field")
    )


def _why_impossible(refused: MemberRefused) -> str:
    """Why the member could not be asked at all, in words; empty where it did answer the question."""
    message = str((refused.body or {}).get("message") or refused.problem.why)
    if refused.status == 403 and "cannot patch" in message:
        return "unverified (no permission to patch)"
    if refused.status == 403 and "cannot create" in message:
        return "unverified (no permission to create)"
    if refused.status == 404:
        return "unverified (its namespace or kind is not there yet)"
    if refused.status == 400 and "does not support dry run" in message:
        return "unverified (an admission webhook refuses dry runs)"
    return ""
