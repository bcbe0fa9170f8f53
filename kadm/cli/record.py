"""``kadm record``: what kadm wrote down in a member, and how to write it anew."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from kadm.cli import completing, options
from kadm.cli.durations import Duration
from kadm.cli.settings import settings, without_command

app = typer.Typer(rich_markup_mode=None)

MemberArgument = Annotated[str, typer.Argument(metavar="MEMBER", help="The member.", autocompletion=completing.members)]


@app.callback(invoke_without_command=True)
def record(context: typer.Context) -> None:
    """Show what kadm wrote down in a member, or write it anew where it was lost. kadm help records tells more.

    Examples:

      kadm record show eu-1

      kadm record rebuild eu-1
    """
    without_command(context)


@app.command(short_help="Show the record of a member.")
def show(
    context: typer.Context,
    member: MemberArgument,
    directory: options.DirectoryOption = None,
    output: options.OutputOption = options.Output.TEXT,
    request_timeout: options.RequestTimeoutOption = Duration("30s"),
) -> None:
    """Show every object that kadm placed in a member, and how workloads were divided. Writes nothing.

    Examples:

      kadm record show eu-1

      kadm record show eu-1 -o json
    """
    import asyncio

    from kadm.cli.recording import run_show

    raise typer.Exit(
        asyncio.run(
            run_show(
                settings(context).console,
                settings(context, directory).directory,
                member,
                as_json=output is options.Output.JSON,
                request_timeout_s=request_timeout,
            )
        )
    )


@app.command(short_help="Write a record that was lost, from what is live.")
def rebuild(
    context: typer.Context,
    member: MemberArgument,
    yes: options.YesOption = False,
    directory: options.DirectoryOption = None,
    output: options.OutputOption = options.Output.TEXT,
    lock_timeout: options.LockTimeoutOption = Duration("1m"),
    request_timeout: options.RequestTimeoutOption = Duration("30s"),
) -> None:
    """Add to a member's record every live object that carries the fleet's label and was applied by it.

    They count as created by kadm: what leaves the repository later is deleted, within the guards. So it shows them, and
    asks. What the record holds already stays as it is.

    Examples:

      kadm record rebuild eu-1

      kadm record rebuild eu-1 --yes
    """
    _repair(
        context, member, "rebuild", yes, directory=directory, output=output, lock=lock_timeout, request=request_timeout
    )


@app.command(short_help="Take over a record that came with a backup.")
def rebind(
    context: typer.Context,
    member: MemberArgument,
    yes: options.YesOption = False,
    directory: options.DirectoryOption = None,
    output: options.OutputOption = options.Output.TEXT,
    lock_timeout: options.LockTimeoutOption = Duration("1m"),
    request_timeout: options.RequestTimeoutOption = Duration("30s"),
) -> None:
    """Make out to this cluster a record that was written for another one: after a restore from its backup.

    The next apply confirms each object: those that kadm applied there remain its own, others count as adopted, and are
    let go, never deleted.

    Examples:

      kadm record rebind eu-1
    """
    _repair(
        context, member, "rebind", yes, directory=directory, output=output, lock=lock_timeout, request=request_timeout
    )


def _repair(
    context: typer.Context,
    member: str,
    how: Literal["rebuild", "rebind"],
    yes: bool,
    *,
    directory: options.DirectoryOption,
    output: options.Output,
    lock: float,
    request: float,
) -> None:
    import asyncio

    from kadm.cli.recording import run_repair

    raise typer.Exit(
        asyncio.run(
            run_repair(
                settings(context).console,
                settings(context, directory).directory,
                member,
                how,
                yes=yes,
                as_json=output is options.Output.JSON,
                lock_timeout_s=lock,
                request_timeout_s=request,
            )
        )
    )
