"""Taking, renewing and giving back the Lease of a member."""

from __future__ import annotations

from datetime import UTC, datetime

import msgspec
import pytest

from kadm.members.lease import Lease, LeaseTaken, read_lease, write_lease
from kadm.members.process import Holder
from tests.members.fake_member import FakeMember, run, serving

PATH = "/apis/coordination.k8s.io/v1/namespaces/kadm-system/leases/kadm-shop"
ALICE = Holder(who="alice", host="ci-7", token="1", mark="boot/pid:[1]/42/99")
BOB = Holder(who="bob", host="ci-8", token="2")
T1 = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
T2 = datetime(2026, 1, 2, 3, 4, 10, 250, tzinfo=UTC)


def a_member(*, namespace: bool = True) -> FakeMember:
    member = FakeMember()
    if namespace:
        member.add("/api/v1/namespaces/kadm-system", {"metadata": {"name": "kadm-system"}})
    return member


async def write(member: FakeMember, seen: Lease, holder: Holder | None, now: datetime = T1) -> Lease:
    async with member.connection() as connection:
        return await write_lease(connection, "shop", seen, holder, now=now, timeout_s=5)


async def read(member: FakeMember) -> Lease:
    async with member.connection(read_only=True) as connection:
        return await read_lease(connection, "shop")


def test_no_lease_is_held_by_nobody() -> None:
    async def body() -> None:
        async with serving(a_member()) as member:
            assert await read(member) == Lease()

    run(body())


def test_the_first_to_take_it_makes_it_and_its_namespace() -> None:
    async def body() -> None:
        async with serving(a_member(namespace=False)) as member:
            taken = await write(member, Lease(), ALICE)
            assert (taken, member.objects[PATH]["spec"]) == (
                Lease(
                    version=taken.version,
                    holder="alice@ci-7/1",
                    mark="boot/pid:[1]/42/99",
                    since="2026-01-02T03:04:05Z",
                ),
                {
                    "holderIdentity": "alice@ci-7/1",
                    "leaseDurationSeconds": 15,
                    "acquireTime": "2026-01-02T03:04:05.000000Z",
                    "renewTime": "2026-01-02T03:04:05.000000Z",
                    "leaseTransitions": 0,
                },
            )
            assert taken.held_by == "alice@ci-7 (process 42) since 2026-01-02T03:04:05Z"

    run(body())


def test_renewing_keeps_since_and_transitions() -> None:
    async def body() -> None:
        async with serving(a_member()) as member:
            taken = await write(member, Lease(), ALICE)
            renewed = await write(member, taken, ALICE, T2)
            assert renewed == msgspec.structs.replace(taken, version=renewed.version)
            assert member.objects[PATH]["spec"]["renewTime"] == "2026-01-02T03:04:10.000250Z"

    run(body())


def test_given_back_it_is_held_by_nobody_and_counts_who_comes_next() -> None:
    async def body() -> None:
        async with serving(a_member()) as member:
            free = await write(member, await write(member, Lease(), ALICE), None)
            taken = await write(member, free, BOB)
            assert (free.holder, free.mark, free.transitions) == ("", "", 0)
            assert (taken.held_by, taken.transitions) == ("bob@ci-8 since 2026-01-02T03:04:05Z", 1)

    run(body())


@pytest.mark.parametrize(
    "seen", [pytest.param(Lease(), id="it exists by now"), pytest.param(Lease(version="1"), id="it is another version")]
)
def test_of_two_that_write_at_once_one_is_refused(seen: Lease) -> None:
    async def body() -> None:
        async with serving(a_member()) as member:
            await write(member, Lease(), ALICE)
            with pytest.raises(LeaseTaken):
                await write(member, seen, BOB)
            assert (await read(member)).holder == "alice@ci-7/1"

    run(body())
