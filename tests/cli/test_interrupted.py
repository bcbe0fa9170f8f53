"""Ctrl-C right after the start, while kadm still imports its modules."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import pytest

Handling = signal.Handlers | Callable[[int, FrameType | None], object]

START = """
import os, signal, sys
from kadm.cli import main

class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == module:
            os.kill(os.getpid(), signal.SIGINT)

module, sys.argv[1:] = sys.argv[1], ["validate"]
sys.meta_path.insert(0, Interrupting())
main.run()
"""
"""Sends itself the signal when a module is imported that its first argument names."""


@pytest.mark.parametrize(
    "module",
    [
        pytest.param("kadm.cli.command_line", id="at once"),
        pytest.param("typer", id="while the command line is imported"),
        pytest.param("kadm.cli.validating", id="while a command is imported"),
    ],
)
def test_an_interrupted_import_says_one_word(module: str, tmp_path: Path) -> None:
    done = _start(module, tmp_path, signal.default_int_handler)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "interrupted\n")


def test_an_ignored_signal_stays_ignored(tmp_path: Path) -> None:
    done = _start("typer", tmp_path, signal.SIG_IGN)
    assert (done.returncode, "kadm.yaml" in done.stderr) == (1, True)


def _start(module: str, directory: Path, inherited: Handling) -> subprocess.CompletedProcess[str]:
    """Tests that run in the background may have inherited an ignored signal themselves."""
    former = signal.signal(signal.SIGINT, inherited)
    try:
        return subprocess.run(
            [sys.executable, "-c", START, module],
            cwd=directory,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    finally:
        signal.signal(signal.SIGINT, former)
