"""What a kustomization is built from, so far as kadm must know: only files of the repository.

kustomize itself keeps files within the directory that names them, but takes directories from anywhere, and fetches what
looks like a URL. A remote base changes without a commit, so no plan could be trusted; it is refused before kustomize
runs, at the line that names it.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from kadm.errors import Problem, RepoError
from kadm.model.objects import JsonValue, Path, at
from kadm.repo.documents import Document, read_documents
from kadm.repo.tree import Tree

KUSTOMIZATION_FILES = ("kustomization.yaml", "kustomization.yml", "Kustomization")
"""The names that make a directory a kustomization, in kustomize's order."""

_DIRECTORIES = ("resources", "bases", "components")
_LISTS = ("crds", "configurations", "generators", "transformers", "validators", "patchesStrategicMerge")
_INSIDE: tuple[tuple[str, str], ...] = (
    ("patches", "path"),
    ("patchesJson6902", "path"),
    ("replacements", "path"),
    *(
        (generator, files)
        for generator in ("configMapGenerator", "secretGenerator")
        for files in ("env", "envs", "files")
    ),
)
_URL = re.compile(r"(?:[A-Za-z0-9_-]+=)?(?:[a-z][a-z0-9+.-]*::?//|git@|git::)")
_REMOTE = re.compile(r"(?:github|gitlab)\.com[:/]|.*(?:\.git\b|\?ref=|//)")
"""What kustomize would fetch with git, if there is no file of that name."""


def kustomization_file(tree: Tree, directory: str) -> str | None:
    """The kustomization in a directory, None where there is none."""
    names = tree.names(directory)
    return next((_target(directory, name) for name in KUSTOMIZATION_FILES if name in names), None)


def built_from(tree: Tree, directory: str) -> tuple[list[str], list[Problem]]:
    """The directories that the kustomization in ``directory`` takes files from, itself first, and what speaks against
    building it."""
    found: list[str] = []
    problems: list[Problem] = []
    waiting = [directory]
    while waiting:
        here = waiting.pop()
        if here in found:
            continue
        found.append(here)
        file = kustomization_file(tree, here)
        if file is None:
            continue
        read = read_documents(tree.read(file), file)
        problems += read.problems
        for document in read.documents:
            problems += [_remote(text, document, path) for path, text in _paths(document) if _URL.match(text)]
            for path, text in _texts(document, _DIRECTORIES):
                if _URL.match(text):
                    problems.append(_remote(text, document, path))
                elif (said := _local(tree, here, text, document, path)) is not None:
                    problems.append(said)
                elif tree.kind(target := _target(here, text)) == "directory":
                    waiting.append(target)
    return found, problems


def _paths(document: Document) -> Iterator[tuple[Path, str]]:
    """Where files are named, beside ``resources`` and the like."""
    yield from _texts(document, _LISTS)
    for field, inner in _INSIDE:
        items = document.value.get(field)
        for index, item in enumerate(items if isinstance(items, list) else ()):
            value = item.get(inner) if isinstance(item, dict) else None
            if isinstance(value, str):
                yield (field, index, inner), value
            for place, text in enumerate(value if isinstance(value, list) else ()):
                if isinstance(text, str):
                    yield (field, index, inner, place), text
    schema: JsonValue = at(document.value, ("openapi", "path"))
    if isinstance(schema, str):
        yield ("openapi", "path"), schema


def _texts(document: Document, fields: tuple[str, ...]) -> Iterator[tuple[Path, str]]:
    for field in fields:
        items = document.value.get(field)
        for index, text in enumerate(items if isinstance(items, list) else ()):
            if isinstance(text, str) and "\n" not in text:  # of several lines: an object, written right here
                yield (field, index), text


def _target(directory: str, text: str) -> str:
    return posixpath.normpath(posixpath.join(directory, text))


def _local(tree: Tree, directory: str, text: str, document: Document, path: Path) -> Problem | None:
    """What is wrong with what should be a file or directory of the repository."""
    where = document.locate(path)
    if posixpath.isabs(text):
        return Problem(what=f"{text} is an absolute path", where=where, hint="name it relative to this file")
    try:
        kind = tree.kind(_target(directory, text))
    except RepoError as error:
        return Problem(what=f"{text} cannot be used", where=where, why=error.problem.why or error.problem.what)
    if kind != "absent":
        return None
    if _REMOTE.match(text):
        return _remote(text, document, path)
    return Problem(what=f"{text} does not exist", where=where, hint="create it, or correct the path")


def _remote(text: str, document: Document, path: Path) -> Problem:
    return Problem(
        what=f"{text} is outside of the repository",
        where=document.locate(path),
        why="what is fetched may change without a commit",
        hint="copy it into the repository, and name the copy",
    )
