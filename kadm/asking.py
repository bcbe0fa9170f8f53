"""What a member would make of one object: dry runs of the apply, and of the patch that some applies need before.

Beside ``pipeline``, which asks for every object that is not proved unchanged. Sends dry runs only.
"""

from __future__ import annotations

from collections.abc import Collection

from msgspec.structs import replace

from kadm.compare import Step, mended, sent_for, unsettled
from kadm.members.connection import Connection
from kadm.members.dry_run import dry_run, dry_run_patch
from kadm.model.desired import DesiredObject
from kadm.model.live import DryRun
from kadm.model.objects import JsonObject
from kadm.model.observation import ApiResource


async def ask(
    connection: Connection,
    resource: ApiResource,
    wanted: DesiredObject,
    live: JsonObject | None,
    *,
    fold: Collection[str],
    manager: str,
    set_id: str,
) -> DryRun:
    """The member's answer for one object; ``fold`` are managers whose fields become kadm's before the apply.

    Where the member refuses the apply for what it finds in the live object, the repair is tried; where fields that git
    lacks would stay, what the member makes of the object without them is asked too. Raises MemberError where the member
    does not answer.
    """
    sent = sent_for(wanted, live, manager=manager, set_id=set_id)
    answer = await dry_run(connection, resource, sent, manager=manager)
    if live is None or answer.outcome == "impossible":
        return answer
    if answer.outcome == "refused":
        repair = mended(live, sent, answer.faults, manager)
        if repair is None:
            return answer
        patched = await _patched(connection, resource, repair, live)
        return answer if patched.object is None else replace(patched, repair=repair.remove)
    assert answer.object is not None, "an answer holds an object"
    rest = unsettled(live, answer.object, wanted, fold, manager)
    if rest is None:
        return answer
    patched = await _patched(connection, resource, rest, live)
    return answer if patched.object is None else replace(answer, without=patched.object)


async def _patched(connection: Connection, resource: ApiResource, step: Step, live: JsonObject) -> DryRun:
    return await dry_run_patch(connection, resource, live, step.operations, manager="kadm-repair")
