"""Lists that say where they stand, and streams: what they bring, and how they end."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any

import pytest
from aiohttp import web
from msgspec import Raw

from kadm.errors import MemberError, MemberRefused
from kadm.members.resources import CONFIG_MAPS
from kadm.members.watching import Selection, WatchExpired, WatchSilent, open_watches, pages
from tests.members.fake_member import FakeMember, run, serving, status

PATH = "/api/v1/configmaps"


def an_event(kind: str, version: int, **fields: Any) -> bytes:
    return (
        json.dumps({"type": kind, "object": {"metadata": {"resourceVersion": str(version), **fields}}}).encode() + b"\n"
    )


def streaming(member: FakeMember, chunks: Sequence[bytes], *, then_hang: bool = False) -> None:
    """Answer watches with these bytes, and end or say nothing more."""

    async def answer(request: web.Request) -> web.StreamResponse:
        if request.query.get("watch") != "true":
            return web.json_response({"metadata": {"resourceVersion": "7"}, "items": []})
        response = web.StreamResponse()
        await response.prepare(request)
        for chunk in chunks:
            await response.write(chunk)
        if then_hang:
            await asyncio.sleep(10)
        await response.write_eof()
        return response

    member.answers["GET", PATH] = answer


async def read(member: FakeMember, *, silence_s: float = 5.0) -> list[tuple[str, str]]:
    """What a watch from version 7 brings: type and version of each event."""
    async with member.connection(read_only=True) as connection, open_watches(connection) as watches:
        selection = Selection(labels="a=b", fields="metadata.name=c", namespace="")
        events = watches.events(CONFIG_MAPS, selection, since="7", timeout_s=60, silence_s=silence_s)
        return [(notice.type, notice.version) async for notice in events]


def test_a_watch_brings_events_however_they_are_cut() -> None:
    async def body() -> None:
        async with serving() as member:
            whole = an_event("ADDED", 8) + an_event("BOOKMARK", 9) + an_event("DELETED", 10)
            streaming(member, [whole[:5], whole[5:70], whole[70:]])
            assert await read(member) == [("ADDED", "8"), ("BOOKMARK", "9"), ("DELETED", "10")]
            assert member.requests == [
                (
                    f"GET {PATH}?watch=true&allowWatchBookmarks=true&resourceVersion=7&timeoutSeconds=60"
                    "&labelSelector=a%3Db&fieldSelector=metadata.name%3Dc"
                )
            ]

    run(body())


def test_a_large_event_is_read_whole() -> None:
    async def body() -> None:
        async with serving() as member:
            streaming(member, [an_event("ADDED", 8, annotations={"a": "x" * 3_000_000})])
            assert await read(member) == [("ADDED", "8")]

    run(body())


GONE = json.dumps(
    {"type": "ERROR", "object": {"kind": "Status", "code": 410, "reason": "Expired", "message": "too old"}}
).encode()


@pytest.mark.parametrize(
    ("chunks", "error", "what"),
    [
        pytest.param([GONE + b"\n"], WatchExpired, "the member has forgotten that version", id="410 in the stream"),
        pytest.param(
            [GONE.replace(b"410", b"500") + b"\n"],
            MemberRefused,
            "the watch ended with 500 Expired",
            id="500 in the stream",
        ),
        pytest.param([b"<html>\n"], MemberRefused, "the answer is not what an API server sends", id="no JSON"),
    ],
)
def test_a_stream_that_ends_badly(chunks: list[bytes], error: type[MemberError], what: str) -> None:
    async def body() -> None:
        async with serving() as member:
            streaming(member, chunks)
            with pytest.raises(error) as raised:
                await read(member)
            assert (type(raised.value), raised.value.problem.what) == (error, what)

    run(body())


def test_a_stream_that_says_nothing_is_given_up() -> None:
    async def body() -> None:
        async with serving() as member:
            streaming(member, [an_event("ADDED", 8)], then_hang=True)
            with pytest.raises(WatchSilent, match=r"nothing came for 0\.2 s"):
                await read(member, silence_s=0.2)

    run(body())


def test_streams_that_are_doubted_are_given_up_at_once() -> None:
    async def body() -> None:
        async with serving() as member, member.connection(read_only=True) as connection:
            streaming(member, [an_event("ADDED", 8)], then_hang=True)
            async with open_watches(connection) as watches:
                events = watches.events(CONFIG_MAPS, Selection(), since="7", timeout_s=60)
                assert (await anext(events)).version == "8"
                waiting = asyncio.ensure_future(anext(events))
                await asyncio.sleep(0.05)
                watches.doubt()
                with pytest.raises(WatchSilent, match="nothing came, and another request was lost"):
                    await waiting
            assert connection.failures == {}

    run(body())


@pytest.mark.parametrize(
    ("code", "error"),
    [
        pytest.param(410, WatchExpired, id="410 at once"),
        pytest.param(401, MemberRefused, id="401"),
        pytest.param(429, MemberRefused, id="429"),
    ],
)
def test_a_watch_that_is_refused(code: int, error: type[MemberError]) -> None:
    async def body() -> None:
        async with serving() as member:

            async def answer(_request: web.Request) -> web.StreamResponse:
                return status(code, "No", "no")

            member.answers["GET", PATH] = answer
            with pytest.raises(error):
                await read(member)

    run(body())


def test_a_list_says_where_it_stands() -> None:
    async def body() -> None:
        async with serving() as member:
            member.add("/api/v1/namespaces/a/configmaps/c", {"metadata": {"name": "c"}})
            async with member.connection(read_only=True) as connection:
                selection = Selection(namespace="a")
                found = [page async for page in pages(connection, CONFIG_MAPS, dict[str, Raw], selection)]
            assert [(len(page.items), page.version) for page in found] == [(1, "101")]

    run(body())
