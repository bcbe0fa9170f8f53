"""``kadm unjoin``."""

from __future__ import annotations

from typing import Annotated

import typer

from kadm.cli import completing, options
from kadm.cli.durations import Duration
from kadm.cli.settings import settings


def unjoin(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The member.", autocompletion=completing.members)],
    release: Annotated[bool, typer.Option("--release", help="Leave its objects running, without kadm.")] = False,
    delete: Annotated[bool, typer.Option("--delete", help="Delete what kadm created there.")] = False,
    yes: options.YesOption = False,
    directory: options.DirectoryOption = None,
    output: options.OutputOption = options.Output.TEXT,
    request_timeout: options.RequestTimeoutOption = Duration("30s"),
) -> None:
    """Take a member out of the fleet, and remove its file from clusters/.

    It refuses while the member still holds objects, unless --release leaves them running or --delete deletes them.

    Examples:

      kadm unjoin lab

      kadm unjoin eu-1 --release
    """
    import asyncio

    from kadm.cli.membership import run_unjoin
    from kadm.errors import UsageError

    if release and delete:
        raise UsageError("--release and --delete exclude each other")
    raise typer.Exit(
        asyncio.run(
            run_unjoin(
                settings(context).console,
                settings(context, directory).directory,
                name,
                objects="release" if release else "delete" if delete else "refuse",
                yes=yes,
                as_json=output is options.Output.JSON,
                request_timeout_s=request_timeout,
            )
        )
    )
