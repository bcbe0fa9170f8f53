"""What would become of the fleet's objects if some members were gone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

from kadm.errors import Problem
from kadm.model.objects import ObjectKey

Fate = Literal[
    "moves",  # all that it loses appears elsewhere
    "short",  # some replicas find no place
    "fewer",  # it is copied to every member, and has fewer of them
    "gone",  # no member would hold it
    "stuck",  # it cannot be decided what becomes of it
]


class Loss(Struct, frozen=True, kw_only=True):
    """One object that lost members hold.

    ``before`` and ``after``: member → replicas, None where it is not divided; sorted by member. ``unplaced`` are the
    replicas that find no place, ``why`` says why they do, or why nothing can be said; empty where there is nothing to
    tell.
    """

    key: ObjectKey
    fate: Fate
    before: Mapping[str, int | None]
    after: Mapping[str, int | None]
    unplaced: int = 0
    why: str = ""

    @property
    def replicas_lost(self) -> int:
        """Replicas in the lost members."""
        return sum(number or 0 for name, number in self.before.items() if name not in self.after)

    @property
    def arrives(self) -> Mapping[str, int | None]:
        """Member → replicas more than before; None where it gets an object that is not divided."""
        found: dict[str, int | None] = {}
        for name, number in self.after.items():
            if name not in self.before:
                found[name] = number
            elif (more := (number or 0) - (self.before[name] or 0)) > 0:
                found[name] = more
        return found


class Simulation(Struct, frozen=True, kw_only=True):
    """What is lost with the members ``lost``, sorted by key; ``untouched`` counts the other placed objects.

    ``problems`` are those of objects that cannot be placed as it is, or could not be without the lost members.
    """

    lost: tuple[str, ...]
    losses: tuple[Loss, ...]
    untouched: int
    problems: tuple[Problem, ...] = ()
