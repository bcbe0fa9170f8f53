"""When each member's turn comes, and how far it is: what waves and moves tell each other by."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from kadm.model.report import Result


class Turns:
    """For each member, when it may be written, when its first changes are through, and when its wave may go on.

    A text says why something will not come; it is empty where it came.
    """

    def __init__(self, members: Iterable[str]) -> None:
        loop = asyncio.get_running_loop()
        names = tuple(members)
        self._come: dict[str, asyncio.Future[str]] = {name: loop.create_future() for name in names}
        self._applied: dict[str, asyncio.Future[str]] = {name: loop.create_future() for name in names}
        self._over: dict[str, asyncio.Future[str]] = {name: loop.create_future() for name in names}
        self.refused_as: Result = "held"
        """What becomes of the changes of members whose turn does not come."""

    def come(self, member: str) -> None:
        """The member may be written now."""
        _say(self._come[member], "")

    def refuse(self, member: str, why: str) -> None:
        """The member's turn does not come in this run."""
        for stage in (self._come, self._applied, self._over):
            _say(stage[member], why)

    def applied(self, member: str) -> None:
        """What workloads of the member refer to is there."""
        _say(self._applied[member], "")

    def over(self, member: str, why: str = "") -> None:
        """The member has done its part of the wave; ``why`` it could not."""
        _say(self._applied[member], why)
        _say(self._over[member], why)

    async def until_come(self, member: str) -> str:
        """Empty once the member may be written, else why it may not."""
        return await self._come[member]

    async def until_applied(self, member: str) -> str:
        """Empty once the member's first changes are through, else why they will not be."""
        return await self._applied[member]

    async def until_over(self, member: str) -> str:
        """Empty once the member has done its part, else why it could not."""
        return await self._over[member]


def _say(answer: asyncio.Future[str], why: str) -> None:
    """The first answer counts."""
    if not answer.done():
        answer.set_result(why)
