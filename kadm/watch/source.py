"""Where the desired state comes from: a branch that is fetched into a clone of our own, or a directory as it stands.

Nothing is ever checked out: files are read from the commit itself, so that half a checkout cannot be seen, and hooks
and filters of the repository never run. A fetch replaces one reference; a killed one leaves the old one. The commit in
force has a reference too: it survives a force-push, and is what a restarted daemon begins with while the newest commit
is broken.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import logging
import os
import re
import shutil
import signal
import stat
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from kadm.errors import KadmError, Problem, RepoError
from kadm.model.repository import Repo
from kadm.repo import NoFleet, load

_log = logging.getLogger(__name__)

GIT_TIMEOUT_S = 120.0
SEEN = "refs/kadm/seen"
IN_FORCE = "refs/kadm/in-force"

_ELSEWHERE = frozenset({"GIT_COMMON_DIR", "GIT_DIR", "GIT_INDEX_FILE", "GIT_NAMESPACE", "GIT_PREFIX", "GIT_WORK_TREE"})
_DAMAGE = re.compile(
    r"corrupt|is empty|bad object|bad tree|missing (?:blob|tree|commit)|inflate|unable to (?:read|unpack)"
)
"""What git says of a damaged repository, be it the clone or the one that is cloned."""

_NO_ROOM = ("No space left on device", "File too large", "Read-only file system", "Disk quota exceeded")
_CREDENTIALS = re.compile(r"(?<=://)[^/\s]*@")
"""Up to the last @: a password may hold others."""
_QUERY = re.compile(r"""(://[^\s?]*)\?\S*?(?=['"]?[.,:;)]*(?:\s|$))""")
"""A query up to the end of the word; what the sentence puts around a URL is not of it."""


class SourceError(KadmError):
    """The repository could not be looked at: what was in force stays in force."""


class Source(Protocol):
    """Something that has a newest state, and can be loaded as of it."""

    @property
    def url(self) -> str:
        """Where it is, for people: without credentials."""

    @property
    def branch(self) -> str:
        """What is followed there, empty: whatever is checked out, or the repository's own choice."""

    async def look(self) -> str:
        """The name of the newest state. Raises SourceError."""

    async def rewritten(self, before: str, now: str) -> bool:
        """Whether the newest state does not go on from the one seen before it: a force-push. Not where that cannot be
        told."""

    async def kept(self) -> str:
        """The state that was in force when the daemon ended, empty where none is remembered. Raises SourceError."""

    async def keep(self, state: str) -> None:
        """Remember what is in force. Raises SourceError."""

    def load(self, state: str) -> Repo:
        """The repository as of a state. Blocks. Raises RepoError where it cannot be used, SourceError where nothing can
        be said of it: the next look finds out more."""


@dataclass(frozen=True)
class Clone:
    """A branch of a git repository, by way of a clone in ``directory``; ``path`` leads from its top to kadm.yaml.

    ``branch`` empty: what the repository's HEAD names.
    """

    remote: str
    branch: str
    directory: Path
    path: str = "."
    timeout_s: float = GIT_TIMEOUT_S

    @property
    def url(self) -> str:
        return shown_url(self.remote)

    async def look(self) -> str:
        try:
            return await self._fetched()
        except SourceError as error:
            if not await self._is_damaged(error):
                raise
            _log.warning("the clone in %s is damaged, and is made anew: %s", self.directory, error.problem.why)
            await asyncio.to_thread(self._remove)
        return await self._fetched()

    async def _fetched(self) -> str:
        await self._ready()
        what = f"refs/heads/{self.branch}" if self.branch else "HEAD"
        await self._git("fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--", self.remote, f"+{what}:{SEEN}")
        return (await self._git("rev-parse", "--verify", f"{SEEN}^{{commit}}")).strip()

    async def rewritten(self, before: str, now: str) -> bool:
        try:
            base = (await self._git("merge-base", before, now)).strip()
        except SourceError:  # no common commit; or one of them is not there any more
            return await self._has(before) and await self._has(now)
        return base != before

    async def _has(self, commit: str) -> bool:
        try:
            await self._git("cat-file", "-e", f"{commit}^{{commit}}")
        except SourceError:
            return False
        return True

    async def kept(self) -> str:
        await self._ready()
        try:
            return (await self._git("rev-parse", "--verify", "--quiet", f"{IN_FORCE}^{{commit}}")).strip()
        except SourceError:
            return ""

    async def keep(self, state: str) -> None:
        await self._git("update-ref", IN_FORCE, state)

    def load(self, state: str) -> Repo:
        root = self.directory / self.path
        try:
            root.mkdir(parents=True, exist_ok=True)  # files are read from the commit, but git wants to be called in it
            return load(root, ref=state)
        except OSError as error:
            raise _unusable(self.directory, error) from error
        except NoFleet as error:
            place = self.path if self.path not in ("", ".") else "its top directory"
            what = f"there is no kadm.yaml in {place} at {state[:12]}"
            raise NoFleet([Problem(what=what, object=self.url, hint="--path says where it is")]) from error
        except RepoError as error:
            if not any(problem.what.startswith("git ") for problem in error.problems) or self._is_whole():
                raise
            self._remove()
            what = "the clone is damaged, and is made anew"
            raise SourceError(what, object=str(self.directory), why=error.problem.what) from error

    async def _is_damaged(self, error: SourceError) -> bool:
        """Whether a command failed because of the clone: git says so, and it is not the other side's repository."""
        if not _DAMAGE.search(error.problem.why):
            return False
        try:
            await self._git("fsck", "--connectivity-only", "--no-dangling")
        except SourceError:
            return True
        return False

    def _is_whole(self) -> bool:
        """Whether each object is there, and is what it is called. Blocks; takes a while."""
        command = ["git", "-C", str(self.directory), "fsck", "--no-dangling"]
        return subprocess.run(command, capture_output=True, check=False, env=_environment()).returncode == 0  # noqa: S603  # a fixed program

    def _remove(self) -> None:
        """Nothing in it is worth anything but time. Raises SourceError where it cannot be removed."""
        try:
            shutil.rmtree(self.directory)
        except OSError as error:
            raise _unusable(self.directory, error) from error

    async def _ready(self) -> None:
        """Make the clone, or make it anew where it is damaged. Raises SourceError where it cannot be made."""
        if (self.directory / ".git" / "HEAD").is_file():
            try:
                await self._git("rev-parse", "--git-dir")
            except SourceError:
                await asyncio.to_thread(self._remove)
            else:
                return
        try:
            self.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise _unusable(self.directory, error) from error
        await self._git("init", "--quiet")

    async def _git(self, *arguments: str) -> str:
        """What a git command answers. Raises SourceError where it fails, or takes too long."""
        try:
            process = await asyncio.create_subprocess_exec(
                "git",
                "-c",
                "gc.autoDetach=false",  # nothing of ours goes on after we have ended
                "-c",
                "maintenance.autoDetach=false",
                "-C",
                str(self.directory),
                *arguments,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                env=_environment(),
                start_new_session=True,
            )
        except OSError as error:
            raise SourceError("git cannot be run", why=error.strerror or str(error), hint="install git") from error
        try:
            async with asyncio.timeout(self.timeout_s):
                output, said = await process.communicate()
        except TimeoutError as error:
            what = f"git {arguments[0]} did not end within {self.timeout_s:g} s"
            raise SourceError(what, object=self.url, hint="check the network, and the git server") from error
        finally:
            if process.returncode is None:
                with contextlib.suppress(ProcessLookupError):  # it has just ended
                    os.killpg(process.pid, signal.SIGKILL)
                await process.wait()
        if process.returncode:
            why = without_credentials(said.decode(errors="replace").strip())
            raise SourceError(f"git {arguments[0]} failed", object=self.url, why=why, hint=_hint(why))
        return output.decode(errors="replace")


@dataclass(frozen=True)
class Directory:
    """A directory as it stands: its newest state is named by a hash of when its files were written."""

    path: Path

    @property
    def url(self) -> str:
        return str(self.path)

    @property
    def branch(self) -> str:
        return ""

    async def look(self) -> str:
        return await asyncio.to_thread(self._state)

    async def rewritten(self, before: str, now: str) -> bool:
        return False

    async def kept(self) -> str:
        return ""

    async def keep(self, state: str) -> None:
        """Nothing is remembered: a directory has only the one state."""

    def load(self, state: str) -> Repo:  # there is only the one that is there
        try:
            return load(self.path)
        except OSError as error:
            raise _unusable(self.path, error) from error

    def _state(self) -> str:
        digest = hashlib.blake2b(digest_size=20)
        try:
            for name, what in sorted(_files(self.path)):
                digest.update(f"{name}\0{what}\n".encode(errors="surrogateescape"))
        except OSError as error:
            why = error.strerror or str(error)
            raise SourceError("the directory cannot be read", object=self.url, why=why) from error
        return digest.hexdigest()


def _files(root: Path) -> Iterator[tuple[str, str]]:
    """Each file below ``root`` with its size and time, and the commit that is checked out."""
    for directory, folders, names in os.walk(root, onerror=_raise):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in names:
            path = os.path.join(directory, name)  # noqa: PTH118  # thousands of them
            try:
                found = os.lstat(path)
            except FileNotFoundError:
                continue
            if stat.S_ISLNK(found.st_mode):
                with contextlib.suppress(OSError):  # a link that leads nowhere is told when it is loaded
                    found = os.stat(path)  # noqa: PTH116
            yield path, f"{found.st_size} {found.st_mtime_ns} {found.st_ino}"
    for name in ("HEAD", "logs/HEAD"):
        head = root / ".git" / name
        if head.is_file():
            yield str(head), str(head.stat().st_mtime_ns)


def _raise(error: OSError) -> None:
    raise error


def shown_url(url: str) -> str:
    """A repository's address without who is named in it, and by what they are let in: no user, password and query."""
    scheme, separator, rest = url.partition("://")
    if not separator:
        return url
    authority, slash, path = rest.partition("/")
    host = authority.rpartition("@")[2]
    return f"{scheme}://{f'{host}{slash}{path}'.partition('?')[0]}"


def without_credentials(text: str) -> str:
    """A text that may hold URLs, each without what ``shown_url`` leaves out."""
    return _QUERY.sub(r"\1", _CREDENTIALS.sub("", text))


def _environment() -> dict[str, str]:
    """The process's, so that the user's own git configuration counts; but nobody is there to be asked."""
    kept = {key: value for key, value in os.environ.items() if key not in _ELSEWHERE}
    return {
        "GIT_SSH_COMMAND": "ssh -oBatchMode=yes",
        **kept,
        "LC_ALL": "C",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_OPTIONAL_LOCKS": "0",
    }


def _unusable(directory: Path, error: OSError) -> SourceError:
    why = f"{error.filename or directory}: {error.strerror or error}"
    return SourceError("the files cannot be used", object=str(directory), why=why, hint=_hint(why))


def _hint(why: str) -> str:
    if any(text in why for text in _NO_ROOM):
        return "make room where the state directory is, or let it be written"
    if "couldn't find remote ref" in why:
        return "check --branch"
    if "could not read Username" in why or "Permission denied" in why or "Authentication failed" in why:
        return "give git a credential: a credential helper, or a key for ssh"
    return "check --repo, and the network"
