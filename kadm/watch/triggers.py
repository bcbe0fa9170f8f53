"""Why to plan again: reasons are collected until there is quiet, so that many changes cost one plan."""

from __future__ import annotations

import asyncio

QUIET_S = 0.3
LONGEST_S = 3.0
"""A plan is not put off for longer, however much goes on."""

MOST_REASONS = 20


class Triggers:
    """Reasons to plan, each once, in the order in which they came."""

    def __init__(self) -> None:
        self._reasons: dict[str, None] = {}
        self._some = asyncio.Event()
        self._last_s = 0.0
        self._later: dict[str, asyncio.TimerHandle] = {}

    def add(self, reason: str) -> None:
        """Plan again, for this reason."""
        if len(self._reasons) < MOST_REASONS:
            self._reasons[reason] = None
        self._last_s = asyncio.get_running_loop().time()
        self._some.set()

    def later(self, reason: str, delay_s: float) -> None:
        """Plan again for this reason after a while; a second call for the same reason replaces the first."""
        self.not_later(reason)
        self._later[reason] = asyncio.get_running_loop().call_later(delay_s, self.add, reason)

    def not_later(self, reason: str) -> None:
        """What was to be planned for later is done already."""
        if (handle := self._later.pop(reason, None)) is not None:
            handle.cancel()

    async def wait(self) -> tuple[str, ...]:
        """The reasons, once there are some and nothing more has come for a moment."""
        await self._some.wait()
        loop = asyncio.get_running_loop()
        latest = loop.time() + LONGEST_S
        while (quiet := min(self._last_s + QUIET_S, latest) - loop.time()) > 0:  # noqa: ASYNC110  # quiet is that nothing comes
            await asyncio.sleep(quiet)
        reasons, self._reasons = tuple(self._reasons), {}
        self._some.clear()
        return reasons
