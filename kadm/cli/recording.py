"""Showing a member's record, and writing it anew, told to the person who asked."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from kadm.cli.asking import confirmed
from kadm.cli.console import Console
from kadm.cli.exit_code import ExitCode, exit_code
from kadm.cli.planning import load
from kadm.cli.show_record import object_lines, show_record
from kadm.errors import Problem, UsageError

if TYPE_CHECKING:
    from kadm.execute.record_repair import Repair
    from kadm.members.pool import MemberPool
    from kadm.model.repository import Repo


async def run_show(
    console: Console, directory: Path, member: str, *, as_json: bool, request_timeout_s: float
) -> ExitCode:
    """The record to stdout; an error where there is none."""
    from kadm.execute.record_repair import recorded

    async with _opened(directory, member, request_timeout_s, read_only=True) as (repo, pool):
        record, bound = await recorded(pool, member)
    if record is None:
        what = f"there is no record of fleet {repo.fleet.name}"
        console.problems([Problem(what=what, member=member, hint="kadm never wrote here, or the record was lost")])
        return ExitCode.ERROR
    show_record(console, record, as_json=as_json)
    if bound:
        return ExitCode.FINE
    problem = Problem(
        what="the record was written for another cluster",
        member=member,
        hint=f"if this one was restored from a backup of that: kadm record rebind {member}",
    )
    console.problems([problem])
    return exit_code(problems=[problem])


async def run_repair(
    console: Console,
    directory: Path,
    member: str,
    how: Literal["rebuild", "rebind"],
    *,
    yes: bool,
    as_json: bool,
    lock_timeout_s: float,
    request_timeout_s: float,
) -> ExitCode:
    """Write a member's record anew. Raises UsageError where nobody can be asked and ``yes`` was not given."""
    from kadm.execute.locking import in_words
    from kadm.execute.record_repair import repair

    if not yes and not console.interactive:
        raise UsageError(
            f"record {how} asks before it writes, and nobody is here to answer",
            hint=f"kadm record {how} {member} --yes",
        )

    async def accept(found: Repair) -> bool:
        if not as_json:
            _tell(console, found, how, member)
        return yes or await confirmed(console, "Write it?")

    async with _opened(directory, member, request_timeout_s, read_only=False) as (repo, pool):
        done = await repair(
            pool,
            member,
            how,
            manager=repo.fleet.field_manager,
            accept=accept,
            lock_timeout_s=lock_timeout_s,
            waiting=lambda name, lease: console.info(f"waiting: {in_words(name, lease)}"),
        )
    if done is None:
        console.info("nothing was done")
        return ExitCode.ERROR
    if as_json:
        show_record(console, done.record, as_json=True)
    elif not done.needed:
        console.data(f"The record of {member} needs nothing: it holds {_objects(len(done.record.objects))}.")
    else:
        console.data(f"Wrote the record of {member}: it holds {_objects(len(done.record.objects))}.")
        console.info("kadm plan shows what follows from it")
    return ExitCode.FINE


@asynccontextmanager
async def _opened(
    directory: Path, member: str, request_timeout_s: float, *, read_only: bool
) -> AsyncIterator[tuple[Repo, MemberPool]]:
    from kadm.members.pool import open_members

    repo = load(directory)
    async with open_members(repo, read_only=read_only, request_timeout_s=request_timeout_s, only=[member]) as pool:
        yield repo, pool


def _tell(console: Console, found: Repair, how: str, member: str) -> None:
    """What would be written, before it is."""
    if found.damaged:
        console.data(f"The record of {member} cannot be read, and is replaced.")
    if how == "rebind":
        console.data(
            f"{_objects(len(found.added)).capitalize()} of another cluster's record, to be confirmed in {member}:"
        )
    else:
        console.data(f"{_objects(len(found.added)).capitalize()} in {member} to be recorded as created by kadm:")
    for line in object_lines(found.added):
        console.data(f"  {line}")


def _objects(number: int) -> str:
    return f"{number or 'no'} object{'s' if number != 1 else ''}"
