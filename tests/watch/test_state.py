"""The board: what subscribers see of published snapshots."""

from __future__ import annotations

import asyncio

from kadm.watch.state import Board, Snapshot, SourceView


def a_snapshot(version: int) -> Snapshot:
    return Snapshot(version=version, at="", started="", source=SourceView(url="repo"))


def test_a_subscriber_sees_the_latest_at_once_and_the_last_in_the_end() -> None:
    async def run() -> list[int]:
        board = Board(a_snapshot(1))
        seen: list[int] = []

        async def read() -> None:
            async for snapshot in board.subscribe():
                seen.append(snapshot.version)
                if snapshot.version == 4:
                    board.close()

        async with asyncio.timeout(5), asyncio.TaskGroup() as group:
            group.create_task(read())
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            for version in (2, 3, 4):  # faster than it reads: what lies between may be missed
                board.publish(a_snapshot(version))
        return seen

    assert asyncio.run(run()) == [1, 4]
