"""``kadm join``."""

from __future__ import annotations

from typing import Annotated

import typer

from kadm.cli import options
from kadm.cli.durations import Duration
from kadm.cli.settings import settings


def join(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="What the fleet calls the member.")],
    kube_context: Annotated[
        str | None,
        typer.Option("--context", metavar="CTX", help="Context of the kubeconfig.", show_default="NAME"),
    ] = None,
    kubeconfig: Annotated[
        str | None,
        typer.Option(
            "--kubeconfig", metavar="PATH", help="Outside the repository.", show_default="as kubectl finds it"
        ),
    ] = None,
    label: Annotated[
        list[str] | None, typer.Option("--label", metavar="K=V", help="Label of the member; repeatable.")
    ] = None,
    directory: options.DirectoryOption = None,
    output: options.OutputOption = options.Output.TEXT,
    request_timeout: options.RequestTimeoutOption = Duration("30s"),
) -> None:
    """Make a cluster a member of the fleet: check it, prepare it, and write clusters/NAME.yaml.

    It checks that the cluster answers, that the credential may do what kadm needs, and that it is not a member under
    another name. Joining again is fine, and updates labels.

    Examples:

      kadm join eu-1 --context eu-1-admin --label region=eu --label provider=acme

      kadm join lab --kubeconfig ~/lab.yaml
    """
    import asyncio

    from kadm.cli.membership import run_join

    raise typer.Exit(
        asyncio.run(
            run_join(
                settings(context).console,
                settings(context, directory).directory,
                name,
                context=kube_context,
                kubeconfig=kubeconfig,
                labels=label or [],
                as_json=output is options.Output.JSON,
                request_timeout_s=request_timeout,
            )
        )
    )
