"""A proxy in front of every member that notes each request, and has members show faults: what a command really sent."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp
import yaml
from aiohttp import web

from tests.e2e.faults import Fault

HOP_BY_HOP = frozenset({"connection", "transfer-encoding", "content-length", "content-encoding", "host"})
NOT_PASSED_ON = 502
"""What is answered instead where a hook stopped a request; nobody may be left to read it."""
LOOK_AGAIN_S = 0.1


@dataclass(frozen=True)
class Request:
    """One request, as the member received it."""

    member: str
    method: str
    path: str
    query: dict[str, str]
    body: Any = field(default=None, compare=False, repr=False)
    """Decoded, where it is JSON."""
    target: str = field(default="", compare=False, repr=False)
    """Path and query, as they were sent."""

    @property
    def writes(self) -> bool:
        """Whether it could have changed the member."""
        reviews = "selfsubjectaccessreviews" in self.path
        return self.method != "GET" and self.query.get("dryRun") != "All" and not reviews


Hook = Callable[[Request, int | None], bool | Fault]
"""Sees every request before it is forwarded (None), and again with the member's status before its answer is passed on.

False: it goes no further. A fault: this happens to it, or to its answer. Called in the proxies' thread, where
everything waits for it.
"""


def everything(_request: Request, _status: int | None) -> bool:
    """A hook that lets all pass."""
    return True


@dataclass
class Audit:
    """The requests so far, and the kubeconfig that leads through the proxy.

    Methods are called from the test's thread.
    """

    kubeconfig: Path
    requests: list[Request] = field(default_factory=list)
    hook: Hook = everything
    _loop: asyncio.AbstractEventLoop = field(default_factory=asyncio.new_event_loop)
    _doors: dict[str, _Door] = field(default_factory=dict)
    _faults: dict[str, list[tuple[Fault, int]]] = field(default_factory=dict)

    def clear(self) -> None:
        self.requests.clear()

    def fault(self, member: str, *faults: Fault) -> None:
        """Have a member show these faults in place of those that it shows; the first that hits a request counts.

        What hangs then ends.
        """
        self._run(self._set(member, faults))

    async def _set(self, member: str, faults: tuple[Fault, ...]) -> None:
        self._faults[member] = [(fault, fault.times) for fault in faults]
        await self._doors[member].change(shut=any(fault.mode == "refuse" for fault in faults))

    def _run(self, work: Coroutine[Any, Any, None]) -> None:
        asyncio.run_coroutine_threadsafe(work, self._loop).result(10)

    def _verdict(self, request: Request, status: int | None) -> bool | Fault:
        """What becomes of a request, or of its answer."""
        said = self.hook(request, status)
        return said if said is not True or status is not None else self._take(request) or True

    def _take(self, request: Request) -> Fault | None:
        faults = self._faults.get(request.member, [])
        for index, (fault, left) in enumerate(faults):
            if fault.hits(request.method, request.target, writes=request.writes):
                if left == 1:
                    del faults[index]
                elif left:
                    faults[index] = (fault, left - 1)
                return fault
        return None


@dataclass
class _Door:
    """The port of one proxy, which can be shut and opened again; ``holder`` keeps others off it, and never listens."""

    runner: web.AppRunner
    holder: socket.socket
    site: web.TCPSite | None = None
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when faults change: what hangs ends then."""

    @classmethod
    async def open(cls, runner: web.AppRunner) -> _Door:
        await runner.setup()
        holder = socket.socket()
        holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        holder.bind(("127.0.0.1", 0))
        door = cls(runner, holder)
        await door.change(shut=False)
        return door

    @property
    def port(self) -> int:
        port: int = self.holder.getsockname()[1]
        return port

    async def change(self, *, shut: bool) -> None:
        self.changed.set()
        self.changed = asyncio.Event()
        if shut and self.site is not None:
            await self.site.stop()
            self.site = None
        elif not shut and self.site is None:
            self.site = web.TCPSite(self.runner, "127.0.0.1", self.port, reuse_port=True)
            await self.site.start()

    async def remove(self) -> None:
        self.changed.set()
        await self.runner.cleanup()
        self.holder.close()


@contextmanager
def audited(sandbox: Path, directory: Path) -> Iterator[Audit]:
    """Proxies for all members, for the time of the block."""
    config = yaml.safe_load((sandbox / "kubeconfig").read_text(encoding="utf-8"))
    audit = Audit(directory / "audited-kubeconfig")
    ready = threading.Event()
    loop = audit._loop
    finished = asyncio.Event()

    async def serve() -> None:
        unlimited = aiohttp.TCPConnector(limit=0)  # every watch holds a connection
        async with aiohttp.ClientSession(auto_decompress=False, connector=unlimited) as session:
            for cluster in config["clusters"]:
                upstream = cluster["cluster"]["server"]
                runner = web.AppRunner(
                    _app(audit, session, cluster["name"], upstream, _token_for(config, cluster["name"])),
                    shutdown_timeout=0.1,  # a watch goes on for ever
                )
                door = audit._doors[cluster["name"]] = await _Door.open(runner)
                cluster["cluster"] = {"server": f"http://127.0.0.1:{door.port}"}
            audit.kubeconfig.write_text(yaml.safe_dump(config), encoding="utf-8")
            audit.kubeconfig.chmod(0o600)
            ready.set()
            await finished.wait()
            for door in audit._doors.values():
                await door.remove()
        await asyncio.sleep(0.1)  # aiohttp closes TLS connections only after the session is closed

    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),))
    thread.start()
    assert ready.wait(10), "the proxies did not start"
    try:
        yield audit
    finally:
        loop.call_soon_threadsafe(finished.set)
        thread.join()
        loop.close()


