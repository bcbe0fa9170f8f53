"""The files of the repository, from the work tree or from a commit, with the same rules for both.

Paths are relative to the directory of kadm.yaml, with ``/`` on every system. Names that begin with a dot are passed
over in directories. A symbolic link is followed while it stays in the repository: a link out of it would deploy what
nobody reviewed, and means something else on every machine.
"""

from __future__ import annotations

import os
import posixpath
import stat
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Literal, Protocol

from kadm.errors import Location, Problem, RepoError
from kadm.repo.git import GitContents, GitEntry

EntryKind = Literal["file", "directory", "absent"]

_LINK_MODE = "120000"
_MAX_LINKS = 40


class Tree(Protocol):
    """Where the repository's files come from. All methods raise RepoError for what is there and cannot be read."""

    def kind(self, path: str) -> EntryKind:
        """What ``path`` is, links followed."""

    def names(self, directory: str, *, hidden: bool = False) -> list[str]:
        """The names in a directory, sorted; those that begin with a dot with ``hidden`` only, and never ``.git``."""

    def read(self, path: str) -> bytes:
        """The content of a file."""

    def identity(self, directory: str) -> str:
        """What a directory is behind all links, so that going in circles is noticed."""

    def on_disk(self, files: Iterable[str]) -> AbstractContextManager[Path]:
        """A directory that stands for that of kadm.yaml, for as long as the context lasts: ``files`` are in it."""


def walk(tree: Tree, directory: str, *, hidden: bool = False) -> Iterator[str]:
    """All directories below ``directory``, itself first, each as its path; links to directories are followed."""
    yield from _walk(tree, directory, (), hidden)


def _walk(tree: Tree, directory: str, around: tuple[str, ...], hidden: bool) -> Iterator[str]:
    identity = tree.identity(directory)
    if identity in around:
        raise unreadable(directory, "the link leads to a directory around it", "remove the link")
    yield directory
    for name in tree.names(directory, hidden=hidden):
        path = posixpath.join(directory, name) if directory != "." else name
        if tree.kind(path) == "directory":
            yield from _walk(tree, path, (*around, identity), hidden)


def unreadable(path: str, why: str, hint: str = "") -> RepoError:
    """The error for something that is there and cannot be read."""
    return RepoError([Problem(what=f"{path} cannot be read", where=Location(path), why=why, hint=hint)])


def _visible(directory: str, names: Iterable[str], hidden: bool) -> list[str]:
    """``names`` sorted, as ``Tree.names`` wants them. Raises RepoError for a name that is no UTF-8."""
    for name in names:
        if not name.isascii() and name.encode(errors="replace").decode() != name:
            raise unreadable(directory, f"it holds a name that is no UTF-8: {name!a}", "rename it")
    return sorted(name for name in names if (hidden and name != ".git") or not name.startswith("."))


class WorkTree:
    """Files on disk. ``root`` is the directory of kadm.yaml, ``top`` that of the repository around it.

    ``files_read`` notes what has been read.
    """

    def __init__(self, root: Path, top: Path) -> None:
        self.files_read: list[str] = []
        self._root = root
        self._top = top.resolve()

    def kind(self, path: str) -> EntryKind:
        file = self._root / path
        try:
            mode = file.stat().st_mode
        except (FileNotFoundError, NotADirectoryError):
            if file.is_symlink():
                raise unreadable(path, "the link leads nowhere") from None
            return "absent"
        except OSError as fault:
            raise unreadable(path, fault.strerror or str(fault)) from fault
        self._inside(path)
        if stat.S_ISDIR(mode):
            return "directory"
        if not stat.S_ISREG(mode):
            raise unreadable(path, "it is neither a file nor a directory")
        return "file"

    def names(self, directory: str, *, hidden: bool = False) -> list[str]:
        try:
            names = os.listdir(self._root / directory)  # noqa: PTH208  # names are all that is wanted
        except OSError as fault:
            raise unreadable(directory, fault.strerror or str(fault)) from fault
        return _visible(directory, names, hidden)

    def read(self, path: str) -> bytes:
        self.files_read.append(path)
        try:
            return (self._root / path).read_bytes()
        except OSError as fault:
            raise unreadable(path, fault.strerror or str(fault)) from fault

    def identity(self, directory: str) -> str:
        return str((self._root / directory).resolve())

    def on_disk(self, files: Iterable[str]) -> AbstractContextManager[Path]:
        self.files_read += files
        return nullcontext(self._root)

    def _inside(self, path: str) -> None:
        if not (self._root / path).resolve().is_relative_to(self._top):
            raise unreadable(path, "the link leads out of the repository", "put the file itself there")


class CommitTree:
    """Files of a commit. ``entries`` are all of the repository by path from its top; ``prefix`` leads to kadm.yaml."""

    def __init__(self, entries: Mapping[str, GitEntry], prefix: str, contents: GitContents) -> None:
        self._entries = entries
        self._prefix = prefix
        self._contents = contents
        self._names: dict[str, set[str]] = {"": set()}
        for path in entries:
            while path:
                parent, _, name = path.rpartition("/")
                siblings = self._names.setdefault(parent, set())
                if name in siblings:
                    break
                siblings.add(name)
                path = parent  # on to the directories above

    def kind(self, path: str) -> EntryKind:
        found = self._resolve(path)
        if found in self._entries:
            return "file"
        return "directory" if found in self._names else "absent"

    def names(self, directory: str, *, hidden: bool = False) -> list[str]:
        return _visible(directory, self._names[self._resolve(directory)], hidden)

    def read(self, path: str) -> bytes:
        return self._contents.read(self._entries[self._resolve(path)].name)

    def identity(self, directory: str) -> str:
        return self._resolve(directory)

    @contextmanager
    def on_disk(self, files: Iterable[str]) -> Iterator[Path]:
        with tempfile.TemporaryDirectory(prefix="kadm-") as private:  # nobody else may read it: mkdtemp sets 0700
            root = Path(private, self._prefix)
            root.mkdir(parents=True, exist_ok=True)
            for path in files:
                target = Path(private, posixpath.normpath(self._prefix + path))
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(self.read(path))
            yield root

    def _resolve(self, path: str) -> str:
        """The path from the top of what ``path`` is behind all links; its own path where nothing is there."""
        rest = [part for part in posixpath.normpath(self._prefix + path).split("/") if part != "."]
        done: list[str] = []
        links = 0
        while rest:
            part = rest.pop(0)
            if part == "..":
                if not done:
                    raise unreadable(path, "the link leads out of the repository", "put the file itself there")
                done.pop()
                continue
            done.append(part)
            entry = self._entries.get("/".join(done))
            if entry is None:
                continue
            if entry.kind == "commit":
                raise unreadable(path, "it is in a submodule, whose files are not in the commit")
            if entry.mode == _LINK_MODE:
                links += 1
                target = os.fsdecode(self._contents.read(entry.name))
                if links > _MAX_LINKS or target.startswith("/"):
                    why = "the links go in circles" if links > _MAX_LINKS else "the link leads out of the repository"
                    raise unreadable(path, why, "put the file itself there")
                done.pop()
                rest = [name for name in target.split("/") if name not in ("", ".")] + rest
        found = "/".join(done)
        if links and found not in self._entries and found not in self._names:
            raise unreadable(path, "the link leads nowhere")
        return found
