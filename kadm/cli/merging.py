"""Problems that are the same in several members, as one: what people read is the problem, not its copies."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from kadm.errors import Problem

NAMED = 12
"""So many members are named."""


def merged(problems: Iterable[Problem]) -> list[Problem]:
    """The problems in order, each once; its ``member`` names all members that have it, or how many more."""
    members: dict[Problem, list[str]] = {}
    for problem in dict.fromkeys(problems):
        members.setdefault(replace(problem, member=""), []).append(problem.member)
    return [replace(problem, member=_listed(names)) for problem, names in members.items()]


def _listed(names: list[str]) -> str:
    more = len(names) - NAMED
    return ", ".join(names[:NAMED]) + (f" and {more} more" if more > 0 else "")
