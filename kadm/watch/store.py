"""The state directory: what a restarted daemon goes on from. Every file is old or new, never half of one."""

from __future__ import annotations

import fcntl
import os
import tempfile
from pathlib import Path
from typing import IO

import msgspec
from msgspec import Struct

from kadm.errors import UsageError
from kadm.watch.rollout import Stood
from kadm.watch.state import WatchEvent

STATE_FORMAT = 1


class Kept(Struct, frozen=True, kw_only=True):
    """What is kept from one run to the next: the trail of events, oldest first, and where the rollout stands."""

    events: tuple[WatchEvent, ...] = ()
    rollout: Stood = Stood()
    format: int = STATE_FORMAT


class Store:
    """The state directory of one daemon; a second one on the same directory is refused."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.damage = ""
        """Why what was kept could not be read, in words; empty where it could, or nothing was kept."""
        self._lock: IO[bytes] | None = None

    @property
    def clone(self) -> Path:
        """Where the clone of the repository is."""
        return self.directory / "clone"

    def open(self) -> Kept:
        """Take the directory, making it where it is missing, and give what is kept there.

        Raises UsageError where another daemon has it, or it cannot be used.
        """
        try:
            self.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._lock = (self.directory / "lock").open("wb")
        except OSError as error:
            raise UsageError(
                f"{self.directory} cannot be used", why=error.strerror or str(error), hint="name another --state-dir"
            ) from error
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise UsageError(
                f"another kadm watch uses {self.directory}", hint="stop it, or name another --state-dir"
            ) from error
        for left in self.directory.glob(".state.json.*"):
            left.unlink(missing_ok=True)  # of a daemon that was killed while it wrote
        path = self.directory / "state.json"
        try:
            return msgspec.json.decode(path.read_bytes(), type=Kept)
        except FileNotFoundError:
            return Kept()
        except OSError as error:
            self.damage = f"{path} cannot be read: {error.strerror or error}"
        except msgspec.DecodeError as error:
            self.damage = f"{path} is damaged: {error}"
        return Kept()  # the trail of events is lost; where a rollout stands, records show, too

    def save(self, kept: Kept) -> None:
        """Keep this. Raises OSError."""
        write_whole(self.directory / "state.json", msgspec.json.encode(kept))

    def close(self) -> None:
        """Let others have the directory."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None


def write_whole(path: Path, content: bytes) -> None:
    """Put a file in place of what was there, at once: after a crash there is the old one or the new one.

    Raises OSError.
    """
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
