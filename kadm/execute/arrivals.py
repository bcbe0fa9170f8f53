"""Create before delete, across members: a source shrinks when every target of its move is ready (design, section 7)."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from kadm.model.objects import ObjectKey
from kadm.model.plan import Move


class Arrivals:
    """For each move, whether the replicas have arrived in each of its target members.

    Every target says so exactly once, with an empty text, or with why they have not arrived.
    """

    def __init__(self, moves: Iterable[Move]) -> None:
        loop = asyncio.get_running_loop()
        self._moves = {move.key: move for move in moves}
        self._arrived: dict[ObjectKey, dict[str, asyncio.Future[str]]] = {
            key: {name: loop.create_future() for name in move.arrives} for key, move in self._moves.items()
        }

    def expected_in(self, member: str) -> list[ObjectKey]:
        """The moved workloads that arrive in this member."""
        return [key for key, targets in self._arrived.items() if member in targets]

    def leaving(self, member: str) -> set[ObjectKey]:
        """The moved workloads that leave this member, in whole or in part."""
        return {key for key, move in self._moves.items() if member in move.leaves}

    def say(self, member: str, key: ObjectKey, why_not: str = "") -> None:
        """The member's answer for one workload; later ones do not count."""
        answer = self._arrived[key][member]
        if not answer.done():
            answer.set_result(why_not)

    def lost(self, member: str, why: str) -> None:
        """The member answers no more: whatever it has not said, has not arrived."""
        for key in self.expected_in(member):
            self.say(member, key, why)

    async def all_arrived(self, key: ObjectKey) -> str:
        """Empty once every target of the move is ready, else why the first that is not (by name) is not."""
        targets = self._arrived[key]
        for name in sorted(targets):
            if why_not := await targets[name]:
                return f"{name}: {why_not}"
        return ""
