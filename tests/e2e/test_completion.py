"""Completion: the files that we ship, and what a shell is answered."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from kadm.cli.completion import FILES, SCRIPTS, Shell

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent
TAB = """
source {script}
COMP_WORDS=({words}) COMP_CWORD=$(( {count} - 1 ))
_kadm kadm
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


@pytest.fixture(autouse=True)
def _cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


@pytest.mark.parametrize("shell", Shell)
def test_the_files_are_what_the_command_prints(shell: Shell) -> None:
    assert (ROOT / "completions" / FILES[shell]).read_text(encoding="utf-8") == SCRIPTS[shell]


@pytest.mark.parametrize(
    ("words", "want"),
    [
        pytest.param(["kadm", "st"], ["status"], id="a command"),
        pytest.param(["kadm", "sandbox", "s"], ["status"], id="a command of a group"),
        pytest.param(["kadm", "plan", "--det"], ["--detailed-exitcode"], id="an option"),
        pytest.param(["kadm", "plan", "-o", "m"], ["markdown"], id="a value"),
        pytest.param(["kadm", "plan", "--cluster", ""], ["member1", "member2", "member3"], id="members"),
        pytest.param(["kadm", "unjoin", "member3"], ["member3"], id="a member as argument"),
        pytest.param(
            ["kadm", "-C", "../../policies", "plan", "--cluster", ""], [""], id="members of another directory"
        ),
        pytest.param(["kadm", "status", "deployment/se"], ["deployment/search"], id="a workload"),
        pytest.param(["kadm", "status", "deploy/se"], ["deploy/search"], id="a short name stays"),
        pytest.param(["kadm", "explain", "secret/"], ["secret/orders-db", "secret/session-key"], id="objects"),
        pytest.param(["kadm", "status", "secret/"], [""], id="a Secret is no workload"),
        pytest.param(
            ["kadm", "explain", "cpp/e"], ["cpp/eu-only", "cpp/everywhere"], id="policies by their short name"
        ),
        pytest.param(["kadm", "plan", "--reschedule", "deploy/c"], ["deploy/cart", "deploy/catalog"], id="a value"),
        pytest.param(["kadm", "completion", ""], ["bash", "zsh", "fish"], id="shells"),
        pytest.param(["kadm", "plan", "nothing-like-it"], [""], id="nothing"),
    ],
)
def test_bash_completes(words: list[str], want: list[str]) -> None:
    script = TAB.format(script=ROOT / "completions/kadm.bash", words=shlex.join(words), count=len(words))
    assert _run("bash", script, cwd=ROOT / "examples/shop").splitlines() == want


@pytest.mark.parametrize(
    ("environment", "want"),
    [
        pytest.param(
            {"_KADM_COMPLETE": "complete_zsh", "_TYPER_COMPLETE_ARGS": "kadm vali"},
            """_arguments '*: :(("validate":"Check every file of the repository."))'\n""",
            id="zsh",
        ),
        pytest.param(
            {
                "_KADM_COMPLETE": "complete_fish",
                "_TYPER_COMPLETE_FISH_ACTION": "get-args",
                "_TYPER_COMPLETE_ARGS": "kadm vali",
            },
            "validate\tCheck every file of the repository.\n",
            id="fish",
        ),
    ],
)
def test_other_shells_are_answered(environment: dict[str, str], want: str) -> None:
    assert _run("bash", "kadm", cwd=ROOT, environment=environment) == want


@pytest.mark.parametrize("shell", Shell)
def test_the_script_has_no_fault_of_syntax(shell: Shell) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not here")
    done = subprocess.run(
        [shell, "-n", ROOT / "completions" / FILES[shell]], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def _run(program: str, script: str, *, cwd: Path, environment: dict[str, str] | None = None) -> str:
    done = subprocess.run(
        [program, "-c", script],
        cwd=cwd,
        env={
            "PATH": f"{BIN}:{os.environ['PATH']}",
            "LC_ALL": "C.UTF-8",
            "XDG_CACHE_HOME": os.environ["XDG_CACHE_HOME"],
            **(environment or {}),
        },
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stderr == ""
    return done.stdout
