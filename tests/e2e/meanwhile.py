"""An apply that runs while the test looks on, or does something itself."""

from __future__ import annotations

import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.e2e.running import BIN, Tools

WITHIN_S = 20.0
LOOK_AGAIN_S = 0.05


@contextmanager
def applying(tools: Tools, root: Path, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """A verbose apply with pipes for what it says; killed at the end of the block if it still runs."""
    process = subprocess.Popen(
        [str(BIN / "kadm"), "-v", "-C", str(root), "apply", "--yes", *arguments],
        cwd=tools.cwd,
        env=tools.environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.send_signal(signal.SIGKILL)
        process.communicate()


def until_it_waits(process: subprocess.Popen[str], name: str) -> None:
    """Read on until the apply says that it waits for the object of this name: it has written by then."""
    assert process.stderr is not None
    said = []
    for line in process.stderr:
        if "waiting" in line and name in line:
            return
        said.append(line)
    raise AssertionError(f"it never waited for {name}:\n{''.join(said)}")


def wait_until(true: Callable[[], bool]) -> None:
    """Look again and again; fails where it does not come to that in time."""
    deadline = time.monotonic() + WITHIN_S
    while not true():
        assert time.monotonic() < deadline, "it did not come to that"
        time.sleep(LOOK_AGAIN_S)
