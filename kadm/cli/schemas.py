"""``kadm schemas``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kadm.cli import options
from kadm.cli.settings import settings


def schemas(
    context: typer.Context,
    target: Annotated[Path, typer.Argument(metavar="DIR", help="Where; made if it is not there.")],
    directory: options.DirectoryOption = None,
    output: options.OutputOption = options.Output.TEXT,
) -> None:
    """Write JSON Schemas of kadm's and KubeAdmiral's kinds, by which editors complete and check what you write.

    One file for each kind, and kadm.json for files that hold several. In VS Code, Neovim and others with
    yaml-language-server a first line like this is enough:

      # yaml-language-server: $schema=../schemas/kadm.json

    A schema knows less than kadm validate, which also knows the other files.

    Examples:

      kadm schemas schemas             into the fleet's directory, to be committed
    """
    from kadm.cli.writing_schemas import write_schemas

    found = settings(context, directory)
    write_schemas(found.console, found.directory / target, as_json=output is options.Output.JSON)
