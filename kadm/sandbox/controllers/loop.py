"""Runs a member's controllers: events wake keys, keys are reconciled one at a time.

A controller answers two questions: which keys does an event concern, and what is to be done about a key now. It reads
the live store, so it needs no cache and no memory of what it has just asked for. A key that waits for time to pass says
after how many seconds it wants to be looked at again; nothing else runs while nothing happens.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Sequence
from typing import Protocol

from kadm.sandbox.api import ApiError, ApiServer, Event, Watch

logger = logging.getLogger(__name__)

Key = tuple[str, str]  # namespace ("" where there is none) and name

FIRST_RETRY_S = 0.05
LAST_RETRY_S = 30.0
MOST_DOUBLINGS = 20


class Controller(Protocol):
    """One control loop."""

    def wakes(self, event: Event) -> Iterable[Key]:
        """The keys to look at because of this event."""

    def sync(self, namespace: str, name: str) -> float | None:
        """Bring one key a step nearer to what it should be.

        Returns the seconds after which to look again without an event, None if only an event can change anything.
        An ApiError means: try again later, ever more rarely.
        """


class ControllerLoop:
    """The work queue of one member and the task that serves it."""

    def __init__(self, api: ApiServer, controllers: Sequence[Controller]) -> None:
        self._api = api
        self._controllers = tuple(controllers)
        self._pending: dict[tuple[int, Key], None] = {}
        self._failures: dict[tuple[int, Key], int] = {}
        self._timers: dict[tuple[int, Key], asyncio.TimerHandle] = {}
        self._arrived = asyncio.Event()
        self._settled = asyncio.Event()

    async def run(self) -> None:
        """Serve until cancelled. Objects that exist already count as new."""
        watch = self._api.watch(None)
        try:
            store = self._api.store
            for resource in store.resources():
                for obj in store.list(resource):
                    self._wake(Event("ADDED", resource, obj, None, store.revision))
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(self._read(watch), name=f"{self._api.name} events")
                tasks.create_task(self._work(watch), name=f"{self._api.name} controllers")
        finally:
            watch.close()
            for timer in self._timers.values():
                timer.cancel()

    async def settled(self) -> None:
        """Wait until everything that was there at the start has been looked at."""
        await self._settled.wait()

    async def _read(self, watch: Watch) -> None:
        async for event in watch:
            self._wake(event)

    async def _work(self, watch: Watch) -> None:
        while True:
            while self._pending:
                while event := watch.take():  # what controllers index must not lag behind the store they read
                    self._wake(event)
                item = next(iter(self._pending))
                del self._pending[item]
                self._sync(item)
                await asyncio.sleep(0)  # requests get their turn between two keys
            self._settled.set()
            self._arrived.clear()
            await self._arrived.wait()

    def _wake(self, event: Event) -> None:
        for index, controller in enumerate(self._controllers):
            for key in controller.wakes(event):
                self._enqueue((index, key))

    def _enqueue(self, item: tuple[int, Key]) -> None:
        self._pending[item] = None
        self._arrived.set()

    def _sync(self, item: tuple[int, Key]) -> None:
        index, (namespace, name) = item
        controller = self._controllers[index]
        if timer := self._timers.pop(item, None):
            timer.cancel()
        try:
            again = controller.sync(namespace, name)
        except ApiError as refusal:
            failures = self._failures.get(item, 0)
            self._failures[item] = failures + 1
            again = min(FIRST_RETRY_S * 2 ** min(failures, MOST_DOUBLINGS), LAST_RETRY_S)
            where = f"{namespace}/{name}" if namespace else name
            logger.info("%s: %s %s: %s", self._api.name, type(controller).__name__, where, refusal.message)
        else:
            self._failures.pop(item, None)
        if again is not None:
            self._timers[item] = asyncio.get_running_loop().call_later(again, self._due, item)

    def _due(self, item: tuple[int, Key]) -> None:
        self._timers.pop(item, None)
        self._enqueue(item)
