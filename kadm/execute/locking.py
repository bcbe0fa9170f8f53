"""One run writes at a time: the Leases of all members that are written, taken before the first write.

    look   what each Lease says before anything is planned: whoever held one since may have changed what was planned on
    take   all of them: the first by name, then the rest side by side. Who waits for one holds none that comes after it,
           so of two runs that want several one gets them all, and no two wait for each other
    fence  no write is sent while the member's Lease is renewed late; none ever again once somebody else has it
    give   them back at the end; those of a run that was killed expire, or are taken over where it is proved dead

Leases are renewed over connections of their own, so that no renewal waits behind a large list.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime

from kadm.errors import KadmError, MemberError, Problem
from kadm.members.connection import Connection
from kadm.members.lease import DURATION_S, Lease, LeaseTaken, read_lease, write_lease
from kadm.members.pool import MemberPool
from kadm.members.process import Holder, has_died, this_run
from kadm.members.resources import LEASES
from kadm.model.observation import MemberState, Unread

_log = logging.getLogger(__name__)

DEFAULT_LOCK_TIMEOUT_S = 60.0
"""Above the time after which the Lease of a killed run expires."""

RENEW_EVERY_S = DURATION_S / 3
LATE_AFTER_S = DURATION_S * 2 / 3
"""A renewal older than this is late: nothing is written until it is made up for."""

GRACE_S = 2.0
"""A Lease that is not the first is waited for so long in any case: its holder may be about to let it go."""

RETRY_S = 1.0
POLL_S = 0.5
REQUEST_TIMEOUT_S = 5.0

Waiting = Callable[[str, Lease], None]
"""Hears which member is waited for, and who holds it; once per holder."""


Unchanged = dict[str, tuple[str, float]]
"""Member → the version of its Lease that was seen last, and since when, in seconds of the clock. Whoever locks again
and again keeps it: a holder that is dead elsewhere is found out although no single wait lasts as long as its Lease."""


class Locked(KadmError):
    """Another run holds a member for longer than this one was willing to wait."""


class LeaseLost(MemberError):
    """This run holds the member's Lease no more, or cannot know that it does: it may not write there."""


def now_s() -> float:
    """Seconds of a clock that never jumps, and where the system has one, goes on while the machine sleeps."""
    return time.clock_gettime(time.CLOCK_BOOTTIME) if hasattr(time, "CLOCK_BOOTTIME") else time.monotonic()


@dataclass
class _Held:
    """A Lease that this run holds. ``renewed_s`` is when the last successful renewal was sent."""

    connection: Connection
    lease: Lease
    renewed_s: float
    lost: str = ""
    renewed: asyncio.Condition = field(default_factory=asyncio.Condition)


