"""``kadm clusters``."""

from __future__ import annotations

import typer

from kadm.cli import options
from kadm.cli.durations import Duration
from kadm.cli.settings import settings


def clusters(
    context: typer.Context,
    directory: options.DirectoryOption = None,
    output: options.OutputOption = options.Output.TEXT,
    cluster: options.ClusterOption = None,
    request_timeout: options.RequestTimeoutOption = Duration("30s"),
    parallel: options.ParallelOption = 32,
) -> None:
    """Show the members: reachable or why not, version, nodes, capacity and what is free.

    Examples:

      kadm clusters

      kadm clusters -o json
    """
    import asyncio

    from kadm.cli.show_clusters import show_clusters

    raise typer.Exit(
        asyncio.run(
            show_clusters(
                settings(context).console,
                settings(context, directory).directory,
                only=cluster,
                as_json=output is options.Output.JSON,
                request_timeout_s=request_timeout,
                parallel=parallel,
            )
        )
    )
