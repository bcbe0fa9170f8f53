"""What is said of a fault of kadm's own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from kadm.cli.bug import bug


async def fails() -> None:
    raise RuntimeError("a value that must not be shown")


async def waits() -> None:
    async with asyncio.TaskGroup() as outer:
        outer.create_task(waits_for_it())


async def waits_for_it() -> None:
    async with asyncio.TaskGroup() as inner:
        inner.create_task(fails())


@pytest.mark.parametrize("work", [fails, waits], ids=["alone", "in groups of tasks"])
def test_the_place_of_the_fault_is_told_and_not_its_message(work: Callable[[], Coroutine[Any, Any, None]]) -> None:
    with pytest.raises(Exception, match=r"must not be shown|unhandled errors") as raised:
        asyncio.run(work())
    found = bug(raised.value)
    assert found.what == f"a fault in kadm: RuntimeError in test_bug.py:{fails.__code__.co_firstlineno + 1}"
