"""``kadm demo``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kadm.cli.settings import settings


def demo(
    context: typer.Context,
    keep: Annotated[bool, typer.Option("--keep", help="Leave the members running, and the fleet's files.")] = False,
    directory: Annotated[
        Path | None,
        typer.Option("--dir", metavar="DIR", help="Where the demo's files go.", show_default="a temporary directory"),
    ] = None,
) -> None:
    """Show what kadm does, on embedded members, in under a minute. Needs no cluster and leaves nothing behind.

    It starts a sandbox, makes a fleet, joins, plans and applies it, shows the status, scales a workload so that
    replicas move, and corrects drift.

    Examples:

      kadm demo

      kadm demo --keep --dir demo
    """
    from kadm.cli.demonstration import demonstrate

    raise typer.Exit(demonstrate(settings(context).console, directory, keep=keep))
