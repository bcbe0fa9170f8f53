"""``kadm init``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kadm.cli.settings import settings


def init(
    context: typer.Context,
    directory: Annotated[Path, typer.Argument(metavar="[DIR]", help="Where; made if it is not there.")] = Path(),
    name: Annotated[
        str | None, typer.Option("--name", metavar="NAME", help="The fleet's name.", show_default="the directory's")
    ] = None,
) -> None:
    """Start a fleet: kadm.yaml, manifests/, policies/ and clusters/, with comments that teach. Asks no member.

    Examples:

      kadm init shop && cd shop

      kadm init . --name shop
    """
    from kadm.cli.starting import start_fleet

    made = start_fleet(settings(context).directory / directory, name)
    console = settings(context).console
    for path in made:
        console.data(f"wrote {path}")
    console.info("next: kadm join NAME --context CONTEXT, or kadm sandbox up to try it without a cluster")
