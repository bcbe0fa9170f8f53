"""The work queue: what wakes, what waits, what is tried again."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime

from kadm.sandbox.api import ApiError, ApiServer, Event
from kadm.sandbox.controllers.loop import ControllerLoop, Key

WITHIN_S = 5.0


@dataclass
class Recorder:
    """A controller of ConfigMaps that notes what it is asked, and answers from a script."""

    answers: list[float | ApiError | None] = field(default_factory=list)
    enough: int = 1
    seen: list[str] = field(default_factory=list)
    done: asyncio.Event = field(default_factory=asyncio.Event)

    def wakes(self, event: Event) -> Iterable[Key]:
        if event.resource == "configmaps":
            yield event.object["metadata"]["namespace"], event.object["metadata"]["name"]

    def sync(self, namespace: str, name: str) -> float | None:
        self.seen.append(name)
        if len(self.seen) >= self.enough:
            self.done.set()
        answer = self.answers.pop(0) if self.answers else None
        if isinstance(answer, ApiError):
            raise answer
        return answer


def played(
    recorder: Recorder, before: Iterable[str] = (), after: Callable[[ApiServer], None] | None = None
) -> list[str]:
    """What a recorder was asked until it had enough."""

    async def play() -> list[str]:
        api = ApiServer("member1", clock=lambda: datetime.now(UTC))
        for name in before:
            create(api, name)
        loop = ControllerLoop(api, [recorder])
        task = asyncio.create_task(loop.run())
        try:
            async with asyncio.timeout(WITHIN_S):
                await loop.settled()
                if after is not None:
                    after(api)
                await recorder.done.wait()
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        return recorder.seen

    return asyncio.run(play())


def create(api: ApiServer, name: str) -> None:
    """A ConfigMap in ``default``."""
    metadata = {"name": name, "namespace": "default"}
    api.create("configmaps", {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}, manager="tester")


def test_what_is_there_at_the_start_counts_as_new() -> None:
    assert played(Recorder(enough=2), before=["a", "b"]) == ["a", "b"]


def test_an_event_wakes() -> None:
    assert played(Recorder(), after=lambda api: create(api, "a")) == ["a"]


def test_several_events_of_one_key_wake_once() -> None:
    def thrice(api: ApiServer) -> None:
        create(api, "a")
        for value in ("1", "2"):
            api.merge_patch("configmaps", "default", "a", {"data": {"k": value}}, manager="tester")
        create(api, "b")

    assert played(Recorder(enough=2), after=thrice) == ["a", "b"]


def test_a_key_that_waits_is_looked_at_again() -> None:
    assert played(Recorder([0.01, 0.0], enough=3), before=["a"]) == ["a", "a", "a"]


def test_a_refusal_is_tried_again() -> None:
    refusal = ApiError(403, "Forbidden", "not yet")
    assert played(Recorder([refusal], enough=2), before=["a"]) == ["a", "a"]
