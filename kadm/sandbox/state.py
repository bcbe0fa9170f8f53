"""What a running sandbox leaves in its directory for others to find it by.

    kubeconfig     a context, cluster and user per member
    state.json     who serves what where, and how to control it
    lock           held by the serving process as long as it lives; holds its process id
    sandbox.log    what it has to say

The lock is the truth: the kernel lets go of it however the process ends, so state without a held lock is stale. All
files have mode 0600.
"""

from __future__ import annotations

import base64
import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import yaml

from kadm.errors import KadmError

STATE_VERSION = 1


class MemberState(msgspec.Struct, frozen=True, kw_only=True):
    """One member: its name (also that of its kubeconfig context), URL and administrator's token."""

    name: str
    url: str
    token: str


class SandboxState(msgspec.Struct, frozen=True, kw_only=True):
    """A running sandbox. ``control_url`` takes faults, with ``control_token``; ``ca`` is the members' CA as PEM."""

    version: int = STATE_VERSION
    pid: int
    nodes: int
    control_url: str
    control_token: str
    ca: str
    members: tuple[MemberState, ...]


class Files:
    """The paths in a sandbox's directory."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory.absolute()
        self.kubeconfig = self.directory / "kubeconfig"
        self.state = self.directory / "state.json"
        self.lock = self.directory / "lock"
        self.log = self.directory / "sandbox.log"


def write_private(path: Path, data: bytes) -> None:
    """Put ``data`` in ``path`` at once, readable by its owner only."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    draft.unlink(missing_ok=True)
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
    draft.replace(path)


def publish(files: Files, state: SandboxState) -> None:
    """Write ``state.json`` and the kubeconfig."""
    write_private(files.kubeconfig, yaml.safe_dump(kubeconfig(state), sort_keys=False).encode())
    write_private(files.state, msgspec.json.format(msgspec.json.encode(state), indent=2) + b"\n")


def read_state(files: Files) -> SandboxState | None:
    """What ``state.json`` says, None when there is none. Raises KadmError when it cannot be read."""
    try:
        return msgspec.json.decode(files.state.read_bytes(), type=SandboxState)
    except FileNotFoundError:
        return None
    except (OSError, msgspec.DecodeError) as fault:
        hint = f"remove {files.directory} when no sandbox runs there"
        raise KadmError(f"{files.state} cannot be read", why=str(fault), hint=hint) from fault


def remove(files: Files) -> None:
    """Take away what describes a sandbox that no longer runs; the log stays."""
    files.kubeconfig.unlink(missing_ok=True)
    files.state.unlink(missing_ok=True)


class Locked(Exception):
    """Another process holds the lock."""


@contextmanager
def held_lock(files: Files) -> Iterator[int]:
    """Hold the directory's lock, marked with this process' id; gives its file descriptor. Raises Locked."""
    descriptor = os.open(files.lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as fault:
            raise Locked from fault
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, str(os.getpid()).encode(), 0)
        yield descriptor
    finally:
        os.close(descriptor)  # lets go of the lock; the file stays, for removing it would race with the next holder


def holder(files: Files) -> int | None:
    """The id of the process that holds the lock: a running sandbox. None when there is none."""
    try:
        descriptor = os.open(files.lock, os.O_RDWR | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return None
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            text = os.pread(descriptor, 32, 0)
            return int(text) if text.isdigit() else 0  # 0: it has the lock, and is about to write its id
        return None
    finally:
        os.close(descriptor)


def kubeconfig(state: SandboxState) -> dict[str, object]:
    """A kubeconfig with a context per member, the first one current."""
    authority = base64.b64encode(state.ca.encode()).decode()
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": state.members[0].name,
        "clusters": [
            {"name": member.name, "cluster": {"server": member.url, "certificate-authority-data": authority}}
            for member in state.members
        ],
        "users": [{"name": member.name, "user": {"token": member.token}} for member in state.members],
        "contexts": [
            {"name": member.name, "context": {"cluster": member.name, "user": member.name}} for member in state.members
        ],
    }
