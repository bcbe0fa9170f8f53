"""TCP relays that lose what they should carry: connections that nobody answers, or that fall silent without a word.

A server's own faults end in an answer or in a closed connection; a network's often end in neither.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

import yaml

_BYTES = 2**16
_WITHIN_S = 20.0


@dataclass(eq=False)
class _Link:
    """One connection: the side of whoever asked, and that of the server. ``lost``: nothing gets through, either way."""

    near: asyncio.StreamWriter
    far: asyncio.StreamWriter | None = None
    lost: bool = False

    def close(self) -> None:
        for side in (self.near, self.far):
            if side is not None:
                side.transport.abort()


@dataclass(eq=False)
class Relay:
    """Stands before one server, on a port of its own. Its methods are called from the test's thread."""

    host: str
    target_port: int
    loop: asyncio.AbstractEventLoop
    port: int = 0
    _mode: Literal["well", "black hole"] = "well"
    _links: set[_Link] = field(default_factory=set)
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)
    _server: asyncio.Server | None = None

    @property
    def open(self) -> int:
        """How many connections there are."""
        return len(self._links)

    def black_hole(self) -> None:
        """From now on nothing gets through: what is connected falls silent, new connections are never answered."""

        def lose() -> None:
            self._mode = "black hole"
            self._lose()

        self._do(lose)

    def half_open(self) -> None:
        """What is connected falls silent for good; new connections are fine."""
        self._do(self._lose)

    def cut(self) -> None:
        """End all connections; new ones are fine."""
        self._do(self._cut)

    def refuse(self) -> None:
        """End all connections, and accept none."""

        async def close() -> None:
            if self._server is not None:
                self._server.close()
                self._server = None
            self._cut()

        self._await(close())

    def heal(self) -> None:
        """Let new connections through. What has fallen silent stays so: whatever was sent there is lost."""

        async def mend() -> None:
            self._mode = "well"
            await self.listen()

        self._await(mend())

    async def listen(self) -> None:
        if self._server is None:
            self._server = await asyncio.start_server(self._accept, "127.0.0.1", self.port)
            self.port = self._server.sockets[0].getsockname()[1]

    async def close(self) -> None:
        if self._server is not None:
            self._server.close()
        self._cut()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _lose(self) -> None:
        for link in self._links:
            link.lost = True

    def _cut(self) -> None:
        for link in self._links:
            link.close()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        link = _Link(writer, lost=self._mode == "black hole")
        self._links.add(link)
        try:
            if link.lost:
                await _carry(reader, link, writer)  # which drops all of it
                return
            back, link.far = await asyncio.open_connection(self.host, self.target_port)
            back_task = asyncio.ensure_future(_carry(back, link, writer))
            self._tasks.add(back_task)
            await _carry(reader, link, link.far)
            await back_task
        except (OSError, asyncio.CancelledError):
            return  # the server is gone, or the test is over
        finally:
            link.close()
            self._links.discard(link)
            self._tasks.discard(task)

    def _do(self, what: Callable[[], None]) -> None:
        async def done() -> None:
            what()

        self._await(done())

    def _await(self, what: Coroutine[Any, Any, None]) -> None:
        asyncio.run_coroutine_threadsafe(what, self.loop).result(_WITHIN_S)


async def _carry(reader: asyncio.StreamReader, link: _Link, to: asyncio.StreamWriter) -> None:
    """Pass on what comes until it ends; of a link that is lost, neither bytes nor the end."""
    with suppress(OSError):
        while data := await reader.read(_BYTES):
            if not link.lost:
                to.write(data)
                await to.drain()
    near_left = to is not link.near
    if near_left or not link.lost:
        link.close()  # whoever asked is gone, or the server is, and nothing hides it


@dataclass
class Relays:
    """Relays before all members, and the kubeconfig that leads through them."""

    kubeconfig: Path
    by_member: dict[str, Relay]

    def __getitem__(self, member: str) -> Relay:
        return self.by_member[member]


@contextmanager
def relaying(*targets: tuple[str, int]) -> Iterator[list[Relay]]:
    """Relays before these addresses, for the time of the block."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    relays = [Relay(host, port, loop) for host, port in targets]
    try:
        for relay in relays:
            asyncio.run_coroutine_threadsafe(relay.listen(), loop).result(_WITHIN_S)
        yield relays
    finally:
        for relay in relays:
            asyncio.run_coroutine_threadsafe(relay.close(), loop).result(_WITHIN_S)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


@contextmanager
def relayed(kubeconfig: Path, directory: Path) -> Iterator[Relays]:
    """Relays before every cluster of a kubeconfig, for the time of the block; what TLS protects stays so."""
    config = yaml.safe_load(kubeconfig.read_text(encoding="utf-8"))
    servers = {one["name"]: urlsplit(one["cluster"]["server"]) for one in config["clusters"]}
    with relaying(*((one.hostname or "", one.port or 443) for one in servers.values())) as relays:
        found = dict(zip(servers, relays, strict=True))
        for one in config["clusters"]:
            one["cluster"]["server"] = f"https://{servers[one['name']].hostname}:{found[one['name']].port}"
        target = directory / "relayed-kubeconfig"
        target.touch(mode=0o600)
        target.write_text(yaml.safe_dump(config), encoding="utf-8")
        yield Relays(target, found)
