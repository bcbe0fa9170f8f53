"""What the options before the command say; every command finds it as its context's object."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import typer

from kadm.cli.console import Console
from kadm.cli.exit_code import ExitCode


@dataclass
class Settings:
    """Settings of one run of kadm."""

    directory: Path = Path()
    debug: bool = False
    console: Console = field(default_factory=Console)


def settings(context: typer.Context, directory: Path | None = None) -> Settings:
    """The run's settings; a ``-C`` after the command wins over one before it."""
    found = context.find_root().obj
    if not isinstance(found, Settings):
        found = Settings()
    return Settings(directory, found.debug, found.console) if directory is not None else found


def without_command(context: typer.Context) -> None:
    """End with the help of a group of commands where none was given: that is wrong usage, and shows the right one."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help(), err=True)
        raise typer.Exit(ExitCode.ERROR)
