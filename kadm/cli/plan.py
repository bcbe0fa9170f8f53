"""``kadm plan``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kadm.cli import options
from kadm.cli.durations import Duration
from kadm.cli.exit_code import exit_code
from kadm.cli.settings import settings


def plan(
    context: typer.Context,
    directory: options.DirectoryOption = None,
    output: Annotated[options.PlanOutput, typer.Option("-o", "--output", help="Output format.")] = (
        options.PlanOutput.TEXT
    ),
    detailed_exitcode: Annotated[
        bool, typer.Option("--detailed-exitcode", help="Exit with 2 where there are changes, held ones included.")
    ] = False,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Save the plan, for kadm apply FILE. No secrets.")
    ] = None,
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
    """Show what apply would change in each member. Writes nothing.

    Examples:

      kadm plan                        what would change, field by field

      kadm plan --detailed-exitcode    exit with 2 where there are changes

      kadm plan -o markdown            for a comment on a pull request

      kadm plan -o name                the changed objects only

      kadm plan --out plan.json        save it, for kadm show and kadm apply
    """
    import asyncio

    from kadm.cli.planning import Asked, planned
    from kadm.cli.planning_flags import permissions
    from kadm.cli.saving import plan_into
    from kadm.cli.show_plan import show

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

    async def make() -> int:
        console = settings(context).console
        if out is not None:
            found = await plan_into(out, asked, allowed, console)
        else:
            found = await planned(asked, allowed)
        show(console, found, output)
        return exit_code(
            problems=found.plan.problems,
            partial=bool(found.plan.unread),
            failed=not allow_unplaced and any(one.replicas for one in found.plan.unplaced),
            changes=detailed_exitcode and bool(found.plan.changes or found.plan.held),
        )

    raise typer.Exit(asyncio.run(make()))
