"""Carrying out a plan: wave after wave, the members of a wave side by side, tied together only by moves."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType

from kadm.errors import MemberError, Problem
from kadm.execute.arrivals import Arrivals
from kadm.execute.events import Listener, nobody
from kadm.execute.extent import Extent
from kadm.execute.member import MemberRun
from kadm.execute.steps import write_member
from kadm.execute.stop import INTERRUPTED, Stop
from kadm.execute.turns import Turns
from kadm.execute.wait import is_ready, waits_for
from kadm.execute.waves import changed_in, sequence, why_not_well
from kadm.members.connection import Connection
from kadm.members.pool import MemberPool
from kadm.members.together import together
from kadm.model.objects import ObjectKey
from kadm.model.plan import PlannedWave
from kadm.model.planned import Planned
from kadm.model.report import Report
from kadm.model.status import Health

DEFAULT_TIMEOUT_S = 300.0

GoOn = Callable[[PlannedWave], Awaitable[bool]]
"""Whether the next wave may begin after this one, which is well and has a pause after it."""


async def not_without_a_person(_wave: PlannedWave) -> bool:
    """Nobody is here to say that it may go on: the next apply does."""
    return False


Stays = Callable[[PlannedWave], bool]
"""Whether the rollout stands at the pause after this wave since an earlier run, though nothing changes in the wave."""


def not_since_before(_wave: PlannedWave) -> bool:
    """An apply by hand goes on from where the last one ended."""
    return False


async def execute(
    planned: Planned,
    pool: MemberPool,
    *,
    wait: bool = True,
    timeout_s: float = DEFAULT_TIMEOUT_S,
    listener: Listener = nobody,
    locked_out: Mapping[str, Problem] = MappingProxyType({}),
    go_on: GoOn = not_without_a_person,
    stays: Stays = not_since_before,
    stop: Stop | None = None,
) -> Report:
    """Do what the plan says, and report what became of each change.

    ``wait``: wait until what was changed is ready, each object at most ``timeout_s``; moves, and waves that others
    follow, are waited for in any case. ``locked_out`` are members that may not be written, with why. ``stop`` ends the
    run early. Killed at any point, the next run finishes the work: the record was written first.
    """
    work = _Work(
        planned,
        pool,
        wait=wait,
        timeout_s=timeout_s,
        listener=listener,
        go_on=go_on,
        stays=stays,
        stop=stop or Stop(),
    )
    work.stop.working = True
    for name, problem in locked_out.items():
        work.lose(name, problem)
    with _writing([pool.connection(name) for name in work.runs if name not in locked_out]):
        await together(
            {"waves": work.lead()}
            | {f"member {name}": work.write(name) for name in work.runs if name not in locked_out}
        )
    return work.report()


class _Work:
    """One plan being carried out."""

    def __init__(
        self,
        planned: Planned,
        pool: MemberPool,
        *,
        wait: bool,
        timeout_s: float,
        listener: Listener,
        go_on: GoOn,
        stays: Stays,
        stop: Stop,
    ) -> None:
        extent = Extent(planned)
        self._reached = {
            name: MemberRun(pool.connection(name), state, planned, extent, timeout_s, listener, stop)
            for name, state in extent.reached().items()
        }
        self.runs = {name: self._reached[name] for name in extent.written()}
        self._planned = planned
        self._waves = list(sequence(planned.plan))
        self._wait = wait
        self._go_on = go_on
        self._stays = stays
        self.stop = stop
        self._lost: dict[str, Problem] = {}
        self._turns = Turns(self.runs)
        self._arrivals = Arrivals(planned.plan.moves)
        for name in {target for move in planned.plan.moves for target in move.arrives} - self.runs.keys():
            self._arrivals.lost(name, "nothing is written there")

    async def write(self, name: str) -> None:
        """All writes to one member."""
        run = self.runs[name]
        try:
            await write_member(run, self._arrivals, self._turns, wait=self._wait or bool(self._after(name)))
        except MemberError as error:
            self.lose(name, error.problem)

    def lose(self, name: str, problem: Problem) -> None:
        """Give a member up: nothing more is written there."""
        if name not in self.runs:
            return
        self._lost[name] = problem
        self.runs[name].give_up(self.runs[name].changes, "skipped", f"the member was lost: {problem.what}")
        self._arrivals.lost(name, problem.what)
        self._turns.over(name, problem.what)

    async def lead(self) -> None:
        """Let one wave after the other begin, each when the one before it is well."""
        for index, wave in enumerate(self._waves):
            members = [name for name in wave.members if name in self.runs]
            for name in members:
                self._turns.come(name)
            for name in members:
                await self._turns.until_over(name)
            later = [name for one in self._waves[index + 1 :] for name in one.members if name in self.runs]
            if not later:
                return
            if why := await self._why_stay(wave, later):
                for name in later:
                    self._turns.refuse(name, why)
                return

    async def _why_stay(self, wave: PlannedWave, later: Collection[str]) -> str:
        """Why no later wave may begin, in words; empty where the next one may."""
        plan = self._planned.plan
        keys = changed_in(plan, later)
        standing = await self._not_ready(wave, keys) if not self.stop.asked else {}
        if self.stop.asked:
            self._turns.refused_as = "skipped"
            return INTERRUPTED
        why = why_not_well(
            wave,
            plan,
            results=[one for name in wave.members if name in self.runs for one in self.runs[name].ordered_results()],
            lost=self._lost,
            standing=standing,
            later=keys,
        )
        if why:
            return f"its wave has not begun: {why}"
        pauses = wave.pause and (bool(changed_in(plan, wave.members)) or self._stays(wave))
        if pauses and not await self._go_on(wave):
            self._turns.refused_as = "paused"
            return f"its wave has not begun: there is a pause after {wave.name}; the next apply goes on"
        return ""

    async def _not_ready(self, wave: PlannedWave, keys: Collection[ObjectKey]) -> dict[str, Mapping[ObjectKey, Health]]:
        """Member → workload → health, for what later waves change and what is not ready in this one."""

        async def one(name: str) -> dict[ObjectKey, Health]:
            run = self._reached[name]
            desired = self._planned.desired.members.get(name)
            here = {wanted.key for wanted in desired.objects} & set(keys) if desired else set()
            due = waits_for(sorted(here - run.results.keys()))
            try:
                health = await run.wait_for(due)
            except MemberError as error:
                self._lost[name] = error.problem
                return {}
            return {key: seen for key, seen in health.items() if not is_ready(seen)}

        members = [name for name in wave.members if name in self._reached and name not in self._lost]
        return dict(await together({name: one(name) for name in members}))

    def _after(self, name: str) -> list[str]:
        """The members of later waves that are written."""
        at = next(index for index, wave in enumerate(self._waves) if name in wave.members)
        return [other for wave in self._waves[at + 1 :] for other in wave.members if other in self.runs]

    def report(self) -> Report:
        """What became of everything, in the plan's order."""
        ordered = [self.runs[name] for name in sorted(self.runs)]
        return Report(
            results=tuple(result for run in ordered for result in run.ordered_results()),
            held=self._planned.plan.held,
            unread=(*self._planned.plan.unread, *(self._lost[name] for name in sorted(self._lost))),
            problems=tuple(problem for run in ordered for problem in run.problems),
        )


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
