"""``kadm sandbox``: embedded members for trying, teaching and testing."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from kadm.cli import durations, options
from kadm.cli.durations import Duration
from kadm.cli.settings import settings, without_command

DirOption = Annotated[
    Path | None,
    typer.Option(
        "--dir",
        metavar="DIR",
        help="Where the sandbox keeps its files; outside of a fleet's repository.",
        show_default="~/.local/state/kadm/sandbox",
    ),
]

app = typer.Typer(rich_markup_mode=None)


@app.callback(invoke_without_command=True)
def sandbox(context: typer.Context) -> None:
    """Members without clusters: Kubernetes APIs served by one local process, with simulated nodes and pods.

    Examples:

      kadm sandbox up

      kadm sandbox down
    """
    without_command(context)


@app.command(short_help="Start members.")
def up(
    context: typer.Context,
    members: Annotated[int, typer.Option("--members", metavar="N", help="How many members.", min=1)] = 3,
    nodes: Annotated[int, typer.Option("--nodes", metavar="N", help="Nodes of each member.", min=0)] = 2,
    cpu: Annotated[str, typer.Option("--cpu", metavar="QUANTITY", help="CPU of each node.")] = "4",
    memory: Annotated[str, typer.Option("--memory", metavar="QUANTITY", help="Memory of each node.")] = "8Gi",
    port: Annotated[
        int,
        typer.Option("--port", metavar="PORT", help="Port of the first member.", min=0, show_default="any free one"),
    ] = 0,
    start_delay: Annotated[
        float,
        typer.Option(
            "--start-delay",
            metavar=durations.METAVAR,
            parser=durations.at_least(0),
            help="From scheduled to Running.",
        ),
    ] = Duration("0.2s"),
    ready_delay: Annotated[
        float,
        typer.Option(
            "--ready-delay",
            metavar=durations.METAVAR,
            parser=durations.at_least(0),
            help="From Running to Ready.",
        ),
    ] = Duration("0.2s"),
    directory: options.DirectoryOption = None,
    files: DirOption = None,
    output: options.OutputOption = options.Output.TEXT,
) -> None:
    """Start members, and return when they answer. They run until kadm sandbox down, and forget all then.

    Their kubeconfig has a context per member: member1, member2, … Containers are not run; an image's tag says what
    becomes of a pod: broken (cannot be pulled), crash, unready, anything else runs.

    Examples:

      kadm sandbox up

      kadm sandbox up --members 5 --nodes 3 --cpu 8 --memory 16Gi

      kadm sandbox up --dir /tmp/lab && export KUBECONFIG=/tmp/lab/kubeconfig
    """
    from kadm.cli.show_sandbox import show_sandbox
    from kadm.sandbox import process
    from kadm.sandbox.options import SandboxOptions

    wanted = SandboxOptions(
        members=members,
        nodes=nodes,
        cpu=cpu,
        memory=memory,
        port=port,
        start_delay_s=start_delay,
        ready_delay_s=ready_delay,
    )
    found = process.up(_place(context, directory, files), wanted)
    console = settings(context).console
    show_sandbox(console, found, as_json=output is options.Output.JSON)
    console.info("next: kadm init FLEET, then in it kadm join NAME --context member1")


@app.command(short_help="Stop the members.")
def down(
    context: typer.Context,
    directory: options.DirectoryOption = None,
    files: DirOption = None,
    output: options.OutputOption = options.Output.TEXT,
) -> None:
    """Stop the members. Nothing runs afterwards, and nothing of what they held is left.

    Examples:

      kadm sandbox down

      kadm sandbox down --dir /tmp/lab
    """
    from kadm.cli.show_sandbox import show_stopped
    from kadm.sandbox import process

    place = _place(context, directory, files)
    ran = process.down(place)
    show_stopped(settings(context).console, place, ran=ran, as_json=output is options.Output.JSON)


@app.command(short_help="Show whether members run, and where.")
def status(
    context: typer.Context,
    directory: options.DirectoryOption = None,
    files: DirOption = None,
    output: options.OutputOption = options.Output.TEXT,
) -> None:
    """Show whether members run, and where they serve. Exit code 1 when none run.

    Examples:

      kadm sandbox status

      kadm sandbox status -o json
    """
    from kadm.cli.exit_code import ExitCode
    from kadm.cli.show_sandbox import show_sandbox
    from kadm.sandbox import process

    found = process.status(_place(context, directory, files))
    show_sandbox(settings(context).console, found, as_json=output is options.Output.JSON)
    raise typer.Exit(ExitCode.FINE if found.running else ExitCode.ERROR)


@app.command(short_help="Break a member, or mend it.")
def fault(
    context: typer.Context,
    member: Annotated[str, typer.Argument(metavar="MEMBER", help="Which member.")],
    mode: Annotated[
        str, typer.Argument(metavar="MODE", help="refuse, reset, hang, slow, garble, a status such as 503, or none.")
    ],
    delay: Annotated[
        float,
        typer.Option(
            "--delay",
            metavar=durations.METAVAR,
            parser=durations.at_least(0),
            help="How slow slow is.",
        ),
    ] = Duration("1s"),
    path: Annotated[
        str, typer.Option("--path", metavar="REGEX", help="Only requests of such a path.", show_default="all")
    ] = "",
    times: Annotated[
        int, typer.Option("--times", metavar="N", help="Only the next N requests.", min=0, show_default="all")
    ] = 0,
    directory: options.DirectoryOption = None,
    files: DirOption = None,
    output: options.OutputOption = options.Output.TEXT,
) -> None:
    """Break a member, to see what happens; or mend it.

    Examples:

      kadm sandbox fault member2 refuse                 it is not there

      kadm sandbox fault member2 403 --path /secrets    it says no

      kadm sandbox fault member2 none                   it is well again
    """
    from kadm.cli.show_sandbox import show_fault
    from kadm.sandbox import process
    from kadm.sandbox.faults import parse_fault

    faults = () if mode == "none" else (parse_fault(mode, delay_s=delay, path=path, times=times),)
    process.inject(_place(context, directory, files), member, faults)
    show_fault(settings(context).console, member, mode, as_json=output is options.Output.JSON)


def _place(context: typer.Context, directory: Path | None, files: Path | None) -> Path:
    """The sandbox's directory: ``--dir``, from ``-C`` on; without it one of the user's own, as XDG says.

    A kubeconfig inside of a fleet's repository is refused, so it is not below where the command is run.
    """
    if files is not None:
        return settings(context, directory).directory / files
    state = os.environ.get("XDG_STATE_HOME", "")
    return (Path(state) if Path(state).is_absolute() else Path.home() / ".local" / "state") / "kadm" / "sandbox"
