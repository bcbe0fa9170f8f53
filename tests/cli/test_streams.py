"""The installed kadm where its output goes nowhere, and in a locale that has few letters."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

KADM = Path(sys.executable).parent / "kadm"
HELP = f"{KADM} sandbox up --help"
ABSENT = f"{KADM} -C /ü validate 2>&1"
ASCII = "LC_ALL=C PYTHONUTF8=0 PYTHONCOERCECLOCALE=0"


@pytest.mark.parametrize(
    ("command", "want"),
    [
        pytest.param(f"{HELP} | true; echo ${{PIPESTATUS[0]}}", ("0\n", ""), id="a pipe that nobody reads"),
        pytest.param(f"{KADM} nonsense 2>&1 | true; echo ${{PIPESTATUS[0]}}", ("1\n", ""), id="its exit code is true"),
        pytest.param(
            f"{HELP} | head -1; echo ${{PIPESTATUS[0]}}", ("Usage: kadm sandbox up [OPTIONS]\n0\n", ""), id="head"
        ),
        pytest.param(f"{HELP} >&-; echo $?", ("0\n", ""), id="a closed stdout"),
        pytest.param(
            f"{HELP} > /dev/full; echo $?",
            ("1\n", "error: the output cannot be written: No space left on device\n"),
            id="a full disk",
        ),
        pytest.param(
            f"{KADM} completion bash > /dev/full; echo $?",
            ("1\n", "error: the output cannot be written: No space left on device\n"),
            id="a full disk, noticed late",
        ),
        pytest.param(f"{ABSENT} | grep -c '/ü is no directory'", ("1\n", ""), id="UTF-8"),
        pytest.param(f"{ASCII} {ABSENT} | grep -c '/?? is no directory'", ("1\n", ""), id="ASCII"),
    ],
)
def test_output(command: str, want: tuple[str, str]) -> None:
    environment = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"}
    done = subprocess.run(
        ["bash", "-c", command], env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.stdout, done.stderr) == want
