"""Faults: what a member with one does to a client."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable

import aiohttp
import msgspec
import pytest
from aiohttp import web
from aiohttp.test_utils import make_mocked_request

from kadm.errors import UsageError
from kadm.sandbox.faults import Fault, decode_faults, parse_fault
from kadm.sandbox.gate import Gate
from kadm.sandbox.running import Listener


async def _fine(_: web.BaseRequest) -> web.StreamResponse:
    return web.Response(text="fine")


def answers(play: Callable[[Gate, Callable[..., Awaitable[str]]], Awaitable[None]]) -> None:
    """Play against a gate that listens; the second argument asks it (path, method) and tells status or exception."""

    async def run() -> None:
        gate = Gate(_fine)
        listener = Listener(gate)
        await listener.open()
        timeout = aiohttp.ClientTimeout(total=0.3)
        try:
            async with aiohttp.ClientSession(timeout=timeout) as session:

                async def ask(path: str = "/", method: str = "GET") -> str:
                    try:
                        async with session.request(method, f"http://127.0.0.1:{listener.port}{path}") as answer:
                            return str(answer.status)
                    except (aiohttp.ClientError, TimeoutError) as fault:
                        return type(fault).__name__

                await play(gate, ask)
        finally:
            await listener.close()

    asyncio.run(run())


@pytest.mark.parametrize(
    ("fault", "path", "method", "want"),
    [
        pytest.param(Fault(mode="status", status=403), "/", "GET", "403", id="a status"),
        pytest.param(Fault(mode="status", status=403, path="/secrets"), "/pods", "GET", "200", id="of another path"),
        pytest.param(Fault(mode="status", status=503, methods=("PATCH",)), "/", "GET", "200", id="of another method"),
        pytest.param(
            Fault(mode="status", status=503, path="watch=1"), "/pods?watch=1", "GET", "503", id="by its query"
        ),
        pytest.param(Fault(mode="slow", delay_s=0.01), "/", "GET", "200", id="slow is right in the end"),
        pytest.param(Fault(mode="slow", delay_s=5), "/", "GET", "TimeoutError", id="too slow"),
        pytest.param(Fault(mode="hang"), "/", "GET", "TimeoutError", id="hangs"),
        pytest.param(Fault(mode="garble"), "/", "GET", "200", id="garbles what it answers"),
        pytest.param(Fault(mode="reset"), "/", "POST", "ServerDisconnectedError", id="drops the connection"),
    ],
)
def test_fault(fault: Fault, path: str, method: str, want: str) -> None:
    async def play(gate: Gate, ask: Callable[..., Awaitable[str]]) -> None:
        gate.set([fault])
        assert await ask(path, method) == want

    answers(play)


def test_times() -> None:
    async def play(gate: Gate, ask: Callable[..., Awaitable[str]]) -> None:
        gate.set([Fault(mode="status", status=500, times=2)])
        assert [await ask() for _ in range(3)] == ["500", "500", "200"]
        assert gate.faults == ()

    answers(play)


def test_what_hangs_goes_on_when_the_fault_is_taken_away() -> None:
    async def play() -> tuple[bool, int]:
        gate = Gate(_fine)
        gate.set([Fault(mode="hang")])
        asked = asyncio.create_task(gate(make_mocked_request("GET", "/")))
        await asyncio.sleep(0)  # the task runs as far as it can
        hung = not asked.done()
        gate.set([])
        return hung, (await asked).status

    assert asyncio.run(play()) == (True, 200)


def test_a_port_that_refuses_is_kept_and_opens_again() -> None:
    async def run() -> list[str]:
        listener = Listener(_fine)
        await listener.open()
        seen: list[str] = []
        async with aiohttp.ClientSession() as session:
            for step in (None, listener.refuse, listener.open):
                if step is not None:
                    await step()
                try:
                    async with session.get(f"http://127.0.0.1:{listener.port}/") as answer:
                        seen.append(await answer.text())
                except aiohttp.ClientConnectorError as fault:
                    seen.append(type(fault.os_error).__name__)
        await listener.close()
        return seen

    assert asyncio.run(run()) == ["fine", "ConnectionRefusedError", "fine"]


@pytest.mark.parametrize(
    ("mode", "want"),
    [
        pytest.param("refuse", Fault(mode="refuse"), id="a mode"),
        pytest.param("503", Fault(mode="status", status=503), id="a status"),
    ],
)
def test_parse(mode: str, want: Fault) -> None:
    assert parse_fault(mode) == want


@pytest.mark.parametrize(("mode", "path"), [("nonsense", ""), ("200", ""), ("refuse", "(")])
def test_parse_nonsense(mode: str, path: str) -> None:
    with pytest.raises(UsageError):
        parse_fault(mode, path=path)


def test_wire_form() -> None:
    faults = decode_faults(b'[{"mode": "status", "status": 403, "path": "/secrets", "times": 2}]')
    assert faults == [Fault(mode="status", status=403, path="/secrets", times=2)]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        pytest.param(b"[", msgspec.DecodeError, id="no JSON"),
        pytest.param(b'[{"mode": "x"}]', msgspec.ValidationError, id="no mode"),
        pytest.param(b'[{"mode": "slow", "path": "("}]', re.error, id="no regular expression"),
    ],
)
def test_bad_wire_form(text: bytes, fault: type[Exception]) -> None:
    with pytest.raises(fault):
        decode_faults(text)
