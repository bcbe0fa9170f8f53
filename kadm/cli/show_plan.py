"""Printing a plan in the format that was asked for."""

from __future__ import annotations

from kadm.cli.console import Console
from kadm.cli.explaining import explained_plan
from kadm.cli.options import PlanOutput
from kadm.cli.plan_json import encode, plan_document
from kadm.cli.plan_markdown import plan_markdown
from kadm.cli.plan_text import plan_lines
from kadm.model.objects import ObjectKey
from kadm.model.plan import Change
from kadm.model.planned import Planned


def show(console: Console, planned: Planned, output: PlanOutput) -> None:
    """The plan to stdout; problems, and members that could not be read, to stderr."""
    plan = planned.plan
    match output:
        case PlanOutput.JSON:
            console.data(encode({**plan_document(plan), "explanations": explained_plan(planned)}))
        case PlanOutput.MARKDOWN:
            console.data(plan_markdown(plan))
        case PlanOutput.NAME:
            console.data("".join(f"{_name(change.key)}\n" for change in _distinct(planned)))
        case PlanOutput.TEXT:
            for line in plan_lines(plan, shows_fields_of_creates=console.verbosity > 0):
                console.print(line)
    console.problems([*planned.repo.warnings, *plan.problems, *plan.unread])


def _distinct(planned: Planned) -> list[Change]:
    return list({change.key: change for change in planned.plan.changes}.values())


def _name(key: ObjectKey) -> str:
    kind = f"{key.kind.lower()}.{key.group}" if key.group else key.kind.lower()
    return f"{kind}/{key.name}" + (f" -n {key.namespace}" if key.namespace else "")
