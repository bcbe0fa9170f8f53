"""kadm processes that are forked from one that has imported kadm already: thousands of runs without their start.

Each is a process of its own, with its own pid, environment and directory, that can be killed as any other. They are
forked by a server that a test process starts when it first needs it, and that ends with it.

    asked   a message over a socket, with three files beside it: stdout, stderr, and where to tell
    told    a line with the pid, and one with the exit code (negative: the signal) once the process has ended
"""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import os
import pkgutil
import select
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import BinaryIO, NoReturn

import kadm

LENGTH = struct.Struct("!I")


@dataclass(frozen=True)
class Run:
    """A run of kadm that has begun. ``ended`` must be called once."""

    pid: int
    told: BinaryIO
    out: BinaryIO
    err: BinaryIO

    def ended(self, within_s: float) -> tuple[int, str, str]:
        """Wait for its end: the exit code, stdout, stderr. Raises TimeoutExpired, having killed it."""
        with self.told, self.out, self.err:
            if not select.select([self.told], [], [], within_s)[0]:
                os.kill(self.pid, signal.SIGKILL)
                raise subprocess.TimeoutExpired(f"kadm (process {self.pid})", within_s)
            return int(self.told.readline()), _all(self.out), _all(self.err)


def begun(arguments: list[str], cwd: Path, environment: dict[str, str]) -> Run:
    """Start kadm with nothing on its stdin."""
    return _server().begin(arguments, cwd, environment)


def _all(file: BinaryIO) -> str:
    file.seek(0)
    return file.read().decode().replace("\r\n", "\n")


class _Server:
    """The server's process, from the side of those who ask."""

    def __init__(self) -> None:
        self._asking, served = socket.socketpair()
        with served:
            command = [sys.executable, "-m", "tests.e2e.forked", str(served.fileno())]
            root = Path(__file__).parents[2]
            self._process = subprocess.Popen(
                command, cwd=root, stdin=subprocess.DEVNULL, pass_fds=[served.fileno()], start_new_session=True
            )
        self._one_at_a_time = threading.Lock()

    def begin(self, arguments: list[str], cwd: Path, environment: dict[str, str]) -> Run:
        message = json.dumps({"arguments": arguments, "cwd": str(cwd), "environment": environment}).encode()
        out, err = tempfile.TemporaryFile(), tempfile.TemporaryFile()  # noqa: SIM115  # closed by Run.ended
        reader, writer = os.pipe()
        with self._one_at_a_time:
            socket.send_fds(self._asking, [LENGTH.pack(len(message))], [out.fileno(), err.fileno(), writer])
            self._asking.sendall(message)
        os.close(writer)
        told = os.fdopen(reader, "rb", buffering=0)
        return Run(int(told.readline()), told, out, err)

    def close(self) -> None:
        self._asking.close()
        self._process.wait()


@cache
def _server() -> _Server:
    server = _Server()
    atexit.register(server.close)
    return server


def serve(asked: socket.socket) -> None:
    """Fork a run for every message, until nobody is there to ask."""
    for module in pkgutil.walk_packages(kadm.__path__, "kadm."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    gc.freeze()
    while True:
        header, files, _, _ = socket.recv_fds(asked, LENGTH.size, 3)
        if not header:
            return
        message = asked.recv(LENGTH.unpack(header)[0], socket.MSG_WAITALL)
        if os.fork() == 0:
            asked.close()
            _keep(message, files)
        for file in files:
            os.close(file)
        _take_leave()


def _take_leave() -> None:
    """Let those keepers go that have ended."""
    while True:
        try:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                return
        except ChildProcessError:
            return


def _keep(message: bytes, files: list[int]) -> NoReturn:
    """Fork one run, tell its pid, and its exit code once it has ended."""
    out, err, told = files
    pid = os.fork()
    if pid == 0:
        os.close(told)
        _become(out=out, err=err, **json.loads(message))
    os.write(told, b"%d\n" % pid)
    _, status = os.waitpid(pid, 0)
    os.write(told, b"%d\n" % os.waitstatus_to_exitcode(status))
    os._exit(0)


def _become(arguments: list[str], cwd: str, environment: dict[str, str], out: int, err: int) -> NoReturn:
    """Run kadm as a shell would have it run."""
    from kadm.cli.main import run

    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(environment)
    time.tzset()
    for descriptor, opened in ((1, out), (2, err)):
        os.dup2(opened, descriptor)
        os.close(opened)
    sys.argv = ["kadm", *arguments]
    code: object = 0
    try:
        run()
    except SystemExit as end:
        code = end.code
    except BaseException:  # noqa: BLE001  # whatever it is, this process must not become a second server
        code = 1
        traceback.print_exc()
    sys.stdout.flush()
    sys.stderr.flush()
    # Without taking the interpreter apart: every module that was imported would be copied for that.
    os._exit(code if isinstance(code, int) else code is not None)


if __name__ == "__main__":
    with socket.socket(fileno=int(sys.argv[1])) as _asked:
        serve(_asked)
