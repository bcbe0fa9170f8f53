"""Reasons to plan: many of them cost one plan."""

from __future__ import annotations

import asyncio

from kadm.watch.triggers import MOST_REASONS, Triggers


def test_reasons_are_collected_until_there_is_quiet() -> None:
    async def run() -> list[tuple[str, ...]]:
        triggers = Triggers()
        triggers.later("late", 0.05)
        triggers.later("never", 0.05)
        triggers.not_later("never")
        triggers.add("first")
        triggers.add("second")
        triggers.add("first")
        found = [await triggers.wait()]
        for number in range(2 * MOST_REASONS):
            triggers.add(str(number))
        found.append(await triggers.wait())
        return found

    first, second = asyncio.run(asyncio.wait_for(run(), 10))
    assert first == ("first", "second", "late")
    assert len(second) == MOST_REASONS
