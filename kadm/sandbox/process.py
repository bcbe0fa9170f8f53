"""Start, stop and look at the process that serves a sandbox; inject faults into its members.

These are plain functions that block; the process itself is ``kadm.sandbox.daemon``.
"""

from __future__ import annotations

import http.client
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlsplit

import msgspec

from kadm.errors import KadmError, UsageError
from kadm.sandbox.faults import Fault
from kadm.sandbox.options import SandboxOptions
from kadm.sandbox.state import Files, MemberState, SandboxState, holder, read_state, remove

START_WITHIN_S = 60.0
STOP_WITHIN_S = 10.0
CONTROL_WITHIN_S = 10.0
LOOK_AGAIN_S = 0.02


class StartReport(msgspec.Struct, frozen=True, omit_defaults=True):
    """What the serving process says once when it has started (all empty), or why it has not."""

    what: str = ""
    why: str = ""
    hint: str = ""


class SandboxStatus(msgspec.Struct, frozen=True, kw_only=True):
    """Whether a sandbox runs in ``directory``; of a running one its process, kubeconfig and members."""

    directory: str
    running: bool
    pid: int = 0
    kubeconfig: str = ""
    members: tuple[MemberState, ...] = ()


def up(directory: Path, options: SandboxOptions | None = None) -> SandboxStatus:
    """Start a sandbox in ``directory`` and return once its members answer. One that runs there already is left alone.

    Raises UsageError when the options cannot be, or are not those of the one that runs; KadmError when it does not
    start.
    """
    wanted = (options or SandboxOptions()).checked()
    files = Files(directory)
    running = status(directory)
    if running.running:
        return _same(running, read_state(files), wanted)
    if holder(files) is not None:
        raise KadmError(f"a sandbox is just starting or stopping in {directory}", hint="try again in a moment")
    _make(files)
    report = _launched(files, wanted)
    if report is None:
        down(directory)
        why = f"it did not answer within {START_WITHIN_S:.0f} s" if holder(files) else _last_words(files)
        raise KadmError("the sandbox did not start", why=why, hint=f"see {files.log}")
    if report.what:
        raise KadmError(report.what, why=report.why, hint=report.hint)
    return status(directory)


def down(directory: Path) -> bool:
    """Stop the sandbox of ``directory`` and remove its state; False when none ran. Raises KadmError when it goes on."""
    files = Files(directory)
    ran = False
    for kind in (signal.SIGTERM, signal.SIGKILL):
        pid = holder(files)
        if pid is None:
            break
        ran = True
        if pid:
            _signal(pid, kind)
        _wait_until_free(files)
    if (pid := holder(files)) is not None:
        raise KadmError(f"the sandbox in {directory} does not stop", why=f"process {pid} goes on")
    if files.directory.is_dir():
        remove(files)
    return ran


def status(directory: Path) -> SandboxStatus:
    """What runs in ``directory``. A directory that is not there runs nothing."""
    files = Files(directory)
    pid = holder(files)
    state = read_state(files) if pid is not None else None
    if pid is None or state is None:
        return SandboxStatus(directory=str(directory), running=False)
    return SandboxStatus(
        directory=str(directory), running=True, pid=pid, kubeconfig=str(files.kubeconfig), members=state.members
    )


def inject(directory: Path, member: str, faults: Sequence[Fault]) -> None:
    """Give a member these faults in place of those it has; none makes it well again.

    Raises UsageError for a member that is not there, KadmError when no sandbox runs or it refuses.
    """
    state = read_state(Files(directory)) if status(directory).running else None
    if state is None:
        raise KadmError(f"no sandbox runs in {directory}", hint="start one: kadm sandbox up")
    names = [known.name for known in state.members]
    if member not in names:
        raise UsageError(f"there is no member {member}", why=f"the sandbox has {', '.join(names)}")
    address = urlsplit(state.control_url)
    connection = http.client.HTTPConnection(address.hostname or "", address.port, timeout=CONTROL_WITHIN_S)
    headers = {"Authorization": f"Bearer {state.control_token}", "Content-Type": "application/json"}
    try:
        connection.request("PUT", f"/members/{member}/faults", msgspec.json.encode(list(faults)), headers)
        answer = connection.getresponse()
        text = answer.read().decode()
    except OSError as fault:
        raise KadmError("the sandbox does not take faults", member=member, why=str(fault)) from fault
    finally:
        connection.close()
    if answer.status != 200:
        raise KadmError("the sandbox refuses these faults", member=member, why=text)


def _same(running: SandboxStatus, state: SandboxState | None, wanted: SandboxOptions) -> SandboxStatus:
    """The running sandbox, if it is what is wanted."""
    assert state is not None, "it runs"
    have, want = (len(state.members), state.nodes), (wanted.members, wanted.nodes)
    if have != want:
        raise UsageError(
            f"a sandbox with {have[0]} members of {have[1]} nodes runs in {running.directory} already",
            why=f"{want[0]} members of {want[1]} nodes are wanted",
            hint=f"stop it first: kadm sandbox down --dir {running.directory}",
        )
    return running


def _make(files: Files) -> None:
    """Make the directory; one that we make is kept out of git, for its files hold tokens."""
    try:
        if not files.directory.exists():
            files.directory.mkdir(mode=0o700, parents=True)
            (files.directory / ".gitignore").write_text("*\n", encoding="utf-8")
        elif not files.directory.is_dir():
            raise KadmError(f"{files.directory} is no directory", hint="name another one with --dir")
        files.log.touch(mode=0o600)
        files.log.chmod(0o600)
    except OSError as fault:
        raise KadmError(f"{files.directory} cannot be used", why=fault.strerror or str(fault)) from fault


def _launched(files: Files, options: SandboxOptions) -> StartReport | None:
    """Start the process; what it reports, or None when it reports nothing."""
    reader, writer = os.pipe()
    try:
        with files.log.open("wb") as log:
            command = [sys.executable, "-P", "-m", "kadm.sandbox.daemon", str(files.directory), str(writer)]
            subprocess.run(  # noqa: S603  # our own interpreter and module; it detaches and returns at once
                [*command, msgspec.json.encode(options).decode()],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                pass_fds=(writer,),
                check=False,
            )
        os.close(writer)
        writer = -1
        return _report(reader)
    finally:
        os.close(reader)
        if writer >= 0:
            os.close(writer)


def _report(reader: int) -> StartReport | None:
    deadline = time.monotonic() + START_WITHIN_S
    text = b""
    while (left := deadline - time.monotonic()) > 0:
        if not select.select([reader], [], [], left)[0]:
            return None
        part = os.read(reader, 65536)
        if not part:
            break
        text += part
    return msgspec.json.decode(text, type=StartReport) if text else None


def _last_words(files: Files) -> str:
    lines = files.log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    return lines[-1] if lines else "the process ended without a word"


def _signal(pid: int, kind: signal.Signals) -> None:
    try:
        os.kill(pid, kind)
    except ProcessLookupError:  # it has just ended by itself
        return


def _wait_until_free(files: Files) -> None:
    deadline = time.monotonic() + STOP_WITHIN_S
    while holder(files) is not None and time.monotonic() < deadline:
        time.sleep(LOOK_AGAIN_S)
