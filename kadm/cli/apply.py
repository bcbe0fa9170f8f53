"""``kadm apply``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kadm.cli import durations, options
from kadm.cli.durations import Duration
from kadm.cli.settings import settings


def apply(
    context: typer.Context,
    file: Annotated[
        Path | None,
        typer.Argument(metavar="[FILE]", help="Carry out this saved plan (kadm plan --out), if it still holds."),
    ] = None,
    directory: options.DirectoryOption = None,
    yes: options.YesOption = False,
    output: options.OutputOption = options.Output.TEXT,
    wait: Annotated[bool, typer.Option("--wait/--no-wait", help="Wait until what was changed is ready.")] = True,
    timeout: Annotated[
        float,
        typer.Option(
            "--timeout",
            metavar=durations.METAVAR,
            parser=durations.at_least(0),
            help="How long to wait for readiness.",
        ),
    ] = Duration("5m"),
    lock_timeout: options.LockTimeoutOption = Duration("1m"),
    ref: options.RefOption = None,
    cluster: options.ClusterOption = None,
    target: options.TargetOption = None,
    reschedule: options.RescheduleOption = None,
    reschedule_all: options.RescheduleAllOption = False,
    assume_lost: options.AssumeLostOption = None,
    allow_deletes: options.AllowDeletesOption = None,
    allow_empty: options.AllowEmptyOption = False,
    allow_protected: options.AllowProtectedOption = False,
    allow_namespace_deletes: options.AllowNamespacesOption = False,
    allow_crd_deletes: options.AllowCrdsOption = False,
    delete_pvcs: options.DeletePvcsOption = False,
    adopt: options.AdoptOption = None,
    adopt_all: options.AdoptAllOption = False,
    adopt_prune: options.AdoptPruneOption = False,
    take_over: options.TakeOverOption = None,
    allow_unplaced: options.AllowUnplacedOption = False,
    request_timeout: options.RequestTimeoutOption = Duration("30s"),
    parallel: options.ParallelOption = 32,
) -> None:
    """Make the members hold what the repository says, and wait until it is ready.

    It shows the plan and asks first; without a terminal it wants --yes. Killed at any point, the next run finishes the
    work. What left the repository is deleted within the guards; what they hold back is listed with the flag that
    permits it.

    Examples:

      kadm apply                       plan, ask, do it

      kadm apply --yes                 in a pipeline

      kadm apply --yes --no-wait       do not wait for pods

      kadm apply plan.json             exactly the plan that was saved and reviewed
    """
    import asyncio

    from kadm.cli.applying import run_apply
    from kadm.cli.planning import Asked
    from kadm.cli.planning_flags import permissions

    asked = Asked(
        directory=settings(context, directory).directory,
        ref=ref,
        only=cluster,
        targets=target,
        request_timeout_s=request_timeout,
        parallel=parallel,
        reschedule=reschedule,
        reschedule_all=reschedule_all,
        assume_lost=assume_lost,
    )
    allowed = permissions(
        allow_deletes=allow_deletes,
        allow_empty=allow_empty,
        allow_protected=allow_protected,
        allow_namespaces=allow_namespace_deletes,
        allow_crds=allow_crd_deletes,
        delete_pvcs=delete_pvcs,
        adopt=adopt,
        adopt_all=adopt_all,
        adopt_prune=adopt_prune,
        take_over=take_over,
    )
    raise typer.Exit(
        asyncio.run(
            run_apply(
                settings(context).console,
                asked,
                allowed,
                yes=yes,
                wait=wait,
                timeout_s=timeout,
                lock_timeout_s=lock_timeout,
                as_json=output is options.Output.JSON,
                allow_unplaced=allow_unplaced,
                file=file,
            )
        )
    )
