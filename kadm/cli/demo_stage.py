"""Where the demo happens, and how its steps are run and shown; the story itself is ``demonstration``."""

from __future__ import annotations

import difflib
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.text import Text

from kadm.cli.console import Console
from kadm.cli.interrupts import ENDING, Interrupts
from kadm.cli.show_sandbox import show_members
from kadm.errors import KadmError, UsageError
from kadm.sandbox import process
from kadm.sandbox.options import SandboxOptions
from kadm.sandbox.state import Files, SandboxState, read_state

EXAMPLE = Path(__file__).with_name("demo_fleet")
"""The fleet, one of the examples: a link in the work tree, files in an installed package."""


@dataclass
class Stage:
    """The demo's directories and output. ``steps`` is what was shown, for ``-o json``."""

    console: Console
    interrupts: Interrupts
    fleet: Path
    sandbox: Path
    as_json: bool
    steps: list[dict[str, Any]] = field(default_factory=list)

    @property
    def kubeconfig(self) -> Path:
        """The sandbox's."""
        return self.sandbox / "kubeconfig"

    @property
    def members(self) -> SandboxState:
        """The running sandbox."""
        state = read_state(Files(self.sandbox))
        assert state is not None, "it runs"
        return state

    def step(self, why: str) -> None:
        """Begin a step with the sentence that says why."""
        self.steps.append({"why": why, "commands": []})
        if not self.as_json:
            self._show(Text(f"\n{len(self.steps)}. {why}", style="bold"))

    def start_members(self, count: int) -> None:
        """``kadm sandbox up``, which is not left half done."""
        self._typed("kadm sandbox up")
        with self.interrupts.held():
            found = process.up(self.sandbox, SandboxOptions(members=count))
        if not self.as_json:
            show_members(self.console, found)

    def edit(self, path: str, changes: Sequence[tuple[str, str]]) -> None:
        """Edit a file of the fleet: each old text becomes the new one. Shows the lines that change."""
        self._typed(f"$EDITOR {path}")
        file = self.fleet / path
        before = file.read_text(encoding="utf-8")
        after = before
        for old, new in changes:
            assert after.count(old) == 1, f"{path} holds {old!r} once"
            after = after.replace(old, new)
        file.write_text(after, encoding="utf-8")
        for line in difflib.unified_diff(before.splitlines(), after.splitlines(), n=0):
            if line[0] in "+-" and not line.startswith(("+++", "---")) and not self.as_json:
                self._show(Text(f"  {line}", style="green" if line[0] == "+" else "red"))

    def by_hand(self, command: str) -> None:
        """Show a command that is not kadm's; what it does, the caller does."""
        self._typed(command)

    def kadm(self, *arguments: str) -> None:
        """Run kadm in the fleet's directory. Raises KadmError where it fails."""
        command = shlex.join(["kadm", *arguments])
        self._typed(command)
        done = subprocess.run(  # noqa: S603  # our own interpreter and module
            [sys.executable, "-P", "-m", "kadm", "--color", self.console.color, *arguments],
            cwd=self.fleet,
            env={**os.environ, "KUBECONFIG": str(self.kubeconfig)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE if self.as_json else None,
            text=True,
            encoding="utf-8",
            errors="replace",
            check=False,
        )
        for number in ENDING:
            if done.returncode in (-number, 128 + number):  # it heard of the signal before we did
                self.interrupts.end(number)
        if done.returncode:
            raise KadmError("the demo cannot go on", why=f"{command} exited {done.returncode}")
        self.steps[-1]["commands"][-1]["output"] = done.stdout or ""

    def _typed(self, command: str) -> None:
        self.steps[-1]["commands"].append({"command": command, "output": ""})
        if not self.as_json:
            self._show(Text.assemble(("$ ", "dim"), (command, "cyan")))

    def _show(self, text: Text) -> None:
        self.console.print(text)
        self.console.out.flush()  # what a command prints comes after it


@contextmanager
def stage(
    console: Console, interrupts: Interrupts, directory: Path | None, *, keep: bool, as_json: bool
) -> Iterator[Stage]:
    """The fleet's files, and a place for a sandbox; all of it is taken away again unless the block ends and ``keep``.

    The sandbox's files stay out of ``directory``, which may be in a git repository: no kubeconfig belongs there. Raises
    UsageError where ``directory`` is there and not empty.
    """
    if directory is not None and directory.exists() and (not directory.is_dir() or any(directory.iterdir())):
        raise UsageError(f"{directory} is not empty", hint="name a directory that is not there yet with --dir")
    base = Path(tempfile.mkdtemp(prefix="kadm-demo-"))
    fleet = (directory or base / "fleet").absolute()
    sandbox = base / "sandbox"
    kept = False
    try:
        shutil.copytree(EXAMPLE, fleet, ignore=shutil.ignore_patterns("README.md"), dirs_exist_ok=True)
        (fleet / "clusters").mkdir(exist_ok=True)
        with interrupts.heeded():
            yield Stage(console, interrupts, fleet, sandbox, as_json)
        kept = keep
    finally:
        if not kept:
            process.down(sandbox)
            shutil.rmtree(base)
            if directory is not None:
                shutil.rmtree(fleet)
