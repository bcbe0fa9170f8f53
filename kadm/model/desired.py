"""What each member must hold: the type between render and compare."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from kadm.errors import Location, Problem
from kadm.model.objects import JsonObject, JsonValue, ObjectKey, Path
from kadm.model.policy import PolicyKey


class Provenance(Struct, frozen=True, kw_only=True):
    """Why one field of a rendered object differs from the manifest. ``policy`` None: the scheduler's replicas."""

    path: Path
    before: JsonValue
    after: JsonValue
    policy: PolicyKey | None = None
    rule: int | None = None
    """Index of the override rule, from 0."""
    location: Location | None = None


class LeftField(Struct, frozen=True, kw_only=True):
    """A field that kadm leaves to somebody else in one member, and to whom or why, in words.

    ``path`` may hold ``[key=value]`` for the item of a keyed list, and ``*`` for every key or item.
    """

    path: Path
    why: str
    contested: bool = False
    """Somebody else set it back each time that kadm took it."""


class DesiredObject(Struct, frozen=True, kw_only=True):
    """One object as a member must hold it, ready to be applied (without the ApplySet label).

    ``digest`` is a short hash of the object's canonical JSON; never printed for Secrets. ``location`` is None for what
    kadm itself adds (a namespace that no manifest holds). ``replicas_divided`` says that replicas come from the
    scheduler.
    """

    key: ObjectKey
    version: str
    object: JsonObject
    digest: str
    location: Location | None = None
    provenance: tuple[Provenance, ...] = ()
    because: str = ""
    """Why it is in this member, in words: its policy, whom it follows, or what needs the namespace."""
    left: tuple[LeftField, ...] = ()
    """Fields that ``object`` does not hold, for they are left to others."""
    complete: JsonObject | None = None
    """What a create sends, where that is more than ``object``: fields left to others are sent once."""


class DesiredMember(Struct, frozen=True, kw_only=True):
    """What one member must hold. Sorted by key. ``frozen`` objects stay exactly as they are live: key → reason."""

    name: str
    objects: tuple[DesiredObject, ...]
    frozen: Mapping[ObjectKey, str] = {}
    replicas: Mapping[ObjectKey, int | None] = {}
    """Workload → the scheduler's number, None where it is not divided; only objects with a policy of their own."""


class Desired(Struct, frozen=True):
    """Every member of the fleet by name (sorted), and what went wrong on the way.

    ``unplaced`` are the manifests that go nowhere: key → reason. ``follows`` says who needs whom where: follower →
    member → the objects that it follows there.
    """

    members: Mapping[str, DesiredMember]
    unplaced: Mapping[ObjectKey, str] = {}
    follows: Mapping[ObjectKey, Mapping[str, tuple[ObjectKey, ...]]] = {}
    problems: tuple[Problem, ...] = ()
