"""One run at a time in each member."""

from __future__ import annotations

import asyncio
import random
import re
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime

import pytest
from aiohttp import web

from kadm.execute.locking import LATE_AFTER_S, LeaseLost, Locked, Unchanged, in_words, locking
from kadm.members.connection import Connection
from kadm.members.lease import Lease, read_lease, write_lease
from kadm.members.pool import MemberPool
from kadm.members.process import Holder, this_run
from kadm.members.resources import LEASES
from kadm.model.observation import MemberState
from tests.members.fake_member import FakeMember, run, serving

BOB = Holder(who="bob", host="ci-8", token="2")


class Clock:
    """A clock that tests move."""

    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


async def _at_once() -> None:
    pass


class Noting(FakeMember):
    """A member that says when it is asked something."""

    def __init__(self) -> None:
        super().__init__()
        self._asked = asyncio.Condition()
        self.before: Callable[[], Awaitable[object]] = _at_once
        """Awaited before each write is done."""
        self.after: Callable[[], Awaitable[object]] = _at_once
        """Awaited after it was done, before that is told."""

    async def handle(self, request: web.Request) -> web.StreamResponse:
        if request.method != "GET":
            await self.before()
        answer = await super().handle(request)
        if request.method != "GET":
            await self.after()
        async with self._asked:
            self._asked.notify_all()
        return answer

    async def asked(self, more: int) -> None:
        """Return when so many more requests were answered."""
        async with self._asked:
            enough = len(self.requests) + more
            await self._asked.wait_for(lambda: len(self.requests) >= enough)


class Fleet:
    """A pool of fake members."""

    def __init__(self, pool: MemberPool, members: dict[str, Noting]) -> None:
        self.pool = pool
        self.members = members
        self.asked: list[str] = []

    def states(self, *names: str, leases: bool = True) -> dict[str, MemberState]:
        serves = (LEASES,) if leases else ()
        return {name: MemberState(name=name, uid=name, version="v1", api_resources=serves) for name in names}

    async def lease(self, name: str) -> Lease:
        return await read_lease(self.pool.connection(name), "shop")

    async def held_by(self, holder: Holder | None, name: str) -> Lease:
        """Let somebody else take the Lease, renew it, or give it back."""
        async with self.members[name].connection() as connection:
            seen = await read_lease(connection, "shop")
            return await write_lease(connection, "shop", seen, holder, now=datetime.now(UTC), timeout_s=5)


@asynccontextmanager
async def a_fleet(*names: str) -> AsyncIterator[Fleet]:
    members = {name: Noting() for name in names}
    async with AsyncExitStack() as stack:
        connections = {}
        for name, member in members.items():
            await stack.enter_async_context(serving(member))
            connections[name] = await stack.enter_async_context(Connection(name, member.access()))
        yield Fleet(MemberPool("shop", connections, {}), members)


def test_what_is_free_is_taken_and_given_back() -> None:
    async def body() -> None:
        async with a_fleet("a", "b") as fleet:
            async with locking(fleet.pool) as locks:
                await locks.look()
                assert await locks.take(fleet.states("b", "a")) == frozenset(), "nobody wrote since the look"
                assert locks.answered == {"a", "b"}
                assert [bool((await fleet.lease(name)).holder) for name in "ab"] == [True, True]
                assert fleet.pool.connection("a").fence is not None
            assert [(await fleet.lease(name)).holder for name in "ab"] == ["", ""]
            assert fleet.pool.connection("a").fence is None

    run(body())


def test_whoever_wrote_between_look_and_take_is_found_out() -> None:
    async def body() -> None:
        async with a_fleet("a", "b", "c") as fleet:
            await fleet.held_by(BOB, "b")
            async with locking(fleet.pool) as locks:
                await locks.look()
                await fleet.held_by(None, "b")  # held at the look: bob may have written after it
                await fleet.held_by(BOB, "c")
                await fleet.held_by(None, "c")  # came and went since
                assert await locks.take(fleet.states("a", "b", "c")) == {"b", "c"}

    run(body())


def test_a_held_lease_is_waited_for_and_its_holder_named() -> None:
    async def body() -> None:
        async with a_fleet("a") as fleet:
            await fleet.held_by(BOB, "a")
            waited: asyncio.Queue[str] = asyncio.Queue()
            async with locking(
                fleet.pool, waiting=lambda name, lease: waited.put_nowait(in_words(name, lease))
            ) as locks:
                await locks.look()
                taking = asyncio.create_task(locks.take(fleet.states("a")))
                assert re.fullmatch(r"a is held by bob@ci-8 since 2\S*Z", await waited.get())
                await fleet.held_by(None, "a")
                assert await taking == {"a"}
                assert waited.empty()

    run(body())


