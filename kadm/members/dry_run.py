"""What a member would make of an object: a server-side apply that stores nothing."""

from __future__ import annotations

from kadm.errors import MemberRefused
from kadm.members.connection import Connection
from kadm.members.refusal import ManifestRefused
from kadm.members.resources import server_side_apply
from kadm.model.live import DryRun
from kadm.model.objects import JsonObject
from kadm.model.observation import ApiResource


async def dry_run(connection: Connection, resource: ApiResource, obj: JsonObject, *, manager: str) -> DryRun:
    """The member's answer to a forced dry run of ``obj``, which carries the uid of the live object where there is one.

    Forced, so that the answer shows what git wants even where others hold fields: who they are, the plan reads from
    managedFields (design, section 6). Raises MemberError where the member does not answer.
    """
    try:
        applied = await server_side_apply(connection, resource, obj, manager=manager, force=True, dry_run=True)
    except ManifestRefused as refused:
        return DryRun(outcome="refused", problem=refused.problem)
    except MemberRefused as refused:
        if note := _why_impossible(refused):
            return DryRun(outcome="impossible", note=note)
        if refused.status in (400, 403, 409, 413, 422):
            return DryRun(outcome="refused", problem=refused.problem)
        raise
    return DryRun(outcome="answered", object=applied.object)


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
