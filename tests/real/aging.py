"""A proxy before one member that has its watches ask from a version that the member forgot long ago.

So the member's own answer to that can be had at any time: waiting for it takes minutes, and a busy member.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import aiohttp
import yaml
from aiohttp import web

from tests.e2e.access import Access
from tests.e2e.audit import HOP_BY_HOP
from tests.real.members import Members

OLDEST = "1"
WITHIN_S = 20.0


@dataclass
class Aging:
    """``kubeconfig`` leads through the proxy, to the other members as they are. ``old``: watches ask from the oldest
    version."""

    kubeconfig: Path
    access: Access
    old: bool = False
    _watches: set[asyncio.Task[None]] = field(default_factory=set)
    _loop: asyncio.AbstractEventLoop = field(default_factory=asyncio.new_event_loop)

    def age(self) -> None:
        """End the watches that there are, and have those that follow ask from the oldest version."""

        async def end() -> None:
            self.old = True
            self.end_watches()

        asyncio.run_coroutine_threadsafe(end(), self._loop).result(WITHIN_S)

    def end_watches(self) -> None:
        for one in self._watches:
            one.cancel()

    def heal(self) -> None:
        """Have watches ask from where they are again."""
        self.old = False

    async def forward(self, session: aiohttp.ClientSession, request: web.Request) -> web.StreamResponse:
        headers = {name: value for name, value in request.headers.items() if name.lower() not in HOP_BY_HOP}
        if self.access.token:
            headers["Authorization"] = f"Bearer {self.access.token}"
        watches = request.query.get("watch") == "true"
        async with session.request(
            request.method,
            self.access.url + request.path,
            params={**request.query, "resourceVersion": OLDEST} if watches and self.old else request.query,
            headers=headers,
            data=await request.read() or None,
            ssl=self.access.trust,
        ) as answer:
            kept = {name: value for name, value in answer.headers.items() if name.lower() not in HOP_BY_HOP}
            if "Content-Encoding" in answer.headers:
                kept["Content-Encoding"] = answer.headers["Content-Encoding"]
            if not watches:
                return web.Response(status=answer.status, body=await answer.read(), headers=kept)
            response = web.StreamResponse(status=answer.status, headers=kept)
            await response.prepare(request)
            watch = asyncio.create_task(_carry(answer, response))
            self._watches.add(watch)
            try:
                await asyncio.wait([watch])
            finally:
                watch.cancel()
                self._watches.discard(watch)
            with suppress(ConnectionResetError):
                await response.write_eof()
            return response


async def _carry(answer: aiohttp.ClientResponse, response: web.StreamResponse) -> None:
    with suppress(ConnectionResetError, aiohttp.ClientError):  # one of both ends has seen enough
        async for chunk in answer.content.iter_any():
            await response.write(chunk)


@contextmanager
def aging(members: Members, member: str, directory: Path) -> Iterator[Aging]:
    """Such a proxy before one of the members, for the time of the block."""
    config = yaml.safe_load(members.kubeconfig.read_text(encoding="utf-8"))
    cluster = next(one for one in config["clusters"] if one["name"] == member)
    found = Aging(directory / "aging-kubeconfig", members.access(member))
    ready, ended = threading.Event(), asyncio.Event()

    async def serve() -> None:
        async with aiohttp.ClientSession(auto_decompress=False) as session:

            async def forward(request: web.Request) -> web.StreamResponse:
                return await found.forward(session, request)

            app = web.Application(client_max_size=64 << 20)
            app.router.add_route("*", "/{path:.*}", forward)
            runner = web.AppRunner(app, shutdown_timeout=0.1)
            await runner.setup()
            await web.TCPSite(runner, "127.0.0.1", 0).start()
            cluster["cluster"] = {"server": f"http://127.0.0.1:{runner.addresses[0][1]}"}
            found.kubeconfig.touch(mode=0o600)
            found.kubeconfig.write_text(yaml.safe_dump(config), encoding="utf-8")
            ready.set()
            await ended.wait()
            found.end_watches()
            await runner.cleanup()
        await asyncio.sleep(0.1)  # aiohttp closes TLS connections only after the session is closed

    thread = threading.Thread(target=found._loop.run_until_complete, args=(serve(),))
    thread.start()
    assert ready.wait(WITHIN_S), "the proxy did not start"
    try:
        yield found
    finally:
        found._loop.call_soon_threadsafe(ended.set)
        thread.join()
        found._loop.close()