def test_after_the_lock_timeout_the_holder_is_named_and_nothing_is_held() -> None:
    async def body() -> None:
        async with a_fleet("a", "b") as fleet:
            await fleet.held_by(BOB, "b")
            with pytest.raises(Locked, match=r"b: held by bob@ci-8 since 2.*Z: waited 0 s .*--lock-timeout"):
                async with locking(fleet.pool, timeout_s=0) as locks:
                    await locks.take(fleet.states("a", "b"))
            assert (await fleet.lease("a")).holder == ""

    run(body())


def test_a_lease_that_does_not_change_for_its_duration_has_expired() -> None:
    async def body() -> None:
        clock = Clock()
        async with a_fleet("a") as fleet:
            await fleet.held_by(BOB, "a")
            waited = asyncio.Event()
            async with locking(fleet.pool, clock=clock, waiting=lambda _name, _lease: waited.set()) as locks:
                taking = asyncio.create_task(locks.take(fleet.states("a")))
                await waited.wait()
                clock.now_s += 14
                await fleet.held_by(BOB, "a")  # renewed
                await fleet.members["a"].asked(2)
                clock.now_s += 14
                await fleet.members["a"].asked(2)
                assert not taking.done(), "28 s since it was first seen, 14 s since its last change"
                clock.now_s += 1
                assert await taking == {"a"}

    run(body())


def test_a_holder_that_is_dead_on_this_machine_is_not_waited_for() -> None:
    async def body() -> None:
        boot, namespace, pid, _ = this_run().mark.split("/")
        dead = Holder(who="bob", host="here", token="2", mark=f"{boot}/{namespace}/{pid}/1")
        async with a_fleet("a") as fleet:
            await fleet.held_by(dead, "a")
            async with locking(fleet.pool, timeout_s=0) as locks:
                assert await locks.take(fleet.states("a")) == {"a"}

    run(body())


def test_a_member_without_leases_is_written_with_a_warning() -> None:
    async def body() -> None:
        async with a_fleet("a") as fleet, locking(fleet.pool) as locks:
            await locks.take(fleet.states("a", leases=False))
            assert [(one.member, one.severity) for one in locks.warnings] == [("a", "warning")]
            assert locks.answered == {"a"}
            assert fleet.pool.connection("a").fence is None

    run(body())


def test_a_member_that_comes_before_held_ones_makes_all_be_taken_anew() -> None:
    async def body() -> None:
        async with a_fleet("a", "b") as fleet, locking(fleet.pool) as locks:
            await locks.look()
            await locks.take(fleet.states("b"))
            assert await locks.take(fleet.states("a", "b")) == frozenset()
            assert locks.answered == {"a", "b"}
            assert (await fleet.lease("b")).transitions == 1

    run(body())


def test_no_write_is_sent_once_somebody_else_has_the_lease() -> None:
    async def body() -> None:
        clock = Clock()
        async with a_fleet("a") as fleet, locking(fleet.pool, clock=clock) as locks:
            await locks.take(fleet.states("a"))
            await fleet.held_by(BOB, "a")
            await locks.renew("a")
            connection = fleet.pool.connection("a")
            connection.read_only = False
            sent = len(fleet.members["a"].requests)
            with pytest.raises(LeaseLost, match="another run of kadm wrote the Lease meanwhile"):
                await connection.request("DELETE", "/api/v1/namespaces/x")
            assert len(fleet.members["a"].requests) == sent
            await connection.request("GET", "/apis/coordination.k8s.io/v1/namespaces/kadm-system/leases/kadm-shop")

    run(body())


def test_a_write_waits_for_a_late_renewal() -> None:
    async def body() -> None:
        clock = Clock()
        async with a_fleet("a") as fleet, locking(fleet.pool, clock=clock) as locks:
            await locks.take(fleet.states("a"))
            fence = fleet.pool.connection("a").fence
            assert fence is not None
            clock.now_s += LATE_AFTER_S + 1
            waiting = asyncio.ensure_future(fence())
            await asyncio.sleep(0.05)
            assert not waiting.done()
            await locks.renew("a")
            await waiting

    run(body())


def test_a_lease_expires_over_several_runs_that_keep_what_they_saw() -> None:
    async def body() -> None:
        clock, unchanged = Clock(), Unchanged()
        async with a_fleet("a") as fleet:
            await fleet.held_by(BOB, "a")
            for _ in range(3):
                with pytest.raises(Locked):
                    async with locking(fleet.pool, timeout_s=0, clock=clock, unchanged=unchanged) as locks:
                        await locks.take(fleet.states("a"))
                clock.now_s += 5
            async with locking(fleet.pool, timeout_s=0, clock=clock, unchanged=unchanged) as locks:
                assert await locks.take(fleet.states("a")) == {"a"}, "15 s without a change"

    run(body())


