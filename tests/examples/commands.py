"""The kadm commands that example files hold, and what kadm knows of their flags."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from kadm.cli.command_line import app

EXAMPLES = Path(__file__).parents[2] / "examples"

_COMMAND: Any = typer.main.get_command(app)
_CALL = re.compile(r"(?<![\w/.-])(?:/opt/kadm/bin/)?kadm ([a-z]+)((?:[^\n`|;&>#]|\\\n)*)")
_FLAG = re.compile(r"(?<![\w-])(--[a-z][a-z-]*|-[a-zA-Z])(?![\w-])")


def calls(text: str) -> Iterator[tuple[str, list[str]]]:
    """Each call of a command that kadm has: (command, its flags)."""
    for found in _CALL.finditer(text):
        if found[1] in _COMMAND.commands:
            yield found[1], _FLAG.findall(found[2])


def known_flags(command: str) -> set[str]:
    """All flags that a command takes."""
    return {option for parameter in _COMMAND.commands[command].params for option in parameter.opts} | {"--help"}
