"""``kadm show``."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from kadm.cli import options
from kadm.cli.settings import settings


class ShownOutput(StrEnum):
    """Formats of a saved plan."""

    TEXT = "text"
    JSON = "json"
    MARKDOWN = "markdown"
    NAME = "name"


def show(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A plan that kadm plan --out saved.")],
    output: Annotated[ShownOutput, typer.Option("-o", "--output", help="Output format.")] = ShownOutput.TEXT,
    directory: options.DirectoryOption = None,
) -> None:
    """Show a saved plan as kadm plan showed it. It asks no member, and needs no repository.

    Examples:

      kadm show plan.json                 what would change, field by field

      kadm show plan.json -o markdown     for a comment on a pull request
    """
    from kadm.cli.options import PlanOutput
    from kadm.cli.plan_file import read_plan
    from kadm.cli.show_plan import print_plan

    console = settings(context, directory).console
    saved = read_plan(file)
    console.info(f"{saved.fleet}{f' at {saved.commit}' if saved.commit else ''}, planned {saved.saved}")
    print_plan(console, saved.plan(), PlanOutput(output.value))
