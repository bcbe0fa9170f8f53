"""Carrying out a plan: every member side by side, tied together only by moves."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType

from kadm.errors import MemberError, Problem
from kadm.execute.arrivals import Arrivals
from kadm.execute.events import Listener, nobody
from kadm.execute.extent import written
from kadm.execute.member import MemberRun
from kadm.execute.wait import is_ready
from kadm.members.connection import Connection
from kadm.members.pool import MemberPool
from kadm.members.together import together
from kadm.model.objects import ObjectKey
from kadm.model.plan import Change
from kadm.model.planned import Planned
from kadm.model.report import Report

DEFAULT_TIMEOUT_S = 300.0


async def execute(
    planned: Planned,
    pool: MemberPool,
    *,
    wait: bool = True,
    timeout_s: float = DEFAULT_TIMEOUT_S,
    listener: Listener = nobody,
    locked_out: Mapping[str, Problem] = MappingProxyType({}),
) -> Report:
    """Do what the plan says, and report what became of each change.

    ``wait``: wait until what was changed is ready, at most ``timeout_s`` per member; moves are waited for in any case.
    ``locked_out`` are members that may not be written, with why. Killed at any point, the next run finishes the work:
    the record was written first.
    """
    runs = {
        name: MemberRun(pool.connection(name), state, planned, timeout_s, listener)
        for name, state in written(planned).items()
    }
    arrivals = Arrivals(planned.plan.moves)
    for name in {target for move in planned.plan.moves for target in move.arrives} - runs.keys():
        arrivals.lost(name, "nothing is written there")
    lost: dict[str, Problem] = {}

    async def one(run: MemberRun) -> None:
        if run.name in locked_out:
            lose(run, locked_out[run.name])
            return
        try:
            await _member(run, arrivals, wait=wait)
        except MemberError as error:
            lose(run, error.problem)

    def lose(run: MemberRun, problem: Problem) -> None:
        lost[run.name] = problem
        run.give_up(run.changes, "skipped", f"the member was lost: {problem.what}")
        arrivals.lost(run.name, problem.what)

    with _writing([pool.connection(name) for name in runs if name not in locked_out]):
        await together({f"member {name}": one(run) for name, run in runs.items()})
    ordered = [runs[name] for name in sorted(runs)]
    return Report(
        results=tuple(result for run in ordered for result in run.ordered_results()),
        held=planned.plan.held,
        unread=(*planned.plan.unread, *(lost[name] for name in sorted(lost))),
        problems=tuple(problem for run in ordered for problem in run.problems),
    )


async def _member(run: MemberRun, arrivals: Arrivals, *, wait: bool) -> None:
    """All writes to one member. Raises MemberError where it is lost on the way."""
    leaving = arrivals.leaving(run.name)
    changes = run.changes
    removals = [change for change in changes if change.action in ("delete", "release")]
    shrinking = [change for change in changes if change.key in leaving]
    first = [change for change in changes if change not in removals and change not in shrinking]
    await run.begin()
    await run.apply(first)
    await run.confirm()
    await _report_arrivals(run, arrivals)
    unfinished = await _shrink(run, arrivals, shrinking)
    if wait:
        await run.wait([change for change in (*first, *shrinking) if change.action != "delete"])
    await _prune(run, [change for change in removals if change not in shrinking])
    await run.finish(unfinished=unfinished | await _elsewhere_unfinished(run, arrivals))
    await run.stamp()


async def _report_arrivals(run: MemberRun, arrivals: Arrivals) -> None:
    """Wait for what moves here, changed in this run or before, and tell the members that it leaves."""
    for key in arrivals.expected_in(run.name):
        if (result := run.results.get(key)) is not None and result.result == "failed":
            arrivals.say(run.name, key, result.problem.what if result.problem else "it failed")
    for key, seen in (await run.wait_for(arrivals.expected_in(run.name))).items():
        arrivals.say(run.name, key, "" if is_ready(seen) else f"{seen.code}: {seen.reason}")


async def _shrink(run: MemberRun, arrivals: Arrivals, shrinking: list[Change]) -> set[ObjectKey]:
    """Shrink each source whose move has arrived everywhere; the others keep their replicas and are returned."""
    unfinished = set()
    for key in sorted(arrivals.leaving(run.name)):
        own = [change for change in shrinking if change.key == key]
        if why_not := await arrivals.all_arrived(key):
            unfinished.add(key)
            run.give_up(own, "held", f"it keeps its replicas here until they are ready elsewhere; {why_not}")
            continue
        await run.apply([change for change in own if change.action not in ("delete", "release")])
        await run.delete([change for change in own if change.action in ("delete", "release")])
    return unfinished


async def _prune(run: MemberRun, removals: list[Change]) -> None:
    """Delete what left the repository, but nothing in a namespace where something new is not well: it may be needed."""
    ill = {
        one.change.key.namespace
        for one in run.results.values()
        if one.result in ("failed", "not ready", "held") and one.change.key.namespace
    }
    kept = [
        change
        for change in removals
        if change.key.namespace in ill or (change.key.kind == "Namespace" and change.key.name in ill)
    ]
    await run.delete([change for change in removals if change not in kept])
    run.give_up(kept, "held", "it stays until everything else in its namespace is well")


async def _elsewhere_unfinished(run: MemberRun, arrivals: Arrivals) -> set[ObjectKey]:
    """Moves that arrive here and have not ended everywhere: this member's record keeps them, too.

    A member that arrives sooner than another waits for it: its record would else tell of a move that is done.
    """
    return {key for key in arrivals.expected_in(run.name) if await arrivals.all_arrived(key)}


@contextmanager
def _writing(connections: Collection[Connection]) -> Iterator[None]:
    """Let writes through for the time of the block; before and after it the transport refuses them."""
    for connection in connections:
        connection.read_only = False
    try:
        yield
    finally:
        for connection in connections:
            connection.read_only = True
