"""The record: written as a whole, fenced, and never taken for empty where it cannot be read."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Awaitable, Callable
from typing import TypeVar

import pytest
from aiohttp import web
from msgspec.structs import replace

from kadm.errors import MemberError
from kadm.members import document
from kadm.members.connection import Connection
from kadm.members.record import (
    DocumentConflict,
    DocumentUnreadable,
    RecordOfAnotherMember,
    delete_record,
    document_of,
    read_record,
    write_record,
)
from kadm.model.record import Record, RecordedObject, RecordedWorkload
from tests.members.fake_member import FakeMember, a_cluster, run, serving, status

T = TypeVar("T")
MAPS = "/api/v1/namespaces/kadm-system/configmaps"
PATH = f"{MAPS}/kadm-shop"


def an_object(name: str, **fields: str) -> RecordedObject:
    return RecordedObject(version="v1", kind="ConfigMap", namespace="default", name=name, uid=f"uid-{name}", **fields)  # type: ignore[arg-type]


def a_record(*names: str, **fields: str) -> Record:
    objects = tuple(an_object(name) for name in names)
    return Record(fleet="shop", member="eu", member_uid="uid-eu", objects=objects, **fields)  # type: ignore[arg-type]


def big_record(salt: str = "") -> Record:
    """A record that needs three parts: names that do not compress."""
    names = (hashlib.sha512(f"{salt}{number}".encode()).hexdigest() for number in range(18_000))
    return a_record(*names)


def using(member: FakeMember, work: Callable[[Connection], Awaitable[T]]) -> T:
    async def connected() -> T:
        async with serving(member), member.connection() as connection:
            return await work(connection)

    return run(connected())


async def read(connection: Connection) -> Record | None:
    return await read_record(connection, "shop", member_uid="uid-eu")


def test_there_is_no_record_before_the_first() -> None:
    assert using(a_cluster(), read) is None


def test_a_record_is_read_as_it_was_written() -> None:
    member = a_cluster()
    workload = RecordedWorkload(group="apps", kind="Deployment", namespace="default", name="web", replicas=3)
    record = replace(a_record("a", "b"), workloads=(workload,), commit="c0ffee")

    async def both(connection: Connection) -> tuple[Record, Record | None]:
        return await write_record(connection, record), await read(connection)

    written, found = using(member, both)
    stored = member.objects[PATH]
    assert written == found == replace(record, resource_version=stored["metadata"]["resourceVersion"])
    assert "/api/v1/namespaces/kadm-system" in member.objects  # made on the way


def test_the_record_is_an_applyset_parent_and_says_in_clear_what_it_is() -> None:
    member = a_cluster()
    web_app = RecordedObject(group="apps", version="v1", kind="Deployment", namespace="web", name="web")
    record = replace(a_record(), objects=(an_object("a"), web_app))
    using(member, lambda connection: write_record(connection, record))
    stored = member.objects[PATH]
    data = {key: stored["data"][key] for key in ("format", "fleet", "member", "memberUID", "commit")}
    assert (stored["metadata"]["labels"], stored["metadata"]["annotations"], data) == (
        {
            "applyset.kubernetes.io/id": "applyset-jR8V4dJAwLIAlFpIl9qZ9ufQmAXowSyeUVo1Rsi6Frw-v1",
            "app.kubernetes.io/managed-by": "kadm",
        },
        {
            "applyset.kubernetes.io/tooling": "kadm/v0.1.0",
            "applyset.kubernetes.io/contains-group-kinds": "ConfigMap,Deployment.apps",
            "applyset.kubernetes.io/additional-namespaces": "default,web",
        },
        {"format": "1", "fleet": "shop", "member": "eu", "memberUID": "uid-eu", "commit": ""},
    )


def test_the_same_record_gives_the_same_bytes() -> None:
    assert document_of(a_record("a", "b")) == document_of(a_record("b", "a"))


@pytest.mark.parametrize(
    "version", [pytest.param("", id="created meanwhile"), pytest.param("1", id="written meanwhile")]
)
def test_a_writer_that_is_late_is_stopped(version: str) -> None:
    member = a_cluster()

    async def late(connection: Connection) -> None:
        await write_record(connection, a_record("a"))
        await write_record(connection, a_record("b", resource_version=version))

    with pytest.raises(DocumentConflict, match="somebody else wrote"):
        using(member, late)
    assert using(member, read) == a_record("a", resource_version=member.objects[PATH]["metadata"]["resourceVersion"])


def test_a_record_that_was_deleted_meanwhile_is_not_made_again() -> None:
    with pytest.raises(DocumentConflict, match="somebody deleted"):
        using(a_cluster(), lambda connection: write_record(connection, a_record("a", resource_version="7")))


def test_a_write_that_was_sent_twice_is_no_conflict() -> None:
    """The member stored it, but its answer was lost: asking again gives 409."""
    member = a_cluster()
    first = iter([True])

    async def losing(request: web.Request) -> web.StreamResponse:
        stored = member._store(request)
        return status(504, "Timeout") if next(first, False) else stored

    member.answers["POST", MAPS] = losing
    member.add("/api/v1/namespaces/kadm-system", {})
    written = using(member, lambda connection: write_record(connection, a_record("a")))
    assert (written.resource_version, member.requests.count(f"POST {MAPS}?fieldManager=kadm-record")) == (
        member.objects[PATH]["metadata"]["resourceVersion"],
        2,
    )


@pytest.mark.parametrize(
    ("record", "error"),
    [
        pytest.param(replace(a_record(), member_uid="uid-us"), "belongs to member eu of fleet shop", id="cluster"),
        pytest.param(replace(a_record(), format=2), "the record has format 2, this kadm knows 1", id="format"),
    ],
)
def test_a_record_that_is_not_for_us(record: Record, error: str) -> None:
    async def both(connection: Connection) -> None:
        await write_record(connection, record)
        await read(connection)

    with pytest.raises((RecordOfAnotherMember, DocumentUnreadable), match=error):
        using(a_cluster(), both)


@pytest.mark.parametrize(
    ("damage", "why"),
    [
        pytest.param({"binaryData": {}}, "its bytes are not those that were written", id="no bytes"),
        pytest.param(
            {"binaryData": {"document": "AAAA"}}, "its bytes are not those that were written", id="other bytes"
        ),
        pytest.param({"binaryData": {"document": "!"}}, "its bytes are not base64", id="no base64"),
        pytest.param({"data": {}}, "its bytes are not those that were written", id="nothing in clear"),
    ],
)
def test_a_damaged_record_is_not_an_empty_one(damage: dict[str, dict[str, str]], why: str) -> None:
    member = a_cluster()
    using(member, lambda connection: write_record(connection, a_record("a")))
    member.objects[PATH].update(damage)
    with pytest.raises(DocumentUnreadable) as caught:
        using(member, read)
    assert caught.value.problem.why == why


def test_a_record_that_cannot_be_read_is_not_an_absent_one() -> None:
    member = a_cluster()

    async def forbidden(request: web.Request) -> web.StreamResponse:
        return status(403, "Forbidden")

    member.answers["GET", PATH] = forbidden
    with pytest.raises(MemberError):
        using(member, read)


def test_a_large_record_is_split_and_old_parts_go() -> None:
    member = a_cluster()

    async def twice(connection: Connection) -> tuple[Record, Record, list[list[str]]]:
        written = await write_record(connection, big_record())
        parts = [sorted(path for path in member.objects if path.startswith(f"{PATH}-"))]
        again = await write_record(connection, replace(big_record("again"), resource_version=written.resource_version))
        parts.append(sorted(path for path in member.objects if path.startswith(f"{PATH}-")))
        found = await read(connection)
        assert found is not None
        return again, found, parts

    again, found, (before, after) = using(member, twice)
    assert found == replace(again, objects=tuple(sorted(again.objects, key=lambda entry: entry.key)))
    assert (len(before) == len(after) >= 1, set(before) & set(after)) == (True, set())
    sizes = [len(base64.b64decode(member.objects[path]["binaryData"]["document"])) for path in (PATH, *after)]
    assert max(sizes) <= document.PART_BYTES


def test_parts_of_a_writer_that_may_still_finish_stay() -> None:
    """A second writer has written parts on top of the current version, but not yet part 0."""
    member = a_cluster()
    using(member, lambda connection: write_record(connection, a_record("a")))
    version = member.objects[PATH]["metadata"]["resourceVersion"]

    def part(name: str, base: str) -> None:
        labels = {"kadm.io/part-of-document": "kadm-shop", "kadm.io/base-version": base}
        member.add(f"{MAPS}/{name}", {"metadata": {"name": name, "labels": labels}})

    part("kadm-shop-orphan", "1")
    part("kadm-shop-early", "999")
    member.version = 998
    using(member, lambda connection: write_record(connection, a_record("b", resource_version=version)))
    assert sorted(path for path in member.objects if path.startswith(f"{PATH}-")) == [f"{MAPS}/kadm-shop-early"]


def test_a_missing_part_is_damage() -> None:
    member = a_cluster()
    using(member, lambda connection: write_record(connection, big_record()))
    part = next(path for path in member.objects if path.startswith(f"{PATH}-"))
    del member.objects[part]
    with pytest.raises(DocumentUnreadable, match="is missing"):
        using(member, read)


def test_deleting_leaves_nothing_of_it() -> None:
    member = a_cluster()

    async def gone(connection: Connection) -> None:
        await write_record(connection, big_record())
        await delete_record(connection, "shop")
        await delete_record(connection, "shop")

    using(member, gone)
    assert [path for path in member.objects if path.startswith(MAPS)] == []
