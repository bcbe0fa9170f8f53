"""An apply from plan to exit code: show, ask, do, tell."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from kadm.cli.asking import confirmed
from kadm.cli.console import Console
from kadm.cli.ending import ending
from kadm.cli.exit_code import ExitCode, applied_code
from kadm.cli.options import PlanOutput
from kadm.cli.plan_groups import flag_for_many, listed
from kadm.cli.plan_json import encode, report_document
from kadm.cli.plan_text import named
from kadm.cli.planning import Asked, opened
from kadm.cli.progress import progress
from kadm.cli.saving import Saved
from kadm.cli.show_plan import show
from kadm.errors import Problem, StalePlanError, UsageError
from kadm.execute import Stop, deliver
from kadm.execute.locking import in_words
from kadm.model.plan import Action
from kadm.model.report import Report

if TYPE_CHECKING:
    from kadm.compare import Permissions
    from kadm.model.plan import Held, Plan, PlannedWave
    from kadm.model.planned import Planned


FLAGS_NAMED = 3
"""So many flags are named in one line; the plan names all."""

DONE: dict[Action, str] = {
    "create": "created",
    "update": "updated",
    "delete": "deleted",
    "adopt": "adopted",
    "release": "released",
    "own": "owned",
    "recreate": "recreated",
}
"""Action → what was done, in a word."""


async def run_apply(
    console: Console,
    asked: Asked,
    permissions: Permissions,
    *,
    yes: bool,
    wait: bool,
    timeout_s: float,
    lock_timeout_s: float,
    as_json: bool,
    allow_unplaced: bool,
    file: Path | None = None,
) -> int:
    """The exit code of one apply; ``file`` holds a saved plan, which nobody is asked about again.

    Raises UsageError where nobody can be asked and ``yes`` was not given.
    """
    saved = Saved(file, asked, permissions) if file is not None else None
    yes = yes or saved is not None
    if not yes and not console.interactive:
        raise UsageError("apply asks before it writes, and nobody is here to answer", hint="kadm apply --yes")

    async def accept(found: Planned, why_again: str) -> bool:
        if why_again:
            console.info(why_again)
        if not as_json and (console.verbosity >= 0 or not yes):  # who is asked has to see what about
            show(console, found, PlanOutput.TEXT)
        elif not as_json:
            console.problems([*found.plan.problems, *_held(found.plan.held)])
        return not found.plan.changes or yes or await confirmed(console, "Do this?")

    async def go_on(wave: PlannedWave) -> bool:
        return console.interactive and await confirmed(console, f"{wave.name} is well. Go on with the next wave?")

    stop = Stop()
    with ending(stop, console) as ended:
        try:
            async with opened(saved.asked if saved else asked, permissions) as (repo, pool, given):
                choices = saved.choices(repo) if saved else given

                async def check(found: Planned) -> None:
                    if saved is not None:
                        await saved.check(found, pool, choices)

                with progress(console) as listener:
                    delivery = await deliver(
                        repo,
                        pool,
                        choices,
                        accept=accept,
                        check=check,
                        wait=wait,
                        timeout_s=timeout_s,
                        lock_timeout_s=lock_timeout_s,
                        waiting=lambda member, lease: console.info(f"waiting: {in_words(member, lease)}"),
                        listener=listener,
                        go_on=go_on,
                        stop=stop,
                    )
        except StalePlanError as stale:
            console.problems(stale.problems)
            return ExitCode.STALE
        except asyncio.CancelledError:
            if ended.number is None:
                raise
            console.info("interrupted: " + ("the next apply finishes it" if stop.working else "nothing was written"))
            return ended.code
    plan, report = delivery.planned.plan, delivery.report
    if report is None:
        console.info("nothing was done")
        return ExitCode.ERROR
    if as_json:
        console.data(encode(report_document(plan, report)))
    else:
        _tell(console, plan, report)
    told = () if as_json else (*plan.problems, *plan.unread)
    console.problems(problem for problem in _problems(report) if problem not in told)
    if report.held and (as_json or console.verbosity >= 0):  # else each is told, for no plan is shown
        console.problems([_all_held(report.held)])
    if stop.asked and any(one.result != "done" for one in report.results):
        return ended.code
    return applied_code(plan, report, allow_unplaced=allow_unplaced)


def _tell(console: Console, plan: Plan, report: Report) -> None:
    """What was done, in one line; nothing where there was nothing to do: the plan has said so."""
    if not plan.changes:
        return
    actions = [one.change.action for one in report.results if one.result in ("done", "not ready")]
    counts = [f"{actions.count(action)} {word}" for action, word in DONE.items() if action in actions]
    total = f"{len(plan.changes)} change{'s' * (len(plan.changes) > 1)}"
    how_many = total if len(actions) == len(plan.changes) else f"{len(actions)} of {total}"
    console.data(f"Applied {how_many} to {plan.fleet}" + (f": {', '.join(counts)}." if counts else "."))


def _held(held: Sequence[Held]) -> list[Problem]:
    """What guards hold back, for who does not see the plan: objects of a member together, if it is for one reason."""
    alike: dict[tuple[str, Action, str, str], list[str]] = {}
    for one in held:
        alike.setdefault((one.change.cluster, one.change.action, one.why, one.flag), []).append(named(one.change.key))
    return [
        Problem(
            what=f"held back ({action})",
            member=member,
            object=listed(names),
            why=why,
            hint=f"to permit it: {flag}" if flag != "none" else "",
        )
        for (member, action, why, flag), names in alike.items()
    ]


def _all_held(held: Sequence[Held]) -> Problem:
    """All that guards hold back, in one line: why the exit code is not 0, for whom stdout is far away."""
    flags = list(
        dict.fromkeys(flag_for_many(one.flag) if len(held) > 1 else one.flag for one in held if one.flag != "none")
    )
    more = len(flags) - FLAGS_NAMED
    named_flags = "; ".join(flags[:FLAGS_NAMED]) + (f"; and {more} more" if more > 0 else "")
    names = dict.fromkeys(f"{one.change.action} {named(one.change.key)}" for one in held)
    return Problem(
        what=f"{len(held)} change{'s are' if len(held) > 1 else ' is'} held back",
        why=listed(list(names)),
        hint=f"to permit: {named_flags}" if flags else "nothing permits it",
    )


def _problems(report: Report) -> list[Problem]:
    """What is not done, a line each; what a guard holds was shown with the plan already."""
    found = []
    for one in report.results:
        if one.problem is None:
            continue
        problem = one.problem
        if one.result in ("skipped", "held", "paused"):
            change = one.change
            problem = Problem(
                what=f"not done ({one.change.action}): {problem.what}",
                severity="error" if one.result == "held" else "warning",
                member=change.cluster,
                object=named(change.key),
            )
        found.append(problem)
    return [*found, *report.problems, *report.unread]
