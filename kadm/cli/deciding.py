"""What render and explain share: from the repository to where everything goes, with or without asking the members."""

from __future__ import annotations

from collections.abc import Set
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from kadm.errors import Problem
from kadm.model.decision import Decisions
from kadm.model.desired import Desired
from kadm.model.objects import ObjectKey
from kadm.model.observation import Observation

if TYPE_CHECKING:
    from kadm.model.repository import Repo


class Decided(Struct, frozen=True, kw_only=True):
    """Where everything goes, and what each member must hold. ``problems`` are those of the repository and the stages;
    ``unread`` those of members."""

    observation: Observation
    decisions: Decisions
    desired: Desired
    problems: tuple[Problem, ...]
    unread: tuple[Problem, ...]


async def decided(
    repo: Repo,
    *,
    offline: bool,
    request_timeout_s: float,
    parallel: int,
    reschedule: Set[ObjectKey] | Literal["all"] = frozenset(),
) -> Decided:
    """Asks the members; with ``offline`` takes what their files record, and asks nobody, no webhook either."""
    from kadm import pipeline

    now = datetime.now(UTC)
    missing: tuple[Problem, ...] = ()
    if offline:
        from kadm.members.recorded import recorded

        observation, missing = recorded(repo)
        decisions, desired = pipeline.place(repo, observation, now=now, reschedule=reschedule)
    else:
        from kadm.members.pool import open_members
        from kadm.render import render

        async with open_members(repo, request_timeout_s=request_timeout_s, parallel=parallel) as pool:
            observation, decisions = await pipeline.decide(repo, pool, now=now, reschedule=reschedule)
        desired = render(repo, decisions, observation)
    return Decided(
        observation=observation,
        decisions=decisions,
        desired=desired,
        problems=(*repo.warnings, *missing, *decisions.problems, *desired.problems),
        unread=tuple(one.problem for one in observation.unread.values()),
    )
