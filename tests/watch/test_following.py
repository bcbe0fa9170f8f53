"""What is in force while git cannot be asked, or does not answer."""

from __future__ import annotations

import asyncio

import pytest
from msgspec.structs import replace

from kadm.errors import Location
from kadm.model.cluster import FederatedCluster
from kadm.model.repository import Repo
from kadm.watch.following import Following
from kadm.watch.source import SourceError
from kadm.watch.tally import Tally
from kadm.watch.trail import Trail
from tests.execute.builders import a_repo

REPO = replace(a_repo(), clusters=(FederatedCluster(name="eu", location=Location("eu.yaml")),))


class Asked:
    """A source that answers when it is told to."""

    url = "git://here/fleet"
    branch = ""

    def __init__(self, kept: str) -> None:
        self._kept = kept
        self.answers: asyncio.Queue[str | SourceError] = asyncio.Queue()
        self.looked = asyncio.Event()
        self.loaded: list[str] = []

    async def look(self) -> str:
        self.looked.set()
        answer = await self.answers.get()
        if isinstance(answer, SourceError):
            raise answer
        return answer

    async def rewritten(self, before: str, now: str) -> bool:
        return False

    async def kept(self) -> str:
        return self._kept

    async def keep(self, state: str) -> None:
        self._kept = state

    def load(self, state: str) -> Repo:
        self.loaded.append(state)
        return REPO


def follow(source: Asked, put: asyncio.Queue[Repo]) -> Following:
    return Following(source, interval_s=3600, trail=Trail(), tally=Tally(), put=put.put_nowait, changed=lambda: None)


@pytest.mark.parametrize("fails", [False, True], ids=["it answers at last", "it fails at last"])
def test_what_was_kept_is_in_force_while_git_hangs(fails: bool) -> None:
    async def body() -> None:
        source, put = Asked("old"), asyncio.Queue[Repo]()
        async with asyncio.timeout(30), asyncio.TaskGroup() as group:
            task = group.create_task(follow(source, put).run(once=False))
            await put.get()
            assert source.loaded == ["old"]
            if fails:
                source.answers.put_nowait(SourceError("git fetch did not end"))
            source.answers.put_nowait("new")
            await put.get()
            assert source.loaded == ["old", "new"]
            task.cancel()

    asyncio.run(body())


def test_a_push_that_is_told_while_git_is_looked_at_is_looked_for() -> None:
    async def body() -> None:
        source, put = Asked(""), asyncio.Queue[Repo]()
        async with asyncio.timeout(30), asyncio.TaskGroup() as group:
            following = follow(source, put)
            task = group.create_task(following.run(once=False))
            await source.looked.wait()
            following.look_now()
            source.answers.put_nowait("first")
            source.answers.put_nowait("second")
            await put.get()
            await put.get()
            assert source.loaded == ["first", "second"]
            task.cancel()

    asyncio.run(body())
