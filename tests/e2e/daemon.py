"""``kadm watch`` as a process, and what its log said."""

from __future__ import annotations

import json
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.e2e.running import BIN, TIMEOUT_S, Tools

WITHIN_S = 120.0
"""A condition is waited for so long: an idle machine takes seconds, a busy one its time."""

LOOK_AGAIN_S = 0.05


@dataclass
class Daemon:
    """A running daemon. ``events`` are those of its log so far, ``text`` all that it wrote."""

    process: subprocess.Popen[str]
    lines: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    @property
    def events(self) -> list[dict[str, Any]]:
        found = [json.loads(line) for line in self.lines if line.startswith("{")]
        return [one for one in found if "event" in one]

    def kinds(self) -> list[str]:
        return [one["event"] for one in self.events]

    def of(self, kind: str) -> list[dict[str, Any]]:
        """The events of one kind."""
        return [one for one in self.events if one["event"] == kind]

    def wait_for(self, kind: str, text: str = "", *, count: int = 1) -> dict[str, Any]:
        """The event of this kind whose message holds ``text``, once there are so many."""

        def found() -> list[dict[str, Any]]:
            return [one for one in self.of(kind) if text in one["message"]]

        self.wait_until(lambda: len(found()) >= count, f"no {kind} event with {text!r}")
        return found()[count - 1]

    def wait_until(
        self, true: Callable[[], bool], what: str = "it did not come to that", *, within_s: float = WITHIN_S
    ) -> None:
        deadline = time.monotonic() + within_s
        looked = time.monotonic()
        while not true():
            assert self.process.poll() is None, f"it ended with {self.process.returncode}:\n{self.text}"
            assert time.monotonic() < deadline, f"{what}:\n{self.text}"
            time.sleep(max(LOOK_AGAIN_S, time.monotonic() - looked))  # looking leaves others half of the time at least
            looked = time.monotonic()

    def wait_until_settled(self, quiet_s: float = 1.5) -> None:
        """Return once it has planned, and has had nothing to do for a while."""

        def quiet() -> bool:
            count = len(self.lines)
            time.sleep(quiet_s)
            return any('"planning' in line for line in self.lines) and len(self.lines) == count

        self.wait_until(quiet, "it does not settle")

    def stop(self, number: int = signal.SIGTERM) -> float:
        """End it by a signal; how long that took, in seconds."""
        began = time.monotonic()
        self.process.send_signal(number)
        self.process.wait(TIMEOUT_S)
        return time.monotonic() - began


@contextmanager
def watching(tools: Tools, *arguments: str | Path, state: str = "state", verbose: bool = False) -> Iterator[Daemon]:
    """A daemon for the time of the block; a traceback in its log is a failure."""
    flags = ["-v"] if verbose else []
    process = subprocess.Popen(
        [str(BIN / "kadm"), *flags, "watch", "-o", "json", "--state-dir", str(tools.cwd / state), *map(str, arguments)],
        cwd=tools.cwd,
        env=tools.environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    daemon = Daemon(process)

    def read() -> None:
        assert process.stderr is not None
        for line in process.stderr:
            daemon.lines.append(line.rstrip("\n"))

    reader = threading.Thread(target=read)
    reader.start()
    try:
        yield daemon
    finally:
        if process.poll() is None:
            process.kill()
        process.wait(TIMEOUT_S)
        reader.join()
        assert process.stderr is not None
        process.stderr.close()
    assert "Traceback" not in daemon.text, daemon.text
