"""``kadm completion``: the scripts by which a shell asks kadm what could come next."""

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


FILES = {Shell.BASH: "kadm.bash", Shell.ZSH: "_kadm", Shell.FISH: "kadm.fish"}
"""Shell → what its completion files are called."""

SCRIPTS = {
    Shell.BASH: """\
# Completion of kadm in bash: source <(kadm completion bash)

_kadm() {
    local IFS=$'\\n' found
    found=$(COMP_WORDS="$(IFS=' '; echo "${COMP_WORDS[*]}")" COMP_CWORD=$COMP_CWORD \\
        _KADM_COMPLETE=complete_bash "$1" 2>/dev/null)
    COMPREPLY=($found)
}

complete -o default -F _kadm kadm kubectl-kadm
""",
    Shell.ZSH: """\
#compdef kadm kubectl-kadm
# Completion of kadm in zsh: put this as _kadm into a directory of $fpath.

_kadm() {
    eval "$(_TYPER_COMPLETE_ARGS="${words[1,$CURRENT]}" _KADM_COMPLETE=complete_zsh "${words[1]}" 2>/dev/null)"
}

if [ "$funcstack[1]" = "_kadm" ]; then
    _kadm "$@"
else
    compdef _kadm kadm kubectl-kadm
fi
""",
    Shell.FISH: """\
# Completion of kadm in fish: put this as kadm.fish into ~/.config/fish/completions.

function __kadm_complete
    _TYPER_COMPLETE_FISH_ACTION=$argv[1] _TYPER_COMPLETE_ARGS=(commandline -cp) _KADM_COMPLETE=complete_fish \\
        kadm 2>/dev/null
end

complete --command kadm --no-files --condition '__kadm_complete is-args' --arguments '(__kadm_complete get-args)'
""",
}
"""Shell → its script. The variables are the protocol of typer, which answers."""


def completion(shell: Annotated[Shell, typer.Argument(help="The shell.")]) -> None:
    """Print the completion script of a shell.

    Examples:

      source <(kadm completion bash)

      kadm completion zsh > ~/.zfunc/_kadm

      kadm completion fish > ~/.config/fish/completions/kadm.fish
    """
    sys.stdout.write(SCRIPTS[shell])


def prepare() -> None:
    """Let typer answer what a shell asks; without this it knows no shell."""
    from typer.completion import completion_init  # type: ignore[attr-defined]  # it is theirs, by import only

    completion_init()
