"""What plan and apply share: from the options to a plan."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from kadm.cli.names import target, workloads
from kadm.errors import UsageError

if TYPE_CHECKING:
    from kadm.compare import Permissions
    from kadm.members.pool import MemberPool
    from kadm.model.planned import Planned
    from kadm.model.repository import Repo
    from kadm.pipeline import Choices


class Asked(Struct, frozen=True, kw_only=True):
    """What the command line asks for, beside the repository."""

    directory: Path
    ref: str | None = None
    only: list[str] | None = None
    targets: list[str] | None = None
    request_timeout_s: float = 30.0
    parallel: int = 32
    reschedule: list[str] | None = None
    reschedule_all: bool = False
    assume_lost: list[str] | None = None


def load(directory: Path, *, ref: str | None = None) -> Repo:
    """The fleet's repository. Raises RepoError with every problem."""
    from kadm import repo

    return repo.load(directory, ref=ref)


def with_members(repo: Repo) -> Repo:
    """The repository, if it has members. Raises UsageError with what to do where it has none."""
    if not repo.clusters:
        raise UsageError(
            "the fleet has no members",
            hint="kadm join NAME --context CONTEXT adds one; kadm sandbox up starts some on this machine to try",
        )
    return repo


def without(repo: Repo, lost: Collection[str], flag: str) -> Repo:
    """The repository without these members. Raises UsageError for one that is none, and where none is left."""
    names = [cluster.name for cluster in repo.clusters]
    unknown = sorted(set(lost) - set(names))
    if unknown:
        raise UsageError(f"no such member: {', '.join(unknown)}", hint=f"members are: {', '.join(names)}")
    if set(lost) == set(names):
        raise UsageError(f"{flag} names every member: nothing is left to plan for")
    return repo.without(lost)


@asynccontextmanager
async def opened(asked: Asked, permissions: Permissions) -> AsyncIterator[tuple[Repo, MemberPool, Choices]]:
    """The repository, its open members, and what was chosen beside it: all that a plan is made from."""
    from kadm import pipeline
    from kadm.members.pool import open_members

    lost = tuple(sorted(set(asked.assume_lost or ())))
    repo = without(with_members(load(asked.directory, ref=asked.ref)), lost, "--assume-lost")
    keys = [manifest.key for manifest in repo.manifests]
    chosen = frozenset(key for text in asked.reschedule or () for key in workloads(text, keys))
    choices = pipeline.Choices(
        permissions=permissions,
        reschedule="all" if asked.reschedule_all else chosen,
        targets=tuple(map(target, asked.targets)) if asked.targets else None,
        assume_lost=lost,
    )
    async with open_members(
        repo, request_timeout_s=asked.request_timeout_s, parallel=asked.parallel, only=asked.only
    ) as pool:
        yield repo, pool, choices


async def planned(asked: Asked, permissions: Permissions) -> Planned:
    """The plan for the members as they are now."""
    from kadm import pipeline

    async with opened(asked, permissions) as (repo, pool, choices):
        return await pipeline.make(repo, pool, choices, now=datetime.now(UTC))
