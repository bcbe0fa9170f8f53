"""Plans that outlive their run: made and saved, read again, held against the members before they are carried out."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from kadm.cli.console import Console
from kadm.cli.plan_file import of_fleet, read_plan, write_plan
from kadm.cli.planning import Asked, opened
from kadm.errors import Problem, UsageError
from kadm.execute.pinning import choices_of, pin
from kadm.execute.staleness import Stale, differences

if TYPE_CHECKING:
    from kadm.compare import Permissions
    from kadm.members.pool import MemberPool
    from kadm.model.planned import Planned
    from kadm.model.repository import Repo
    from kadm.model.saved import SavedPlan
    from kadm.pipeline import Choices


async def plan_into(path: Path, asked: Asked, permissions: Permissions, console: Console) -> Planned:
    """The plan for the members as they are now, saved into a file."""
    from kadm import pipeline

    async with opened(asked, permissions) as (repo, pool, choices):
        now = datetime.now(UTC)
        planned = await pipeline.make(repo, pool, choices, now=now)
        clusters = tuple(sorted(asked.only)) if asked.only is not None else None
        saved = await pin(planned, pool, choices, clusters=clusters, now=now)
    write_plan(path, saved)
    console.problems(_unpinned(saved))
    console.info(f"saved: kadm apply {path} does exactly this, or nothing")
    return planned


class Saved:
    """A saved plan that is to be carried out.

    Raises UsageError for a file that holds none, and where options are given that belong to the making of a plan.
    """

    def __init__(self, path: Path, asked: Asked, permissions: Permissions) -> None:
        from kadm.compare import Permissions

        added = (asked.only, asked.targets, asked.reschedule, asked.reschedule_all, asked.assume_lost)
        if any(added) or permissions != Permissions():
            raise UsageError(
                "a saved plan holds what it was made with: nothing can be added to it",
                hint="give --cluster, --target, --reschedule, --assume-lost and what lifts guards to kadm plan --out",
            )
        self._path = path
        self._plan = read_plan(path)
        only, lost = self._plan.choices.clusters, self._plan.choices.assume_lost
        self.asked = replace(asked, only=list(only) if only is not None else None, assume_lost=list(lost) or None)

    def choices(self, repo: Repo) -> Choices:
        """What the plan was made with. Raises UsageError where it is another fleet's."""
        return choices_of(of_fleet(self._plan, self._path, repo.fleet.name))

    async def check(self, planned: Planned, pool: MemberPool, choices: Choices) -> None:
        """Hold a plan that was made just now against the saved one. Raises Stale with what differs."""
        clusters = self._plan.choices.clusters
        now = await pin(planned, pool, choices, clusters=clusters, now=datetime.now(UTC))
        if found := differences(self._plan, now):
            raise Stale(found)


def _unpinned(saved: SavedPlan) -> list[Problem]:
    return [
        Problem(
            what="values of Secrets are not compared here when the plan is applied",
            severity="warning",
            member=name,
            why="there is no key for their digests that this credential can read",
            hint="the first apply of a Secret makes one",
        )
        for name in saved.unpinned
    ]
