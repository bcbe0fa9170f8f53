"""Which files the entries of kadm.yaml mean: a file, a directory with all below it, or a pattern.

What kadm.yaml names and is not there is an error. Nothing else would tell a directory that was moved or misspelt from a
desired state that is empty.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Set
from dataclasses import dataclass
from typing import Final, Literal

from kadm.errors import Location, Problem, RepoError
from kadm.repo.kustomizations import KUSTOMIZATION_FILES
from kadm.repo.tree import Tree, walk

FLEET_FILE = "kadm.yaml"
_SUFFIXES = (".yaml", ".yml", ".json")
_MARKS = "*?["

BuildTool = Literal["kustomize", "helm"]

CHART_FILE: Final = "Chart.yaml"

_BUILT_BY: dict[str, BuildTool] = {CHART_FILE: "helm", **dict.fromkeys(KUSTOMIZATION_FILES, "kustomize")}


@dataclass(frozen=True)
class Selection:
    """The files that one entry means, sorted, and the directories among them that a tool has to build."""

    files: tuple[str, ...]
    built: tuple[tuple[str, BuildTool], ...] = ()
    """(directory, tool)"""


def select(tree: Tree, entry: str, where: Location, *, skip: Set[str] = frozenset(), builds: bool = False) -> Selection:
    """The files of ``entry``, which stands at ``where``. Raises RepoError where there is nothing of that name.

    Files in ``skip`` are left out. With ``builds``, directories that kustomize or helm build are told apart, and what
    is in them is theirs.
    """
    path = _checked(entry, where)
    if any(mark in path for mark in _MARKS):
        return _pattern(tree, path, where, skip=skip, builds=builds)
    kind = tree.kind(path)
    if kind == "absent":
        raise _fault(f"{entry} does not exist", where, "create it, or correct the path; it is relative to kadm.yaml")
    return _selected(tree, [path], skip=skip, builds=builds)


def _checked(entry: str, where: Location) -> str:
    path = posixpath.normpath(entry)
    if not entry or posixpath.isabs(path) or path == ".." or path.startswith("../"):
        raise _fault(f'"{entry}" is not below kadm.yaml', where, "name what is beside kadm.yaml or below it")
    return path


def _pattern(tree: Tree, pattern: str, where: Location, *, skip: Set[str], builds: bool) -> Selection:
    fixed = pattern[: min(pattern.index(mark) for mark in _MARKS if mark in pattern)].rpartition("/")[0] or "."
    found = []
    if tree.kind(fixed) == "directory":
        expression = re.compile(_expression(pattern))
        for directory in walk(tree, fixed):
            paths = [_join(directory, name) for name in tree.names(directory)]
            found += [path for path in paths if expression.fullmatch(path)]
    if not found:
        raise _fault(f"nothing matches {pattern}", where, "correct the pattern; it is relative to kadm.yaml")
    return _selected(tree, found, skip=skip, builds=builds)


def _selected(tree: Tree, paths: list[str], *, skip: Set[str], builds: bool) -> Selection:
    files: set[str] = set()
    built: dict[str, BuildTool] = {}
    for path in paths:
        if tree.kind(path) == "file":
            tool = _BUILT_BY.get(posixpath.basename(path)) if builds else None
            if tool is None:
                files.add(path)
            else:  # the file stands for its directory
                built.setdefault(posixpath.dirname(path) or ".", tool)
            continue
        for directory in walk(tree, path):
            if _is_below(directory, built):
                continue
            names = tree.names(directory)
            tool = next((_BUILT_BY[name] for name in names if name in _BUILT_BY), None) if builds else None
            if tool is not None:
                built[directory] = tool
                continue
            below = [_join(directory, name) for name in names if name.endswith(_SUFFIXES)]
            files.update(file for file in below if tree.kind(file) == "file")
    kept = {file for file in files - skip - {FLEET_FILE} if not _is_below(posixpath.dirname(file) or ".", built)}
    return Selection(tuple(sorted(kept)), tuple(sorted(built.items())))


def _is_below(directory: str, built: Collection[str]) -> bool:
    """Whether a directory is one of ``built`` or in one."""
    return any(one in (".", directory) or directory.startswith(f"{one}/") for one in built)


def _expression(pattern: str) -> str:
    """A regular expression for a glob, in which ``*`` stays within a name and ``**`` crosses directories."""
    text, index = "", 0
    while index < len(pattern):
        mark = pattern[index]
        if pattern.startswith("**/", index):
            text += "(?:[^/]+/)*"
            index += 3
        elif pattern.startswith("**", index):
            text += ".*"
            index += 2
        elif mark == "[" and (end := pattern.find("]", index + 2)) > 0:
            inside = pattern[index + 1 : end].replace("\\", "\\\\")
            text += f"[{'^' + inside[1:] if inside[0] == '!' else inside}]"
            index = end + 1
        else:
            text += {"*": "[^/]*", "?": "[^/]"}.get(mark, re.escape(mark))
            index += 1
    return text


def _join(directory: str, name: str) -> str:
    return name if directory == "." else f"{directory}/{name}"


def _fault(what: str, where: Location, hint: str) -> RepoError:
    return RepoError([Problem(what=what, where=where, hint=hint)])
