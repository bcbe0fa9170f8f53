"""A fleet of real members ends with its last user, in whatever way that one ends, and leaves nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.real.binaries import NoControlPlane, binaries

pytestmark = [pytest.mark.real, pytest.mark.timeout(300)]

ROOT = Path(__file__).parents[2]
WITHIN_S = 60.0
LOOK_AGAIN_S = 0.1

USER = """
import sys
from pathlib import Path
from tests.real.control_plane import used
with used(Path(sys.argv[1]), members=1) as kubeconfig:
    print(kubeconfig, flush=True)
    sys.stdin.read()
"""


@contextmanager
def user(directory: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that uses the fleet in ``directory``, once it is up, until its input ends."""
    try:
        binaries()
    except NoControlPlane as reason:
        pytest.skip(f"no real control plane: {reason}")
    command = [sys.executable, "-c", USER, str(directory)]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline().strip() == str(directory / "kubeconfig")
        yield process


def processes(directory: Path) -> list[int]:
    """The processes whose command line names the directory."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                line = (entry / "cmdline").read_bytes()
            except (FileNotFoundError, ProcessLookupError):  # it has just ended
                continue
            if os.fsencode(directory) in line:
                found.append(int(entry.name))
    return found


def nothing_left(directory: Path) -> bool:
    deadline = time.monotonic() + WITHIN_S
    while processes(directory):
        if time.monotonic() > deadline:
            return False
        time.sleep(LOOK_AGAIN_S)
    return True


def test_a_killed_user_leaves_nothing(tmp_path: Path) -> None:
    directory = tmp_path / "fleet"
    with user(directory) as process:
        assert len(processes(directory)) == 6, "the user, the keeper, etcd, server, controllers, scheduler"
        process.send_signal(signal.SIGKILL)
    assert (nothing_left(directory), directory.exists()) == (True, False)


def test_a_killed_keeper_leaves_no_process(tmp_path: Path) -> None:
    directory = tmp_path / "fleet"
    with user(directory) as process:
        (keeper,) = [
            pid
            for pid in processes(directory)
            if b"tests.real.control_plane" in Path(f"/proc/{pid}/cmdline").read_bytes() and pid != process.pid
        ]
        os.kill(keeper, signal.SIGKILL)
        process.communicate("")
    assert nothing_left(directory)
