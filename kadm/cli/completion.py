"""``kadm completion``."""

from __future__ import annotations

import sys
from enum import StrEnum
from typing import Annotated

import typer


class Shell(StrEnum):
    """Shells that kadm completes in."""

    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"


def completion(shell: Annotated[Shell, typer.Argument(help="The shell.")]) -> None:
    """Print the completion script of a shell.

    Examples:

      source <(kadm completion bash)

      kadm completion zsh > ~/.zfunc/_kadm

      kadm completion fish > ~/.config/fish/completions/kadm.fish
    """
    sys.stdout.write(script(shell))


def script(shell: Shell) -> str:
    """The script, the same on every machine."""
    from typer.completion import get_completion_script

    text = get_completion_script(prog_name="kadm", complete_var="_KADM_COMPLETE", shell=shell.value)
    return text if text.endswith("\n") else text + "\n"
