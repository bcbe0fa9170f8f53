"""``kadm status``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kadm.cli import completing, options
from kadm.cli.durations import Duration
from kadm.cli.settings import settings


def status(
    context: typer.Context,
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[KIND/NAME]…",
            help="Only these objects.",
            show_default="every workload",
            autocompletion=completing.workloads,
        ),
    ] = None,
    directory: options.DirectoryOption = None,
    output: Annotated[options.StatusOutput, typer.Option("-o", "--output", help="Output format.")] = (
        options.StatusOutput.TEXT
    ),
    namespace: options.NamespaceOption = None,
    selector: options.SelectorOption = None,
    cluster: options.ClusterOption = None,
    daemon: Annotated[
        str | None,
        typer.Option(
            "--daemon", metavar="URL", help="Ask kadm watch instead of the members.", show_default="ask the members"
        ),
    ] = None,
    token_file: Annotated[
        Path | None,
        typer.Option("--token-file", metavar="FILE", help="The daemon's token (mode 0600).", show_default="no token"),
    ] = None,
    request_timeout: options.RequestTimeoutOption = Duration("30s"),
    parallel: options.ParallelOption = 32,
) -> None:
    """Show every workload across all members, as if it were one, and why it is not ready.

    Examples:

      kadm status                      all workloads

      kadm status deploy/web -o wide   one, member by member

      kadm status deploy/web -o yaml   the native object, with its status aggregated over members

      kadm status --daemon http://127.0.0.1:5236    what kadm watch knows, without asking the members
    """
    import asyncio

    from kadm.cli.show_status import status_of
    from kadm.cli.status_query import StatusQuery

    query = StatusQuery(
        directory=settings(context, directory).directory,
        names=names or [],
        namespace=namespace,
        selector=selector,
        only=cluster,
        request_timeout_s=request_timeout,
        parallel=parallel,
        daemon=daemon,
        token_file=token_file,
        native=output is options.StatusOutput.YAML,
    )
    raise typer.Exit(asyncio.run(status_of(settings(context).console, query, output)))
