"""One bounded run of a program: what it is told, and how it is ended."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest

from kadm.repo.program import Ran, run

ENVIRON = {"PATH": "/usr/bin:/bin", "CI_TOKEN": "hunter2", "HOME": "/home/ci"}


def ran(script: str, root: Path, *, timeout_s: float = 30.0, max_bytes: int = 1000) -> Ran:
    return run(["/bin/sh", "-c", script], directory=root, environ=ENVIRON, timeout_s=timeout_s, max_bytes=max_bytes)


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        pytest.param("echo a; echo b >&2", Ran(output=b"a\n", complaint="b", failure=""), id="well"),
        pytest.param("echo a; exit 7", Ran(output=b"a\n", complaint="", failure="it ended with 7"), id="an exit code"),
        pytest.param(
            "echo $CI_TOKEN $HOME $GIT_ALLOW_PROTOCOL",
            Ran(output=b"/home/ci none\n", complaint="", failure=""),
            id="no variable of the environment but harmless ones",
        ),
        pytest.param("cat", Ran(output=b"", complaint="", failure=""), id="nothing to read"),
    ],
)
def test_run(tmp_path: Path, script: str, expected: Ran) -> None:
    assert ran(script, tmp_path) == expected


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_too_long(tmp_path: Path) -> None:
    """Its children end too."""
    script = "sleep 60 & echo $! > child; wait"
    assert ran(script, tmp_path, timeout_s=0.5).failure == "it was not done after 0.5 s"
    child = Path(f"/proc/{(tmp_path / 'child').read_text().strip()}/stat")
    deadline = time.monotonic() + 20
    while (runs := _runs(child)) and time.monotonic() < deadline:  # a killed process takes a moment to die
        time.sleep(0.01)
    assert not runs


def _runs(stat: Path) -> bool:
    try:
        return stat.read_text().rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_too_much(tmp_path: Path) -> None:
    assert ran("yes", tmp_path).failure == "it makes more than 1,000 bytes"


def test_a_program_that_is_not_there(tmp_path: Path) -> None:
    found = run(["/nowhere/x"], directory=tmp_path, environ={}, timeout_s=1, max_bytes=1)
    assert found == Ran(output=b"", complaint="", failure="it does not run: No such file or directory")