class Locks:
    """The Leases of one run. ``problems`` has the members whose Lease could not be taken, ``warnings`` what to tell."""

    def __init__(
        self,
        pool: MemberPool,
        *,
        timeout_s: float,
        waiting: Waiting,
        clock: Callable[[], float],
        unchanged: Unchanged,
    ) -> None:
        self._pool = pool
        self._unchanged = unchanged
        self._timeout_s = timeout_s
        self._waiting = waiting
        self._clock = clock
        self._run: Holder = this_run()
        self._seen: dict[str, Lease] = {}
        self._held: dict[str, _Held] = {}
        self._asked: set[str] = set()
        """The members whose Lease was asked for, and may be held although no answer said so."""
        self._ways: dict[str, Connection] = {}
        self._renewals: dict[str, asyncio.Task[None]] = {}
        self._open = AsyncExitStack()
        self.problems: dict[str, Problem] = {}
        self.warnings: list[Problem] = []

    @property
    def answered(self) -> frozenset[str]:
        """The members of which it is known whether this run may write there."""
        return frozenset(self._held) | {problem.member for problem in self.warnings} | self.problems.keys()

    async def look(self) -> None:
        """Note what each Lease says; to be called before anything is read to plan on."""

        async def one(connection: Connection) -> Lease:
            return await read_lease(connection, self._pool.fleet)

        seen = await self._pool.each(one)
        self._seen = {name: lease for name, lease in seen.items() if isinstance(lease, Lease)}
        for name, lease in self._seen.items():
            self._unchanged_since(name, lease)

    async def take(self, states: Mapping[str, MemberState]) -> frozenset[str]:
        """Take the Leases of these members; gives those where somebody may have written since ``look``.

        Those that are held already stay held, unless a new one comes before them: then all are taken anew.

        Raises Locked where the time is over. A member whose Lease cannot be taken for another reason is in
        ``problems``, and not to be written.
        """
        wanted = states.keys() - self.answered
        if self._held and wanted and min(wanted) < max(self._held):
            # Waiting for one while holding another that comes later could lock two runs against each other.
            await self.give()
            wanted = states.keys() - self.answered
        without = [name for name in sorted(wanted) if _knows_no_leases(states[name])]
        self.warnings += map(_without, without)
        left: Sequence[str] = sorted(wanted - set(without))
        moved: set[str] = set()
        deadline_s = self._clock() + self._timeout_s
        while left:
            first, *rest = left
            moved |= await self._take_all([first], deadline_s)
            moved |= await self._take_all(rest, None)
            left = await self._from_the_first_that_is_busy(rest)
            deadline_s = max(deadline_s, self._clock() + GRACE_S)
        return frozenset(moved)

    async def _take_all(self, names: Collection[str], deadline_s: float | None) -> frozenset[str]:
        """Take these Leases side by side, until the deadline (None: those that are free); gives those where somebody
        may have written since ``look``. Raises Locked."""

        async def one(connection: Connection) -> bool:
            return await self._take(connection.name, deadline_s)

        found = await self._pool.each(one, names=names)
        self.problems |= {name: one.problem for name, one in found.items() if isinstance(one, Unread)}
        return frozenset(name for name, moved in found.items() if moved is True)

    async def _from_the_first_that_is_busy(self, names: Sequence[str]) -> Sequence[str]:
        """Those that are still to be taken; what comes after the first of them is let go until then."""
        busy = [name for name in names if name not in self.answered]
        if not busy:
            return ()
        after = [name for name in names if name > busy[0] and name not in self.problems]
        await self._let_go([name for name in after if name in self._held])
        return (busy[0], *after)

    async def give(self) -> None:
        """Give back every Lease that is held. One that cannot be given back expires by itself."""
        try:
            await self._let_go(list(self._held))
            await asyncio.gather(*map(self._give_what_was_asked, self._asked.copy()))
        finally:
            self._asked.clear()
            self._ways.clear()
            await self._open.aclose()

    async def _let_go(self, names: Sequence[str]) -> None:
        """Give back these Leases, which are held."""
        renewals = [self._renewals.pop(name) for name in names]
        for task in renewals:
            task.cancel()
        ended = await asyncio.gather(*renewals, return_exceptions=True)
        held = {name: self._held.pop(name) for name in names}
        await asyncio.gather(*(self._give(name, one) for name, one in held.items()))
        for fault in ended:
            if isinstance(fault, Exception):  # cancelled ones are none
                raise fault

    async def _take(self, name: str, deadline_s: float | None) -> bool:
        """Take one Lease; whether somebody may have written since ``look``. Without a deadline one that somebody holds
        is left alone. Raises Locked."""
        connection = await self._way(name)
        fleet = self._pool.fleet
        before = self._seen.get(name)
        lease = await read_lease(connection, fleet)
        told = ""
        while True:
            asked_s = self._clock()
            if lease.holder == self._run.identity:  # a PUT whose answer was lost
                break
            if self._is_free(lease, self._unchanged_since(name, lease)):
                self._asked.add(name)
                try:
                    lease = await write_lease(
                        connection, fleet, lease, self._run, now=datetime.now(UTC), timeout_s=REQUEST_TIMEOUT_S
                    )
                    break
                except LeaseTaken:
                    pass
            elif deadline_s is None:
                self._asked.discard(name)
                return False
            else:
                if asked_s >= deadline_s:
                    raise _locked(name, lease, self._timeout_s)
                if told != lease.holder:
                    told = lease.holder
                    self._waiting(name, lease)
                await asyncio.sleep(POLL_S)
            lease = await read_lease(connection, fleet)
        self._asked.discard(name)
        self._hold(name, _Held(connection, lease, asked_s))
        # Free and untouched from the look to the take: nobody wrote in between.
        return before is None or bool(before.holder) or lease.transitions != _next(before)

    async def _way(self, name: str) -> Connection:
        """The connection for the Lease of a member."""
        if name not in self._ways:
            access = self._pool.connection(name)
            connection = Connection(
                name,
                access.access,
                request_timeout_s=access.request_timeout_s,
                read_only=False,
                failures=access.failures,
            )
            self._ways[name] = await self._open.enter_async_context(connection)
        return self._ways[name]

    def _unchanged_since(self, name: str, lease: Lease) -> float:
        """Since when the Lease is seen as it is now."""
        version, since_s = self._unchanged.get(name, ("", 0.0))
        if version != lease.version:
            since_s = self._clock()
            self._unchanged[name] = lease.version, since_s
        return since_s

    def _is_free(self, lease: Lease, unchanged_since_s: float) -> bool:
        expired = self._clock() - unchanged_since_s >= lease.duration_s
        return not lease.holder or expired or has_died(lease.mark)

    def _hold(self, name: str, held: _Held) -> None:
        async def fence() -> None:
            await self._in_time(name, held)

        self._held[name] = held
        self._pool.connection(name).fence = fence
        self._renewals[name] = asyncio.create_task(self._keep(name, held), name=f"renew the Lease of {name}")

    async def _in_time(self, name: str, held: _Held) -> None:
        """Return when the member may be written: at once, or when a late renewal is made up for. Raises LeaseLost."""
        give_up_s = self._clock() + DURATION_S
        while not held.lost and self._clock() - held.renewed_s > LATE_AFTER_S and self._clock() < give_up_s:
            async with held.renewed:
                try:
                    async with asyncio.timeout(RETRY_S):
                        await held.renewed.wait()
                except TimeoutError:
                    continue
        if held.lost or self._clock() - held.renewed_s > LATE_AFTER_S:
            raise LeaseLost(
                "this run may not write here any more",
                member=name,
                why=held.lost or "its Lease could not be renewed",
                hint="run again: it finishes the work",
            )

    async def renew(self, name: str) -> None:
        """Renew one Lease now. A failure is made up for later, unless somebody else has the Lease: then it is lost."""
        held, asked_s = self._held[name], self._clock()
        try:
            held.lease = await self._renewed(held)
            held.renewed_s = asked_s
        except LeaseTaken as taken:
            held.lost = taken.problem.what
        except MemberError as error:
            _log.warning("%s: the Lease could not be renewed: %s", name, error.problem.what)
        async with held.renewed:
            held.renewed.notify_all()

    async def _keep(self, name: str, held: _Held) -> None:
        """Renew until the Lease is lost. Ends by cancellation otherwise."""
        while not held.lost:
            late = self._clock() - held.renewed_s >= RENEW_EVERY_S
            await asyncio.sleep(RETRY_S if late else RENEW_EVERY_S)
            await self.renew(name)

    async def _renewed(self, held: _Held) -> Lease:
        """The Lease after one renewal. Raises LeaseTaken where somebody else holds it."""
        fleet = self._pool.fleet
        try:
            return await self._write(held, self._run)
        except LeaseTaken:
            found = await read_lease(held.connection, fleet, timeout_s=REQUEST_TIMEOUT_S)
            if found.holder != self._run.identity:
                raise
            return found  # it was renewed by a PUT whose answer was lost

    async def _give(self, name: str, held: _Held) -> None:
        self._pool.connection(name).fence = None
        if held.lost:
            return
        try:
            try:
                self._seen[name] = await self._write(held, None)
            except LeaseTaken:
                # A renewal that was under way may have come through although nobody waited for its answer.
                held.lease = await read_lease(held.connection, self._pool.fleet, timeout_s=REQUEST_TIMEOUT_S)
                if held.lease.holder == self._run.identity:
                    self._seen[name] = await self._write(held, None)
        except MemberError as error:
            _log.info("%s: the Lease could not be given back, it expires: %s", name, error.problem.what)

    async def _give_what_was_asked(self, name: str) -> None:
        """Give back a Lease that was asked for when this run was ended, if it was given."""
        connection, fleet = self._ways[name], self._pool.fleet
        try:
            found = await read_lease(connection, fleet, timeout_s=REQUEST_TIMEOUT_S)
            if found.holder == self._run.identity:
                await write_lease(connection, fleet, found, None, now=datetime.now(UTC), timeout_s=REQUEST_TIMEOUT_S)
        except MemberError as error:
            _log.info("%s: it is not known whether its Lease is held; if so, it expires: %s", name, error.problem.what)

    async def _write(self, held: _Held, holder: Holder | None) -> Lease:
        return await write_lease(
            held.connection,
            self._pool.fleet,
            held.lease,
            holder,
            now=datetime.now(UTC),
            timeout_s=REQUEST_TIMEOUT_S,
        )


