"""``kadm sandbox``: embedded members for trying, teaching and testing."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kadm.cli import options
from kadm.cli.settings import settings

DIRECTORY = Path(".kadm-sandbox")

DirOption = Annotated[Path, typer.Option("--dir", metavar="DIR", help="Where the sandbox keeps its files.")]

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Members without clusters: Kubernetes APIs served by one local process, with simulated nodes and pods.",
)


@app.command()
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
        float, typer.Option("--start-delay", metavar="SECONDS", help="From scheduled to Running.", min=0)
    ] = 0.2,
    ready_delay: Annotated[
        float, typer.Option("--ready-delay", metavar="SECONDS", help="From Running to Ready.", min=0)
    ] = 0.2,
    directory: DirOption = DIRECTORY,
    output: options.OutputOption = options.Output.TEXT,
) -> None:
    """Start members, and return when they answer. They run until kadm sandbox down, and forget all then.

    Their kubeconfig has a context per member: member1, member2, … Containers are not run; an image's tag says what
    becomes of a pod: broken (cannot be pulled), crash, unready, anything else runs.

    Examples:

      kadm sandbox up

      kadm sandbox up --members 5 --nodes 3 --cpu 8 --memory 16Gi

      KUBECONFIG=.kadm-sandbox/kubeconfig kubectl --context member1 get nodes
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
    found = process.up(directory, wanted)
    show_sandbox(settings(context).console, found, as_json=output is options.Output.JSON)


@app.command()
def down(context: typer.Context, directory: DirOption = DIRECTORY) -> None:
    """Stop the members. Nothing runs afterwards, and nothing of what they held is left.

    Example:  kadm sandbox down
    """
    from kadm.sandbox import process

    ran = process.down(directory)
    settings(context).console.info(f"the sandbox in {directory} is down" if ran else f"no sandbox runs in {directory}")


@app.command()
def status(
    context: typer.Context, directory: DirOption = DIRECTORY, output: options.OutputOption = options.Output.TEXT
) -> None:
    """Show whether members run, and where they serve. Exit code 1 when none run.

    Examples:

      kadm sandbox status

      kadm sandbox status -o json
    """
    from kadm.cli.exit_code import ExitCode
    from kadm.cli.show_sandbox import show_sandbox
    from kadm.sandbox import process

    found = process.status(directory)
    show_sandbox(settings(context).console, found, as_json=output is options.Output.JSON)
    raise typer.Exit(ExitCode.FINE if found.running else ExitCode.ERROR)


@app.command()
def fault(
    context: typer.Context,
    member: Annotated[str, typer.Argument(metavar="MEMBER", help="Which member.")],
    mode: Annotated[
        str, typer.Argument(metavar="MODE", help="refuse, reset, hang, slow, a status such as 503, or none.")
    ],
    delay: Annotated[float, typer.Option("--delay", metavar="SECONDS", help="How slow slow is.", min=0)] = 1.0,
    path: Annotated[
        str, typer.Option("--path", metavar="REGEX", help="Only requests of such a path.", show_default="all")
    ] = "",
    times: Annotated[
        int, typer.Option("--times", metavar="N", help="Only the next N requests.", min=0, show_default="all")
    ] = 0,
    directory: DirOption = DIRECTORY,
) -> None:
    """Break a member, to see what happens; or mend it.

    Examples:

      kadm sandbox fault member2 refuse           it is not there

      kadm sandbox fault member2 403 --path /secrets

      kadm sandbox fault member2 none             it is well again
    """
    from kadm.sandbox import process
    from kadm.sandbox.faults import parse_fault

    faults = () if mode == "none" else (parse_fault(mode, delay_s=delay, path=path, times=times),)
    process.inject(directory, member, faults)
    settings(context).console.info(f"{member}: {mode}")
