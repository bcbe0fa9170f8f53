"""What git says about the directory: its commit, whether the work tree differs, and the files of a commit.

Only the ``git`` program is asked, and it is asked to write nothing: not the index, not the work tree. A git that fails
is an error; it never looks like a repository without files.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from kadm.errors import Problem, RepoError
from kadm.model.repository import Revision

_ELSEWHERE = frozenset({"GIT_COMMON_DIR", "GIT_DIR", "GIT_INDEX_FILE", "GIT_NAMESPACE", "GIT_PREFIX", "GIT_WORK_TREE"})
_NOT_A_REPOSITORY = "not a git repository"


@dataclass(frozen=True)
class GitRepository:
    """A git work tree: its top directory, and where in it the asked directory is (empty or ``a/b/``)."""

    top: Path
    prefix: str
    directory: Path

    def revision(self, files_read: Sequence[str]) -> Revision | None:
        """The commit that is checked out, and whether the directory differs from it; None before the first commit.

        It also differs where one of ``files_read`` is ignored by git: then it is in no commit. Directories beside this
        one count where ``files_read`` has something of theirs.
        """
        code, head, why = _try(self.directory, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
        if code and not why:
            return None
        if code:
            raise _fault("git cannot tell the commit that is checked out", why, "git fsck tells more")
        beside = sorted({os.path.dirname(file) for file in files_read if file.startswith("../")})  # noqa: PTH120
        changed = _run(self.directory, "status", "--porcelain", "--untracked-files=normal", "--", ".", *beside)
        return Revision(commit=head.decode().strip(), dirty=bool(changed) or self._ignores_any(files_read))

    def _ignores_any(self, files: Sequence[str]) -> bool:
        names = b"\0".join(os.fsencode(file) for file in files)
        code, ignored, why = _try(self.directory, "check-ignore", "-z", "--stdin", given=names)
        if code > 1:
            raise _fault("git cannot tell which files it ignores", why, "see what git status says in this directory")
        return bool(ignored)

    def commit(self, ref: str) -> str:
        """The full id of the commit that ``ref`` names. Raises RepoError where it names none."""
        asked = ("--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}")
        code, name, why = _try(self.directory, "rev-parse", *asked)
        if code:
            shown = ref if ref.strip() else f'"{ref}"'
            raise _fault(f"{shown} is no commit of this repository", why, "fetch it first, or correct --ref")
        return name.decode().strip()

    def entries(self, commit: str) -> dict[str, GitEntry]:
        """Path from the top → entry, for all files of ``commit``."""
        listed = _run(self.directory, "ls-tree", "-r", "-z", "--full-tree", commit)
        entries = {}
        for line in listed.split(b"\0"):
            if line:
                description, _, path = line.partition(b"\t")
                mode, kind, name = description.decode().split(" ")
                entries[os.fsdecode(path)] = GitEntry(mode=mode, kind=kind, name=name)
        return entries

    @contextmanager
    def contents(self) -> Iterator[GitContents]:
        """A running git that hands out the contents of objects; it ends with the context."""
        command = ["git", "-C", str(self.directory), "cat-file", "--batch"]
        with subprocess.Popen(  # noqa: S603  # a fixed program; what it is asked for goes through its input
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=_environment()
        ) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            yield GitContents(process.stdin, process.stdout)
            process.stdin.close()


@dataclass(frozen=True)
class GitEntry:
    """An entry of a commit's tree. Mode 120000 is a symbolic link; kind ``commit`` is a submodule."""

    mode: str
    kind: str
    name: str


class GitContents:
    """Reads objects by name through ``git cat-file --batch``."""

    def __init__(self, requests: IO[bytes], answers: IO[bytes]) -> None:
        self._requests = requests
        self._answers = answers

    def read(self, name: str) -> bytes:
        """The content of object ``name``. Raises RepoError where git cannot read it."""
        self._requests.write(f"{name}\n".encode())
        self._requests.flush()
        head = self._answers.readline().decode().split()
        if len(head) != 3 or head[1] != "blob":
            raise _fault(f"git cannot read object {name}", " ".join(head[1:]), "git fsck tells more")
        size = int(head[2])
        data = self._answers.read(size + 1)
        if len(data) != size + 1:
            raise _fault(f"git stopped while reading object {name}", "", "git fsck tells more")
        return data[:size]


def find_git(directory: Path) -> GitRepository | None:
    """The git work tree that holds ``directory``; None where there is none, or no git program.

    Raises RepoError where git refuses to say.
    """
    if shutil.which("git") is None:
        return None
    code, output, why = _try(directory, "rev-parse", "--show-toplevel", "--show-prefix")
    if code:
        marked = next((top for top in (directory, *directory.parents) if _holds_git(top)), None)
        if "must be run in a work tree" in why or (_NOT_A_REPOSITORY in why and marked is None):
            return None
        raise _fault("git cannot read this repository", why, "see what git status says in this directory")
    top, prefix = os.fsdecode(output).split("\n")[:2]
    return GitRepository(top=Path(top), prefix=prefix, directory=directory)


def _holds_git(directory: Path) -> bool:
    """Whether a repository is, or was, here: a damaged one must not pass for files that nobody versions."""
    marker = directory / ".git"
    try:
        return marker.is_file() or (marker.is_dir() and any(marker.iterdir()))
    except OSError:  # who may not look at it cannot tell, and neither can git
        return True


def _run(directory: Path, *arguments: str) -> bytes:
    """What a git command answers. Raises RepoError where it fails."""
    code, output, why = _try(directory, *arguments)
    if code:
        raise _fault(f"git {arguments[0]} failed", why, "see what git status says in this directory")
    return output


def _try(directory: Path, *arguments: str, given: bytes = b"") -> tuple[int, bytes, str]:
    """Exit code, output and complaint of a git command that reads ``given``."""
    answer = subprocess.run(  # noqa: S603  # a fixed program, and references come behind --end-of-options
        ["git", "-C", str(directory), *arguments],  # noqa: S607  # the user's own git
        input=given,
        capture_output=True,
        check=False,
        env=_environment(),
    )
    return answer.returncode, answer.stdout, answer.stderr.decode(errors="replace").strip()


def _environment() -> dict[str, str]:
    # Within a git hook these name another repository or index than the directory's own.
    kept = {key: value for key, value in os.environ.items() if key not in _ELSEWHERE}
    return {**kept, "LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0"}


def _fault(what: str, why: str, hint: str) -> RepoError:
    return RepoError([Problem(what=what, why=why, hint=hint)])
