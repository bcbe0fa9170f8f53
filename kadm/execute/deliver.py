"""From a repository to members that hold it: plan, lock, plan again where somebody else was faster, execute.

The end state is that of one commit, never a mix: the Leases of all members that are written are held before the first
write, and what was planned on is read again under them (design, section 7).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime

from msgspec import Struct
from msgspec.structs import replace

from kadm import pipeline
from kadm.execute.events import Listener, nobody
from kadm.execute.extent import Extent
from kadm.execute.locking import DEFAULT_LOCK_TIMEOUT_S, Unchanged, Waiting, locking, other_writers
from kadm.execute.run import DEFAULT_TIMEOUT_S, GoOn, Stays, execute, not_since_before, not_without_a_person
from kadm.execute.stop import Stop
from kadm.members.connection import Connection
from kadm.members.pool import MemberPool
from kadm.members.record import record_name
from kadm.members.resources import CONFIG_MAPS, get
from kadm.model.observation import Unread
from kadm.model.planned import Planned
from kadm.model.report import Report
from kadm.model.repository import RECORD_NAMESPACE, Repo

Accept = Callable[[Planned, str], Awaitable[bool]]
"""Whether a plan may be carried out. Asked again, with why, where it had to be planned again and came out different."""


Check = Callable[[Planned], Awaitable[None]]
"""Looks at every plan before it is accepted; what it raises ends the run, with nothing written."""


async def nothing_to_check(_planned: Planned) -> None:
    """Any plan will do."""


class Delivery(Struct, frozen=True, kw_only=True):
    """The plan that was carried out, and what became of it; ``report`` is None where the plan was not accepted."""

    planned: Planned
    report: Report | None


async def deliver(
    repo: Repo,
    pool: MemberPool,
    choices: pipeline.Choices,
    *,
    accept: Accept,
    check: Check = nothing_to_check,
    wait: bool = True,
    timeout_s: float = DEFAULT_TIMEOUT_S,
    lock_timeout_s: float = DEFAULT_LOCK_TIMEOUT_S,
    waiting: Waiting = lambda _member, _lease: None,
    unchanged: Unchanged | None = None,
    listener: Listener = nobody,
    go_on: GoOn = not_without_a_person,
    stays: Stays = not_since_before,
    stop: Stop | None = None,
) -> Delivery:
    """Make the members hold what the repository says. Nothing is written before ``accept`` says yes.

    Raises Locked where another run holds a member for too long, MemberError where the fleet as a whole cannot be
    planned; nothing is written then.
    """
    async with locking(pool, timeout_s=lock_timeout_s, waiting=waiting, unchanged=unchanged) as locks:
        await locks.look()
        planned = await pipeline.make(repo, pool, choices, now=datetime.now(UTC))
        await check(planned)
        if not await accept(planned, ""):
            return Delivery(planned=planned, report=None)
        while (states := Extent(planned).written()).keys() - locks.answered:
            moved = await locks.take(states) | await _moved(pool, planned)
            if not moved:
                break
            again = await pipeline.make(repo, pool, choices, now=datetime.now(UTC))
            await check(again)
            if again.plan != planned.plan and not await accept(again, other_writers(moved)):
                return Delivery(planned=again, report=None)
            planned = again
        report = await execute(
            planned,
            pool,
            wait=wait,
            timeout_s=timeout_s,
            listener=listener,
            locked_out=locks.problems,
            go_on=go_on,
            stays=stays,
            stop=stop,
        )
    return Delivery(planned=planned, report=replace(report, problems=(*locks.warnings, *report.problems)))


async def _moved(pool: MemberPool, planned: Planned) -> frozenset[str]:
    """The members whose record is not the one that was planned on; one that does not answer any more moved, too."""

    async def version(connection: Connection) -> str:
        found = await get(connection, CONFIG_MAPS, RECORD_NAMESPACE, record_name(pool.fleet))
        return str(found["metadata"]["resourceVersion"]) if found else ""

    states = planned.observation.read
    now = await pool.each(version, names=list(states))
    before = {name: state.record.resource_version if state.record else "" for name, state in states.items()}
    return frozenset(name for name, found in now.items() if isinstance(found, Unread) or found != before[name])
