"""Templates among the manifests: what stands between braces is no YAML, and the complaint about it misleads."""

from __future__ import annotations

import re
from collections.abc import Iterable

from msgspec.structs import replace

from kadm.errors import Problem

_PLACEHOLDER = re.compile(rb"\{\{-?\s*[.$\w/].*\}\}")
_LINES_BEFORE = 1
"""A fault may show on the line after the one where it began."""


def with_template_hints(problems: Iterable[Problem], data: bytes) -> tuple[Problem, ...]:
    """The problems of a file with content ``data``; those at a template's placeholder say what that is."""
    found = tuple(problems)
    if not found or not _PLACEHOLDER.search(data):
        return found
    lines = data.split(b"\n")
    return tuple(_hinted(problem, lines) for problem in found)


def _hinted(problem: Problem, lines: list[bytes]) -> Problem:
    if problem.where is None or problem.severity != "error":
        return problem
    end = problem.where.line
    near = lines[max(0, end - 1 - _LINES_BEFORE) : end]
    if not any(map(_PLACEHOLDER.search, near)):
        return problem
    hint = "`{{ }}` is a template's: a Helm chart? kadm.yaml names the directory of its Chart.yaml, not its files"
    return replace(problem, why="", hint=hint)