def _token_for(config: dict[str, Any], cluster: str) -> str:
    """The token that the kubeconfig uses for a cluster: no client sends one over plain http, so the proxy adds it."""
    user = next(one["context"]["user"] for one in config["contexts"] if one["context"]["cluster"] == cluster)
    token: str = next(one["user"]["token"] for one in config["users"] if one["name"] == user)
    return token


async def _streamed(
    request: web.Request, answer: aiohttp.ClientResponse, headers: dict[str, str]
) -> web.StreamResponse:
    """A watch, passed on as it comes."""
    response = web.StreamResponse(status=answer.status, headers=headers)
    await response.prepare(request)
    try:
        async for chunk in answer.content.iter_any():
            await response.write(chunk)
        await response.write_eof()
    except (ConnectionResetError, aiohttp.ClientError):  # one of both ends has seen enough
        return response
    finally:
        answer.close()
    return response


async def _until_over(request: web.Request, door: _Door) -> None:
    """Wait until whoever asked has gone, or faults change."""
    changed = door.changed
    while not changed.is_set() and request.transport is not None and not request.transport.is_closing():
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(changed.wait(), LOOK_AGAIN_S)


async def _show(fault: Fault, request: web.Request, door: _Door, body: bytes = b"") -> web.StreamResponse:
    """What a fault makes of a request whose whole answer would be ``body``."""
    match fault.mode:
        case "status":
            headers = {"Retry-After": "1"} if fault.status == 429 else {}
            return web.Response(
                status=fault.status, text=fault.answer, content_type="application/json", headers=headers
            )
        case "garble":
            return web.Response(body=body[: len(body) // 2], content_type="application/json")
        case "stall":
            response = web.StreamResponse(headers={"Content-Type": "application/json"})
            response.content_length = len(body)
            await response.prepare(request)
            await response.write(body[: len(body) // 2])
            await _until_over(request, door)
        case "hang":
            await _until_over(request, door)
    if request.transport is not None:
        request.transport.abort()
    return web.Response(status=NOT_PASSED_ON)


def _app(audit: Audit, session: aiohttp.ClientSession, member: str, upstream: str, token: str) -> web.Application:
    async def forward(request: web.Request) -> web.StreamResponse:
        body = await request.read()
        decoded = json.loads(body) if body and "json" in request.content_type else None
        seen = Request(member, request.method, request.path, dict(request.query), decoded, request.path_qs)
        audit.requests.append(seen)
        verdict = audit._verdict(seen, None)
        if verdict is False:
            return web.Response(status=NOT_PASSED_ON)
        door = audit._doors[member]
        fault = verdict if isinstance(verdict, Fault) else None
        if fault is not None and fault.mode == "slow":
            await asyncio.sleep(fault.delay_s)
        elif fault is not None and fault.mode not in ("garble", "stall"):
            return await _show(fault, request, door)
        headers = {name: value for name, value in request.headers.items() if name.lower() not in HOP_BY_HOP}
        headers["Authorization"] = f"Bearer {token}"
        if fault is not None:
            headers["Accept-Encoding"] = "identity"  # half of it is to be half of the JSON
        async with session.request(
            request.method,
            upstream + request.raw_path,
            headers=headers,
            data=body or None,  # an empty body would get a media type
            ssl=False,
        ) as answer:
            verdict = audit._verdict(seen, answer.status)
            if verdict is False:
                return web.Response(status=NOT_PASSED_ON)
            if isinstance(verdict, Fault):
                return await _show(verdict, request, door, await answer.read())
            if fault is not None and fault.mode != "slow":
                return await _show(fault, request, door, await answer.read())
            kept = {name: value for name, value in answer.headers.items() if name.lower() not in HOP_BY_HOP}
            encoding: dict[str, Any] = {}
            if "Content-Encoding" in answer.headers:
                encoding["Content-Encoding"] = answer.headers["Content-Encoding"]
            if request.query.get("watch") == "true":
                return await _streamed(request, answer, kept)
            return web.Response(status=answer.status, body=await answer.read(), headers={**kept, **encoding})

    app = web.Application(client_max_size=64 << 20)
    app.router.add_route("*", "/{path:.*}", forward)
    return app
