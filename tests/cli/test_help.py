"""What ``--help`` of every command teaches."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import typer

from kadm.cli.command_line import app

NO_FLEET = {"kadm completion", "kadm convert karmada", "kadm help"}
"""Commands that are about no fleet."""


def _commands(command: Any, path: str) -> Iterator[tuple[str, Any]]:
    yield path, command
    for name, inner in getattr(command, "commands", {}).items():
        yield from _commands(inner, f"{path} {name}")


COMMANDS = dict(_commands(typer.main.get_command(app), "kadm"))
LEAVES = {path: command for path, command in COMMANDS.items() if not hasattr(command, "commands")}


def _options(command: Any) -> set[str]:
    return {name for parameter in command.params for name in parameter.opts}


@pytest.mark.parametrize("path", [path for path in COMMANDS if path != "kadm"])
def test_every_command_teaches_by_example(path: str) -> None:
    assert "Examples:\n" in COMMANDS[path].help
    assert COMMANDS[path].help.count(path) > 0


@pytest.mark.parametrize("path", LEAVES)
def test_every_option_says_what_it_does(path: str) -> None:
    silent = [parameter.name for parameter in LEAVES[path].params if not parameter.help]
    assert silent == []


@pytest.mark.parametrize("path", [path for path in LEAVES if path not in NO_FLEET])
def test_every_command_takes_a_directory_and_a_format(path: str) -> None:
    assert {"-C", "--directory", "-o", "--output"} - _options(LEAVES[path]) == set()


@pytest.mark.parametrize("path", [path for path in COMMANDS if path != "kadm"])
def test_every_command_says_what_it_does_on_one_line(path: str) -> None:
    assert 0 < len(COMMANDS[path].get_short_help_str(limit=60)) < 60
    assert not COMMANDS[path].get_short_help_str(limit=60).endswith("...")


def test_the_commands_that_there_are() -> None:
    assert sorted(LEAVES) == [
        "kadm apply",
        "kadm clusters",
        "kadm completion",
        "kadm convert karmada",
        "kadm demo",
        "kadm explain",
        "kadm help",
        "kadm init",
        "kadm join",
        "kadm plan",
        "kadm record rebind",
        "kadm record rebuild",
        "kadm record show",
        "kadm render",
        "kadm sandbox down",
        "kadm sandbox fault",
        "kadm sandbox status",
        "kadm sandbox up",
        "kadm schemas",
        "kadm show",
        "kadm simulate",
        "kadm status",
        "kadm unjoin",
        "kadm validate",
        "kadm watch",
    ]