def test_a_renewal_that_nobody_waited_for_does_not_keep_the_lease() -> None:
    async def body() -> None:
        async with a_fleet("a") as fleet:
            async with locking(fleet.pool) as locks:
                await locks.take(fleet.states("a"))
                mine = await fleet.lease("a")
                holder = Holder(who=mine.holder.partition("@")[0], host=_host(mine), token=_token(mine))
                await fleet.held_by(holder, "a")  # as a renewal whose answer is lost
            assert (await fleet.lease("a")).holder == ""

    run(body())


def test_all_but_the_first_are_asked_for_at_once() -> None:
    names = [f"m{number:02}" for number in range(12)]

    async def body() -> None:
        async with a_fleet(*names) as fleet, locking(fleet.pool) as locks:
            await locks.look()
            asked = asyncio.Barrier(len(names) - 1)
            for name in names[1:]:
                fleet.members[name].before = asked.wait  # nobody is answered before everybody was asked
            async with asyncio.timeout(10):
                assert await locks.take(fleet.states(*names)) == frozenset()
            assert locks.answered == set(names)

    run(body())


def test_who_waits_holds_nothing_that_comes_later() -> None:
    async def body() -> None:
        async with a_fleet("a", "b", "c", "d") as fleet:
            await fleet.held_by(BOB, "b")
            waits = asyncio.Event()
            async with locking(fleet.pool, waiting=lambda _name, _lease: waits.set()) as locks:
                await locks.look()
                taking = asyncio.create_task(locks.take(fleet.states("a", "b", "c", "d")))
                await waits.wait()
                held = {name: (await fleet.lease(name)).holder for name in "abcd"}
                assert (held["b"], held["c"], held["d"], bool(held["a"])) == (BOB.identity, "", "", True)
                await fleet.held_by(BOB, "d")
                await fleet.held_by(None, "d")  # he got it while nobody held it, and may have written
                await fleet.held_by(None, "b")
                assert await taking == {"b", "d"}
                assert locks.answered == set("abcd")

    run(body())


@pytest.mark.parametrize("seed", range(8))
def test_of_runs_that_want_some_of_the_same_members_each_gets_all_of_its_own(seed: int) -> None:
    """Six runs with members of their own choice, at once: no two hold a member at the same time, and all get on."""
    choice = random.Random(seed)
    wanted = [choice.sample("abcdef", choice.randint(1, 6)) for _ in range(6)]
    at_work: Counter[str] = Counter()

    async def one(fleet: Fleet, names: list[str]) -> None:
        async with locking(fleet.pool, timeout_s=60) as locks:
            await locks.look()
            await asyncio.sleep(choice.random() / 50)
            await locks.take(fleet.states(*names))
            assert (locks.answered == set(names), len(locks.problems)) == (True, 0)
            at_work.update(names)
            assert max(at_work[name] for name in names) == 1
            await asyncio.sleep(choice.random() / 50)
            at_work.subtract(names)

    async def body() -> None:
        async with a_fleet(*"abcdef") as fleet, asyncio.timeout(60), asyncio.TaskGroup() as group:
            for names in wanted:
                group.create_task(one(fleet, names))
        assert not +at_work

    run(body())


def test_a_run_that_is_ended_while_it_asks_keeps_nothing() -> None:
    async def body() -> None:
        names = ("a", "b", "c")
        done, answers = asyncio.Barrier(3), asyncio.Event()

        async def told_late() -> None:
            await done.wait()
            await answers.wait()

        async def taken(fleet: Fleet) -> None:
            async with locking(fleet.pool) as locks:
                await locks.take(fleet.states(*names))

        async with a_fleet(*names) as fleet:
            for name in names:
                await fleet.held_by(BOB, name)
                await fleet.held_by(None, name)
            for name in ("b", "c"):
                fleet.members[name].after = told_late
            taking = asyncio.create_task(taken(fleet))
            await done.wait()
            assert all([(await fleet.lease(name)).holder for name in names]), "they are held, and it does not know"
            taking.cancel()
            for name in ("b", "c"):
                fleet.members[name].after = _at_once
            with pytest.raises(asyncio.CancelledError):
                await taking
            answers.set()
            assert [(await fleet.lease(name)).holder for name in names] == ["", "", ""]

    run(body())


def _host(lease: Lease) -> str:
    return lease.holder.partition("@")[2].partition("/")[0]


def _token(lease: Lease) -> str:
    return lease.holder.rpartition("/")[2]
