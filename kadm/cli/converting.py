"""Converting files of another tool, and printing what comes of them."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from kadm.cli.console import Console
from kadm.cli.exit_code import ExitCode, exit_code
from kadm.cli.plan_json import API_VERSION, encode
from kadm.cli.plan_text import named
from kadm.errors import Problem, RepoError, UsageError

if TYPE_CHECKING:
    from kadm.convert import Converted, Converting
    from kadm.repo.documents import Document

_SUFFIXES = (".yaml", ".yml", ".json")
_WIDTH = 100


def run_convert(console: Console, files: Sequence[Path], namespace: str, *, as_json: bool) -> ExitCode:
    """Convert all of ``files`` and print it. Raises UsageError for one that is not there, RepoError for faults."""
    from kadm.convert import convert_karmada

    documents, warnings = _documents(files)
    found = convert_karmada(documents, namespace)
    if as_json:
        console.data(encode(_document(found)))
    else:
        for text in _texts(found.converted):
            console.data(text)
    problems = [*warnings, *found.problems]
    if not found.converted:
        problems.append(Problem(what="the files hold nothing of Karmada's that could be converted"))
    console.problems(problems)
    return exit_code(problems=problems)


def _documents(files: Sequence[Path]) -> tuple[list[Document], list[Problem]]:
    """The documents of all files, and the warnings about them."""
    from kadm.repo.documents import read_documents

    documents: list[Document] = []
    problems: list[Problem] = []
    for path in files:
        if not path.exists():
            raise UsageError(f"{path} does not exist")
        below = sorted(one for one in path.rglob("*") if one.suffix in _SUFFIXES) if path.is_dir() else [path]
        for file in below:
            read = read_documents(file.read_bytes(), str(file))
            documents += read.documents
            problems += read.problems
    if any(problem.severity == "error" for problem in problems):
        raise RepoError(problems)
    return documents, problems


def _texts(converted: Sequence[Converted]) -> Iterator[str]:
    """Each document with its comments."""
    from kadm.repo.yaml_writer import to_yaml

    for one in converted:
        yield "".join(f"{line}\n" for line in ("---", *_comments(one))) + to_yaml(one.object)


def _comments(one: Converted) -> Iterator[str]:
    yield f"# From Karmada's {one.origin} ({one.where})."
    if one.label:
        yield f"# An object is bound to it by the label {one.label}."
    if one.bound:
        yield from _comment(f"Of these files: {', '.join(named(key) for key in one.bound)}.")
    if one.selects:
        yield from _comment(f"Karmada bound to it: {'; '.join(one.selects)}.")
    for note in one.notes:
        yield from _comment(f"Note: {note}.")


def _comment(text: str) -> list[str]:
    return textwrap.wrap(
        text, _WIDTH, initial_indent="# ", subsequent_indent="#   ", break_long_words=False, break_on_hyphens=False
    )


def _document(found: Converting) -> dict[str, Any]:
    return {
        "apiVersion": API_VERSION,
        "kind": "Conversion",
        "converted": [
            {
                "object": one.object,
                "origin": one.origin,
                "where": str(one.where),
                "notes": list(one.notes),
                "label": one.label,
                "selects": list(one.selects),
                "bound": [msgspec.to_builtins(key) for key in one.bound],
            }
            for one in found.converted
        ],
        "problems": [msgspec.to_builtins(problem) for problem in found.problems],
    }
