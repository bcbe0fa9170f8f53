"""Ending a run early without leaving it half said: what was sent is waited for, and nothing more is begun."""

from __future__ import annotations

import asyncio

INTERRUPTED = "interrupted before it was done"


class Stop:
    """Whether somebody asked the run to end."""

    def __init__(self) -> None:
        self._asked = asyncio.Event()
        self.working = False
        """Whether something may have been written: before that, a run can simply be left."""

    def ask(self) -> None:
        """Let the run end as soon as what was sent is answered."""
        self._asked.set()

    @property
    def asked(self) -> bool:
        return self._asked.is_set()

    async def pause(self, seconds: float) -> None:
        """Return after so many seconds, or as soon as the end is asked for."""
        try:
            async with asyncio.timeout(seconds):
                await self._asked.wait()
        except TimeoutError:
            return