@asynccontextmanager
async def locking(
    pool: MemberPool,
    *,
    timeout_s: float = DEFAULT_LOCK_TIMEOUT_S,
    waiting: Waiting = lambda _member, _lease: None,
    clock: Callable[[], float] = now_s,
    unchanged: Unchanged | None = None,
) -> AsyncIterator[Locks]:
    """Locks for the time of the block; whatever ends it, they are given back. ``unchanged`` is what earlier ones saw,
    by the same clock; None: nothing."""
    locks = Locks(
        pool,
        timeout_s=timeout_s,
        waiting=waiting,
        clock=clock,
        unchanged=unchanged if unchanged is not None else {},
    )
    try:
        yield locks
    finally:
        await locks.give()


def in_words(member: str, lease: Lease) -> str:
    """Who holds which member, for a person who waits."""
    return f"{member} is held by {lease.held_by}"


def _next(before: Lease) -> int:
    """``transitions`` where this run was the next to take a Lease that was read as free."""
    return before.transitions + bool(before.version)


def _knows_no_leases(state: MemberState) -> bool:
    return state.serving(LEASES.gvk) is None


def _without(name: str) -> Problem:
    return Problem(
        what="it serves no Leases: another run at the same time is found out by the record alone",
        severity="warning",
        member=name,
        hint="do not run two at once",
    )


def _locked(name: str, lease: Lease, timeout_s: float) -> Locked:
    return Locked(
        f"held by {lease.held_by}",
        member=name,
        why=f"waited {timeout_s:g} s",
        hint="run again when it is done, or wait longer with --lock-timeout; nothing was written",
    )


def other_writers(names: Collection[str]) -> str:
    """The members in which somebody else was at work, as a sentence for a person."""
    return f"another run was at work in {', '.join(sorted(names))}: planned again"
