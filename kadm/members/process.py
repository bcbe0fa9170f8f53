"""Which process of which machine this is, and whether another one of the same machine has died.

A Lease outlives the process that was killed while holding it. Where it can be proved that its holder is dead, nobody
has to wait until it expires.
"""

from __future__ import annotations

import getpass
import os
import secrets
import socket
from pathlib import Path

from msgspec import Struct

_PROC = Path("/proc")
_START_FIELD = 19
"""Start time in ``/proc/PID/stat``, counted from the state, which is the first field after the command (proc(5))."""


class Holder(Struct, frozen=True, kw_only=True):
    """A run of kadm, as a Lease names it.

    ``token`` tells two runs apart whatever else is equal. ``mark`` is ``boot id/pid namespace/pid/start time``, empty
    where the platform does not tell.
    """

    who: str
    host: str
    token: str
    mark: str = ""

    @property
    def identity(self) -> str:
        """What the Lease's ``holderIdentity`` says: ``alice@ci-7/9f3ab2c1``."""
        return f"{self.who}@{self.host}/{self.token}"


def this_run() -> Holder:
    """This process; two calls give two holders."""
    return Holder(who=_user(), host=socket.gethostname(), token=secrets.token_hex(4), mark=_mark(os.getpid(), _PROC))


def has_died(mark: str, *, proc: Path = _PROC) -> bool:
    """Whether the mark is that of a process of this machine that runs no more; False where that cannot be told.

    A process in another pid namespace (a container's) cannot be seen, so nothing is said about it.
    """
    parts = mark.split("/")
    if len(parts) != 4 or not parts[2].isdigit() or parts[:2] != list(_place(proc)):
        return False
    pid = int(parts[2])
    return _mark(pid, proc) != mark and not _is_hidden(pid, proc)


def _mark(pid: int, proc: Path) -> str:
    """The mark of a process; empty where it does not run, or where the platform does not tell."""
    boot_id, namespace = _place(proc)
    state, start = _stat(pid, proc)
    return f"{boot_id}/{namespace}/{pid}/{start}" if boot_id and start and state not in ("Z", "X") else ""


def _place(proc: Path) -> tuple[str, str]:
    """The boot of this machine, and this process's pid namespace; empty where the platform does not tell."""
    try:
        boot_id = (proc / "sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return boot_id, str((proc / "self/ns/pid").readlink())
    except OSError:
        return "", ""


def _stat(pid: int, proc: Path) -> tuple[str, str]:
    """State and start time of a process, empty where there is none. A zombie has a state, but runs no more."""
    try:
        text = (proc / str(pid) / "stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return "", ""
    fields = text.rpartition(")")[2].split()  # the command before it may hold anything
    return (fields[0], fields[_START_FIELD]) if len(fields) > _START_FIELD else ("", "")


def _is_hidden(pid: int, proc: Path) -> bool:
    """Whether a process runs that ``/proc`` does not show (hidepid, ProtectProc=): nothing can be said about it."""
    if _stat(pid, proc) != ("", ""):
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # a container's user need not have a name
        return str(os.getuid()) if hasattr(os, "getuid") else "unknown"
