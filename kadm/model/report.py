"""What apply did: the type between execute and the exit code."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from kadm.errors import Problem
from kadm.model.plan import Change, Held

Result = Literal[
    "done",
    "failed",
    "held",
    "skipped",
    "not ready",
    "paused",  # its wave waits for a person; the next apply goes on
]


class ChangeResult(Struct, frozen=True, kw_only=True):
    """What became of one change; ``problem`` says why it is not done."""

    change: Change
    result: Result
    problem: Problem | None = None


class Report(Struct, frozen=True, kw_only=True):
    """What became of a whole plan, in the plan's order."""

    results: tuple[ChangeResult, ...] = ()
    held: tuple[Held, ...] = ()
    unread: tuple[Problem, ...] = ()
    """Members that were not read, or were lost on the way."""
    problems: tuple[Problem, ...] = ()
