"""Printing a plan in the format that was asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from kadm.cli.console import Console
from kadm.cli.explaining import explained_plan
from kadm.cli.options import PlanOutput
from kadm.cli.plan_json import encode, plan_document
from kadm.cli.plan_markdown import plan_markdown
from kadm.cli.plan_text import plan_lines
from kadm.errors import Problem
from kadm.model.objects import ObjectKey
from kadm.model.plan import Change, Plan
from kadm.model.planned import Planned


def show(console: Console, planned: Planned, output: PlanOutput) -> None:
    """The plan to stdout; problems, and members that could not be read, to stderr."""
    told = {"explanations": explained_plan(planned)} if output is PlanOutput.JSON else {}
    print_plan(console, planned.plan, output, warnings=planned.repo.warnings, told=told)


def print_plan(
    console: Console,
    plan: Plan,
    output: PlanOutput,
    *,
    warnings: Sequence[Problem] = (),
    told: Mapping[str, Any] = MappingProxyType({}),
) -> None:
    """As ``show``, where the plan is all that there is; ``told`` is added to the JSON."""
    match output:
        case PlanOutput.JSON:
            console.data(encode({**plan_document(plan), **told}))
        case PlanOutput.MARKDOWN:
            console.data(plan_markdown(plan))
        case PlanOutput.NAME:
            console.data("".join(f"{_name(change.key)}\n" for change in _distinct(plan)))
        case PlanOutput.TEXT:
            for line in plan_lines(plan, shows_fields_of_creates=console.verbosity > 0):
                console.print(line)
    console.problems([*warnings, *plan.problems, *plan.unread])


def _distinct(plan: Plan) -> list[Change]:
    return list({change.key: change for change in plan.changes}.values())


def _name(key: ObjectKey) -> str:
    kind = f"{key.kind.lower()}.{key.group}" if key.group else key.kind.lower()
    return f"{kind}/{key.name}" + (f" -n {key.namespace}" if key.namespace else "")
