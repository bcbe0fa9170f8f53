"""``kadm demo``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kadm.cli import options
from kadm.cli.settings import settings


def demo(
    context: typer.Context,
    keep: Annotated[bool, typer.Option("--keep", help="Leave the members running, and the fleet's files.")] = False,
    fleet: Annotated[
        Path | None,
        typer.Option("--dir", metavar="DIR", help="Where the fleet's files go.", show_default="a temporary directory"),
    ] = None,
    directory: options.DirectoryOption = None,
    output: options.OutputOption = options.Output.TEXT,
) -> None:
    """Show what kadm does, on embedded members, in under a minute. Needs no cluster and leaves nothing behind.

    It starts three members, joins them to a fleet, plans and applies it, shows the status, scales a workload so that
    replicas move between members, and corrects drift.

    Examples:

      kadm demo

      kadm demo --keep --dir demo      to go on from there
    """
    from kadm.cli.demonstration import demonstrate

    found = settings(context, directory)
    raise typer.Exit(
        demonstrate(
            found.console,
            found.directory / fleet if fleet is not None else None,
            keep=keep,
            as_json=output is options.Output.JSON,
        )
    )
