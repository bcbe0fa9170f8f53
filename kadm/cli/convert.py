"""``kadm convert``: policies of other tools as KubeAdmiral's kinds."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kadm.cli import options
from kadm.cli.settings import settings, without_command

app = typer.Typer(rich_markup_mode=None)


@app.callback(invoke_without_command=True)
def convert(context: typer.Context) -> None:
    """Convert policies of other tools. KubeAdmiral's need no conversion: put them into policies/ as they are.

    Examples:

      kadm convert karmada policies/*.yaml manifests/*.yaml > converted.yaml
    """
    without_command(context)


@app.command(short_help="Karmada's policies and clusters.")
def karmada(
    context: typer.Context,
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE…", help="Files, or directories with all below; manifests too.")
    ],
    namespace: Annotated[
        str, typer.Option("-n", "--namespace", metavar="NS", help="Of what does not say its own.")
    ] = "default",
    output: Annotated[options.RenderOutput, typer.Option("-o", "--output", help="Output format.")] = (
        options.RenderOutput.YAML
    ),
) -> None:
    """Print Karmada's PropagationPolicy, OverridePolicy, their cluster-wide kinds and Cluster as KubeAdmiral's.

    Comments say which label binds objects to a policy, which of the files' manifests need it, and what has no
    counterpart. Nothing is written, and no cluster is asked.

    Examples:

      kadm convert karmada policy.yaml

      kadm convert karmada policies manifests > policies/converted.yaml
    """
    from kadm.cli.converting import run_convert

    raise typer.Exit(
        run_convert(settings(context).console, files, namespace, as_json=output is options.RenderOutput.JSON)
    )
