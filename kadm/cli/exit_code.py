"""All exit codes of kadm, and the pure rules that lead to them (design, section 11)."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum
from typing import TYPE_CHECKING

from kadm.errors import Problem

if TYPE_CHECKING:
    from kadm.model.plan import Plan
    from kadm.model.report import Report


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
    """Some members, or a part of some, were not read or written; the rest is done."""


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
    errors = [problem for problem in problems if problem.severity == "error"]
    if failed or not all(problem.partial for problem in errors):
        return ExitCode.ERROR
    if partial or errors:
        return ExitCode.PARTIAL
    return ExitCode.CHANGES if changes else ExitCode.FINE


def applied_code(plan: Plan, report: Report, *, allow_unplaced: bool = False) -> ExitCode:
    """The exit code of a plan that was carried out."""
    undone = [one for one in report.results if one.result in ("failed", "not ready")]
    lacking = [one.problem for one in undone if one.problem is not None and one.problem.partial]
    problems = (*plan.problems, *report.problems, *lacking)
    partial = bool(report.unread) or any(problem.partial for problem in problems)
    waiting = any(one.result == "held" for one in report.results)  # for what is not done elsewhere, which is told
    return exit_code(
        problems=problems,
        partial=partial or any(one.result == "paused" for one in report.results),
        failed=bool(report.held)
        or len(lacking) < len(undone)
        or (waiting and not partial)
        or (not allow_unplaced and any(one.replicas for one in plan.unplaced)),
    )
