"""``kadm explain``."""

from __future__ import annotations

from typing import Annotated

import typer

from kadm.cli import completing, options
from kadm.cli.durations import Duration
from kadm.cli.settings import settings


def explain(
    context: typer.Context,
    names: Annotated[
        list[str],
        typer.Argument(
            metavar="KIND/NAME…",
            help="Objects of the repository, or policies: of these every object that they bind.",
            autocompletion=completing.objects_and_policies,
        ),
    ],
    directory: options.DirectoryOption = None,
    output: options.OutputOption = options.Output.TEXT,
    namespace: options.NamespaceOption = None,
    ref: options.RefOption = None,
    offline: options.OfflineOption = False,
    reschedule: options.RescheduleOption = None,
    reschedule_all: options.RescheduleAllOption = False,
    request_timeout: options.RequestTimeoutOption = Duration("30s"),
    parallel: options.ParallelOption = 32,
) -> None:
    """Say why an object is where it is, and why it differs there. Writes nothing.

    Its policy, and how that was found; why it was or was not placed anew; what each filter said of each member, and
    how each number of replicas came about; what fits nowhere; which override changed which field; who follows whom.

    Examples:

      kadm explain deploy/web -n shop

      kadm explain clusterpropagationpolicy/spread   every object that this policy places

      kadm explain deploy/web --offline              asks no member

      kadm explain deploy/web -o json
    """
    import asyncio

    from kadm.cli.explaining import ExplainQuery, run_explain

    query = ExplainQuery(
        directory=settings(context, directory).directory,
        names=names,
        namespace=namespace,
        ref=ref,
        offline=offline,
        reschedule=reschedule,
        reschedule_all=reschedule_all,
        request_timeout_s=request_timeout,
        parallel=parallel,
    )
    raise typer.Exit(asyncio.run(run_explain(settings(context).console, query, as_json=output is options.Output.JSON)))
