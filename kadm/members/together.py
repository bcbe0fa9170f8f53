"""Coroutines side by side, where the first failure is raised as itself."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping
from typing import Any, TypeVar

T = TypeVar("T")


async def together(work: Mapping[str, Coroutine[Any, Any, T]]) -> dict[str, T]:
    """What each coroutine gives, by its name, in the order given; each is a task of that name.

    The first failure ends the others and is raised as it is, not as an exception group, so that callers can catch it
    by its type.
    """
    try:
        async with asyncio.TaskGroup() as group:
            tasks = {name: group.create_task(coroutine, name=name) for name, coroutine in work.items()}
    except BaseExceptionGroup as failures:
        raise failures.exceptions[0] from failures
    return {name: task.result() for name, task in tasks.items()}
