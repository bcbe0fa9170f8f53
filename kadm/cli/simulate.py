"""``kadm simulate``."""

from __future__ import annotations

from typing import Annotated

import typer

from kadm.cli import completing, options
from kadm.cli.durations import Duration
from kadm.cli.settings import settings


def simulate(
    context: typer.Context,
    lose: Annotated[
        list[str],
        typer.Option(
            "--lose",
            metavar="NAME",
            help="A member that would be gone; repeatable.",
            autocompletion=completing.members,
            show_default=False,
        ),
    ],
    directory: options.DirectoryOption = None,
    output: options.OutputOption = options.Output.TEXT,
    ref: options.RefOption = None,
    offline: options.OfflineOption = False,
    request_timeout: options.RequestTimeoutOption = Duration("30s"),
    parallel: options.ParallelOption = 32,
) -> None:
    """Show what would move if members were gone: which replicas appear where, and what finds no place.

    Writes nothing. What the others have free counts as it is now. Exit code 1 where something would find no place.
    kadm apply --assume-lost NAME does it.

    Examples:

      kadm simulate --lose eu-1

      kadm simulate --lose eu-1 --lose eu-2 -o json

      kadm simulate --lose eu-1 --offline      as the members' files record them
    """
    import asyncio

    from kadm.cli.simulating import run_simulate

    raise typer.Exit(
        asyncio.run(
            run_simulate(
                settings(context).console,
                settings(context, directory).directory,
                lose,
                ref=ref,
                offline=offline,
                as_json=output is options.Output.JSON,
                request_timeout_s=request_timeout,
                parallel=parallel,
            )
        )
    )
