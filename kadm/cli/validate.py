"""``kadm validate``."""

from __future__ import annotations

import typer

from kadm.cli import options
from kadm.cli.settings import settings


def validate(
    context: typer.Context,
    directory: options.DirectoryOption = None,
    output: options.OutputOption = options.Output.TEXT,
    ref: options.RefOption = None,
) -> None:
    """Check every file of the repository, and list all problems at once. Asks no member.

    Examples:

      kadm validate

      kadm validate -o json            for an editor or a pipeline
    """
    from kadm.cli.validating import run_validate

    raise typer.Exit(
        run_validate(
            settings(context).console,
            settings(context, directory).directory,
            ref=ref,
            as_json=output is options.Output.JSON,
        )
    )
