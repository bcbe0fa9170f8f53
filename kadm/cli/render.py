"""``kadm render``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kadm.cli import options
from kadm.cli.durations import Duration
from kadm.cli.settings import settings


def render(
    context: typer.Context,
    directory: options.DirectoryOption = None,
    output: Annotated[options.RenderOutput, typer.Option("-o", "--output", help="Output format.")] = (
        options.RenderOutput.YAML
    ),
    output_dir: Annotated[
        Path | None,
        typer.Option("--output-dir", metavar="DIR", help="Write DIR/MEMBER/… instead, one file per object."),
    ] = None,
    ref: options.RefOption = None,
    cluster: options.ClusterOption = None,
    namespace: options.NamespaceOption = None,
    offline: options.OfflineOption = False,
    request_timeout: options.RequestTimeoutOption = Duration("30s"),
    parallel: options.ParallelOption = 32,
) -> None:
    """Print what each member must hold. Writes nothing to a member.

    The values of Secrets are masked: they are never shown, and never written to a file.

    Examples:

      kadm render --cluster eu-1

      kadm render --output-dir out && ls out/eu-1

      kadm render --offline            in a pipeline that reaches no member
    """
    import asyncio

    from kadm.cli.rendering import RenderQuery, run_render

    query = RenderQuery(
        directory=settings(context, directory).directory,
        ref=ref,
        only=cluster,
        namespace=namespace,
        output_dir=output_dir,
        offline=offline,
        request_timeout_s=request_timeout,
        parallel=parallel,
    )
    raise typer.Exit(
        asyncio.run(run_render(settings(context).console, query, as_json=output is options.RenderOutput.JSON))
    )
