"""``/api/v1/stream``: server-sent events, so that nobody has to poll. Source: WHATWG HTML, section 9.2.

The first message holds everything, those after it what changed. A reader that is slow misses steps in between, never
the last state; one that reads nothing for long is let go, and so is everybody when the daemon ends.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import msgspec
from aiohttp import web

from kadm.model.objects import JsonObject
from kadm.watch.serving.changes import changes, whole
from kadm.watch.state import Board, Snapshot

MOST_READERS = 64
EVERY_S = 0.1
"""At most so often: a rollout changes counts many times a second."""
HEARTBEAT_S = 15.0
"""So often something is sent, else a proxy takes the connection for dead."""
WRITE_TIMEOUT_S = 20.0

HEARTBEAT = b": still here\n\n"


class Streams:
    """The readers of one daemon's board. Two that saw the same are sent the same bytes, encoded once."""

    def __init__(self, board: Board) -> None:
        self._board = board
        self._readers = 0
        self._encoded: dict[tuple[int, int], bytes] = {}
        self._ended = asyncio.Event()

    def close(self) -> None:
        """Let every reader go."""
        self._ended.set()

    @property
    def full(self) -> bool:
        return self._readers >= MOST_READERS

    async def send(self, request: web.Request, response: web.StreamResponse) -> None:
        """Send until the reader goes, does not read, or the board closes. ``response`` has its headers."""
        self._readers += 1
        try:
            await response.prepare(request)
            async for message in self._messages():
                async with asyncio.timeout(WRITE_TIMEOUT_S):
                    await response.write(message)
        except (ConnectionError, TimeoutError):
            return  # it went away, or does not read: it comes again and is sent everything
        finally:
            self._readers -= 1

    async def _messages(self) -> AsyncIterator[bytes]:
        snapshots = self._board.subscribe()
        before: Snapshot | None = None
        ended = asyncio.ensure_future(self._ended.wait())
        following = asyncio.ensure_future(anext(snapshots))
        try:
            while True:
                done, _ = await asyncio.wait(
                    [following, ended], timeout=HEARTBEAT_S, return_when=asyncio.FIRST_COMPLETED
                )
                if ended in done:
                    return
                if not done:
                    yield HEARTBEAT
                    continue
                try:
                    after = following.result()
                except StopAsyncIteration:
                    return
                message = self._message(before, after)
                before = after
                if message:
                    yield message
                    await asyncio.sleep(EVERY_S)
                following = asyncio.ensure_future(anext(snapshots))
        finally:
            ended.cancel()
            following.cancel()

    def _message(self, before: Snapshot | None, after: Snapshot) -> bytes:
        steps = (before.version if before is not None else 0, after.version)
        if steps not in self._encoded:
            self._encoded = {known: text for known, text in self._encoded.items() if known[1] == after.version}
            if before is None:
                self._encoded[steps] = _event("snapshot", whole(after))
            else:
                found = changes(before, after)
                self._encoded[steps] = b"" if found is None else _event("changes", found)
        return self._encoded[steps]


def _event(name: str, data: JsonObject) -> bytes:
    return b"event: %s\ndata: %s\n\n" % (name.encode(), msgspec.json.encode(data))
