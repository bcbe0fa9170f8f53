"""What a run notes beside its decisions: what went wrong, what waits for whom, what would have to be read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kadm.errors import Problem
from kadm.model.objects import ObjectKey
from kadm.schedule.wording import counted

_NOT_ALL_KNOWN = "not all that it serves is known"
_AS_IT_IS = "it is, because it depends"
_AS_THEY_ARE = "they are, because they depend"


@dataclass
class Journal:
    """Grows during one run. ``waiting``: unknown member → objects that are frozen because of it."""

    problems: list[Problem] = field(default_factory=list)
    waiting: dict[str, list[ObjectKey]] = field(default_factory=dict)
    capacity_needed: set[str] = field(default_factory=set)
    """Members whose capacity decides something, and was not read."""

    def all_problems(self, unread: Mapping[str, str]) -> tuple[Problem, ...]:
        """The problems, and one for each unknown member that objects wait for; ``unread``: member → why."""
        waits = [
            Problem(
                what=f"{counted(keys)} left as {_AS_IT_IS if len(keys) == 1 else _AS_THEY_ARE} on this member",
                severity="warning",
                member=name,
                why=unread.get(name, _NOT_ALL_KNOWN),
            )
            for name, keys in sorted(self.waiting.items())
        ]
        return (*self.problems, *waits)
