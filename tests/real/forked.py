"""kadm processes that are forked from one that has imported kadm already: hundreds of runs without their start.

Each is a process of its own, with its own pid, environment and directory, that can be killed as any other.

    asked   a line of JSON on the server's stdin: arguments, cwd, env, and the files that stdout and stderr go to
    told    a line with the pid, and one with the exit code (negative: the signal) once the process has ended
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import pkgutil
import subprocess
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

import kadm
from tests.e2e.running import BIN, Said, Tools


@dataclass
class Forked(Tools):
    """``Tools`` whose kadm is forked by a server, one run at a time."""

    server: subprocess.Popen[str] = field(kw_only=True)

    def begin(self, *arguments: str | Path) -> int:
        """Start kadm; its pid. ``ended`` must follow."""
        asked = {
            "arguments": [str(argument) for argument in arguments],
            "cwd": str(self.cwd),
            "env": self.environment(),
            "out": str(self._output("out")),
            "err": str(self._output("err")),
        }
        assert self.server.stdin is not None
        self.server.stdin.write(json.dumps(asked) + "\n")
        self.server.stdin.flush()
        return self._told()

    def ended(self) -> Said:
        """Wait for the end of what was begun; what it said."""
        return Said(self._told(), *(self._output(name).read_text(encoding="utf-8") for name in ("out", "err")))

    def run(self, *arguments: str | Path, env: dict[str, str] | None = None, stdin: str | None = None) -> Said:
        if arguments[0] != str(BIN / "kadm") or env or stdin:
            return super().run(*arguments, env=env, stdin=stdin)
        self.begin(*arguments[1:])
        return self.ended()

    def _told(self) -> int:
        assert self.server.stdout is not None
        return int(self.server.stdout.readline())

    def _output(self, name: str) -> Path:
        return self.cwd / f"forked.{name}"


@contextmanager
def forked(cwd: Path) -> Iterator[Forked]:
    """Tools for the time of the block."""
    with subprocess.Popen(
        [sys.executable, "-m", "tests.real.forked"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        yield Forked(cwd, server=server)


def serve() -> None:
    """Fork a run for every line of stdin, one after the other, until it ends."""
    for module in pkgutil.walk_packages(kadm.__path__, "kadm."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    gc.freeze()
    for line in sys.stdin:
        pid = os.fork()
        if pid == 0:
            _become(**json.loads(line))
        print(pid, flush=True)
        _, status = os.waitpid(pid, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


def _become(arguments: list[str], cwd: str, env: dict[str, str], out: str, err: str) -> NoReturn:
    """Run kadm as a shell would have it run."""
    from kadm.cli.main import run

    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(env)
    for descriptor, path in ((0, os.devnull), (1, out), (2, err)):
        opened = os.open(path, os.O_RDONLY if descriptor == 0 else os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
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
    serve()
