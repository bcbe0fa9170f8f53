"""Who writes of several daemons, by the Leases of three members."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Any, cast

from kadm.errors import MemberUnreachable
from kadm.members.connection import Connection
from kadm.members.process import Holder
from kadm.watch.election import Election
from kadm.watch.links import Links
from tests.members.fake_member import FakeMember, run, serving

PATH = "/apis/coordination.k8s.io/v1/namespaces/kadm-system/leases/kadm-shop.watch"


@dataclass
class Connections:
    """In place of the daemon's own: some members do not answer."""

    by_name: dict[str, Connection] = field(default_factory=dict)
    dead: set[str] = field(default_factory=set)

    async def writer(self, name: str) -> Connection:
        if name in self.dead:
            raise MemberUnreachable("no connection", member=name)
        return self.by_name[name]


@dataclass
class Scene:
    """Three electors, and daemons that take part."""

    members: dict[str, FakeMember]
    connections: Connections
    now: float = 0.0

    def daemon(self, token: str) -> Election:
        me = Holder(who=f"kadm-{token}", host="h", token=token)
        links = cast("Links", self.connections)
        return Election("shop", links, lambda: None, electors=sorted(self.members), clock=lambda: self.now, me=me)

    def holders(self) -> list[str]:
        found = [member.objects.get(PATH, {}) for _, member in sorted(self.members.items())]
        return [one.get("spec", {}).get("holderIdentity", "").partition("@")[0] for one in found]


def scene(body: Callable[[Scene], Coroutine[Any, Any, None]]) -> None:
    async def whole() -> None:
        async with AsyncExitStack() as stack:
            members: dict[str, FakeMember] = {}
            connections = Connections()
            for name in ("a", "b", "c"):
                member = await stack.enter_async_context(serving())
                member.add("/api/v1/namespaces/kadm-system", {"metadata": {"name": "kadm-system"}})
                connections.by_name[name] = await stack.enter_async_context(member.connection())
                members[name] = member
            await body(Scene(members, connections))

    run(whole())


def test_the_first_one_writes_and_the_other_one_waits() -> None:
    async def body(it: Scene) -> None:
        one, two = it.daemon("1"), it.daemon("2")
        await one.round()
        await two.round()
        assert (one.view.here, two.view.here) == (True, False)
        assert two.view.holder.startswith("kadm-1@h since ")
        assert it.holders() == ["kadm-1"] * 3

    scene(body)


def test_one_that_resigns_is_followed_at_once() -> None:
    async def body(it: Scene) -> None:
        one, two = it.daemon("1"), it.daemon("2")
        await one.round()
        await two.round()
        await one.resign()
        await two.round()
        assert (two.view.here, it.holders()) == (True, ["kadm-2"] * 3)

    scene(body)


def test_one_that_died_is_followed_when_its_lease_has_expired() -> None:
    async def body(it: Scene) -> None:
        one, two = it.daemon("1"), it.daemon("2")
        await one.round()
        await two.round()
        it.now = 14.0
        await two.round()
        seen = [two.view.here]
        it.now = 15.0
        await two.round()
        seen.append(two.view.here)
        await one.round()
        assert (seen, one.view.here, it.holders()) == ([False, True], False, ["kadm-2"] * 3)

    scene(body)


def test_one_that_turns_to_another_fleet_and_back_goes_on_at_once() -> None:
    """It knows its own Lease, and does not wait until that expires."""

    async def body(it: Scene) -> None:
        one, back = it.daemon("1"), it.daemon("1")
        await one.round()
        await back.round()
        assert back.view.here

    scene(body)


def test_a_dead_elector_stops_nobody() -> None:
    async def body(it: Scene) -> None:
        one, two = it.daemon("1"), it.daemon("2")
        await one.round()
        it.connections.dead.add("a")
        await one.round()
        await two.round()
        assert (one.view.here, two.view.here) == (True, False)

    scene(body)


def test_nobody_writes_where_nothing_answers() -> None:
    async def body(it: Scene) -> None:
        it.connections.dead |= {"a", "b", "c"}
        one = it.daemon("1")
        await one.round()
        assert (one.view.here, one.view.holder) == (False, "")

    scene(body)
