"""All exit codes of kadm, and the pure rules that lead to them (design, section 11)."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum

from kadm.errors import Problem


class ExitCode(IntEnum):
    """What a script may rely on."""

    FINE = 0
    """Done, or nothing to do."""
    ERROR = 1
    """Something is wrong: input, usage, an object that a member refuses, something held back by a guard."""
    CHANGES = 2
    """Only with ``plan --detailed-exitcode``: there are changes."""
    STALE = 3
    """The saved plan is no longer true."""
    PARTIAL = 4
    """Some members were not read or written; the rest is done."""


MEANINGS = {
    ExitCode.FINE: "fine, or no change",
    ExitCode.ERROR: "an error, wrong usage and what apply holds back included",
    ExitCode.CHANGES: "only with plan --detailed-exitcode: there are changes",
    ExitCode.STALE: "the saved plan is stale",
    ExitCode.PARTIAL: "partial: some members were not read or written, the rest is done",
}


def exit_code(
    *, problems: Iterable[Problem] = (), partial: bool = False, failed: bool = False, changes: bool = False
) -> ExitCode:
    """The exit code of a run. An error in what could be read and written wins; then partial; then changes."""
    if failed or any(problem.severity == "error" for problem in problems):
        return ExitCode.ERROR
    if partial:
        return ExitCode.PARTIAL
    return ExitCode.CHANGES if changes else ExitCode.FINE
