"""``kadm init``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kadm.cli import options
from kadm.cli.settings import settings


def init(
    context: typer.Context,
    fleet: Annotated[Path, typer.Argument(metavar="[DIR]", help="Where; made if it is not there.")] = Path(),
    name: Annotated[
        str | None, typer.Option("--name", metavar="NAME", help="The fleet's name.", show_default="the directory's")
    ] = None,
    directory: options.DirectoryOption = None,
    output: options.OutputOption = options.Output.TEXT,
) -> None:
    """Start a fleet: kadm.yaml, manifests/, policies/ and clusters/, with comments that teach. Asks no member.

    Examples:

      kadm init shop && cd shop

      kadm init . --name shop
    """
    from kadm.cli.starting import run_init

    found = settings(context, directory)
    run_init(found.console, found.directory / fleet, name, as_json=output is options.Output.JSON)
