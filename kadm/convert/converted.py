"""What a conversion gives."""

from __future__ import annotations

from msgspec import Struct

from kadm.errors import Location, Problem
from kadm.model.objects import JsonObject, ObjectKey


class Converted(Struct, frozen=True, kw_only=True):
    """One document of another tool as one of ours. ``notes`` say what the result does not do as the original did.

    ``label`` is the label that binds an object to it, empty for what nothing is bound to; ``selects`` are the
    original's selectors in words, ``bound`` the objects among the files that they hit.
    """

    object: JsonObject
    origin: str
    where: Location
    notes: tuple[str, ...] = ()
    label: str = ""
    selects: tuple[str, ...] = ()
    bound: tuple[ObjectKey, ...] = ()


class Converting(Struct, frozen=True, kw_only=True):
    """All that was converted, in the order of the files, and what could not be."""

    converted: tuple[Converted, ...]
    problems: tuple[Problem, ...] = ()
