"""Live objects of one member, and a member's answers to dry runs: what compare is given beside the desired state."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

from kadm.errors import Problem
from kadm.model.objects import JsonObject, ObjectKey


class LiveMember(Struct, frozen=True, kw_only=True):
    """The desired and the recorded objects of one member as they are live.

    A key in neither map is absent for certain: the member was asked and said so. ``unread`` objects are neither present
    nor absent.
    """

    name: str
    objects: Mapping[ObjectKey, JsonObject]
    unread: Mapping[ObjectKey, Problem] = {}


class DryRun(Struct, frozen=True, kw_only=True):
    """A member's answer to the dry run of one object.

    ``answered``: ``object`` is what the member would store. ``refused``: it would not take the object (``problem``).
    ``impossible``: it could not be asked (no permission to patch, the namespace or CRD is not there yet, a webhook that
    refuses dry runs); ``note`` says so in words.
    """

    outcome: Literal["answered", "refused", "impossible"]
    object: JsonObject | None = None
    problem: Problem | None = None
    note: str = ""
