"""Following git: the newest commit that can be used is in force; one that cannot is reported, the last one stays."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable
from datetime import UTC, datetime

from msgspec.structs import replace

from kadm.errors import KadmError, Problem
from kadm.model.repository import Repo
from kadm.watch.pausing import Failures
from kadm.watch.source import Source, SourceError
from kadm.watch.state import BrokenCommit, SourceView
from kadm.watch.tally import Tally
from kadm.watch.trail import Trail, time_text

_log = logging.getLogger(__name__)

FIRST_PAUSE_S = 2.0

AT_ONCE_S = 3.0
"""A restarted daemon waits for git so long before it goes on with what it knows."""


class Following:
    """Looks at a source again and again. ``put`` is given what is in force from now on, ``changed`` hears of the rest.

    ``view`` is what was seen of the source, ``broken`` the newest commit where it cannot be used.
    """

    def __init__(
        self,
        source: Source,
        *,
        interval_s: float,
        trail: Trail,
        tally: Tally,
        put: Callable[[Repo], None],
        changed: Callable[[], None],
    ) -> None:
        self.view = SourceView(url=source.url, branch=source.branch)
        self.broken: BrokenCommit | None = None
        self._source = source
        self._interval_s = interval_s
        self._trail = trail
        self._tally = tally
        self._put = put
        self._changed = changed
        self._in_force = False
        self._tried = ""
        self._poke = asyncio.Event()

    def look_now(self) -> None:
        """Do not wait until the interval is over."""
        self._poke.set()

    async def run(self, *, once: bool) -> None:
        """Follow for ever. Ends by cancellation; with ``once`` raises KadmError where nothing can be used."""
        failures = Failures(first_s=FIRST_PAUSE_S, longest_s=max(self._interval_s, FIRST_PAUSE_S))
        kept = before = await self._kept()
        while True:
            self._poke.clear()  # not after the look: what was pushed meanwhile may have come too late for it
            wait_s = self._interval_s
            try:
                state = await self._look(kept)
            except SourceError as error:
                self._failed(error.problem)
                wait_s = failures.another()
                if not self._in_force and kept:
                    await self._take(kept, newest=False)
            else:
                failures.none()
                self._seen()
                if state != self._tried:
                    await self._compare(before, state)
                    before = state
                    if await self._take(state, newest=True):
                        self._tried = state
                    else:
                        wait_s = failures.another()
                    if not self._in_force and kept and kept != state:
                        await self._take(kept, newest=False)
            if once and not self._in_force:
                raise self._nothing()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(wait_s):
                    await self._poke.wait()

    async def _look(self, kept: str) -> str:
        """The newest state. Where that takes its time at the start, what was ``kept`` is in force meanwhile.

        Raises SourceError.
        """
        look = asyncio.ensure_future(self._source.look())
        try:
            if kept and not self._in_force and not (await asyncio.wait([look], timeout=AT_ONCE_S))[0]:
                await self._take(kept, newest=False)
            return await look
        finally:
            look.cancel()

    async def _compare(self, before: str, state: str) -> None:
        """Tell of a branch whose history was written anew: it is followed, and somebody may want to know."""
        if before and before != state and await self._source.rewritten(before, state):
            self._tally.add(rewrites=1)
            text = f"the branch was rewritten: {state[:12]} does not go on from {before[:12]}"
            self._trail.add("source", text, severity="warning")

    async def _kept(self) -> str:
        """What was in force when the daemon ended, empty where that is not known."""
        try:
            return await self._source.kept()
        except SourceError as error:
            _log.info("what was in force is not known: %s", error.problem.what)
            return ""

    async def _take(self, state: str, *, newest: bool) -> bool:
        """Put a state in force if it can be used; else report it, and leave in force what is.

        False: nothing could be said of it, and it is to be tried again.
        """
        try:
            repo = await asyncio.to_thread(self._source.load, state)
            if not repo.clusters:
                raise KadmError("the fleet has no members", hint="kadm join NAME --context CONTEXT adds one")
        except SourceError as error:
            self._failed(error.problem)
            return False
        except KadmError as error:
            self.broken = BrokenCommit(commit=state, since=_now_text(), problems=error.problems)
            self._tally.add(broken_commits=1)
            more = len(error.problems) - 1
            text = f"commit {state[:12]} cannot be used: {error.problem}" + (f", and {more} more" if more else "")
            self._trail.add("broken", text, severity="error")
            self._changed()
            return True
        if newest:
            self.broken = None
        with contextlib.suppress(SourceError):  # a restarted daemon then begins with another commit, that is all
            await self._source.keep(state)
        commit = str(repo.revision) if repo.revision is not None else ""
        self.view = replace(self.view, commit=commit, since=_now_text())
        self._trail.add("commit", f"commit {commit[:12] or state[:12]} is in force")
        self._in_force = True
        self._put(repo)
        return True

    def _seen(self) -> None:
        if self.view.problem is not None:
            self._trail.add("source", f"{self._source.url} can be reached again")
        self.view = replace(self.view, problem=None, seen=_now_text())
        self._tally.add(fetches=1)
        self._changed()

    def _failed(self, problem: Problem) -> None:
        known = self.view.problem
        if known is None or known.what != problem.what:
            self._trail.add("source", str(problem), severity="error")
        self.view = replace(self.view, problem=problem)
        self._tally.add(failed_fetches=1)
        self._changed()

    def _nothing(self) -> KadmError:
        """Why nothing is in force."""
        problem = self.broken.problems[0] if self.broken is not None else self.view.problem
        assert problem is not None, "it is broken, or could not be looked at"
        return KadmError(problem.what, where=problem.where, object=problem.object, why=problem.why, hint=problem.hint)


def _now_text() -> str:
    return time_text(datetime.now(UTC))
