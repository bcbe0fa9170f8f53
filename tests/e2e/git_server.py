"""A git server on loopback, as people push to and daemons fetch from: ``git daemon``, started for each connection."""

from __future__ import annotations

import os
import socketserver
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest


@contextmanager
def serving_git(directory: Path) -> Iterator[int]:
    """The port that serves the repositories in ``directory`` over ``git://``, for the time of the block."""
    if not (Path(_git("--exec-path")) / "git-daemon").exists():
        pytest.skip("this git has no git daemon")
    command = ["git", "daemon", "--inetd", "--export-all", f"--base-path={directory}", str(directory)]

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull}
            streams: dict[str, Any] = {"stdin": self.request, "stdout": self.request, "stderr": subprocess.DEVNULL}
            subprocess.run(command, check=False, env=environment, **streams)

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()
            thread.join()


def _git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], check=True, capture_output=True, text=True).stdout.strip()
