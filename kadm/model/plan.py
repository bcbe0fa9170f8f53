"""What would change in the members: the type between compare, review and execute."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

from kadm.errors import Problem
from kadm.model.desired import DesiredObject
from kadm.model.objects import JsonValue, ObjectKey, Path

Action = Literal[
    "create",
    "update",
    "delete",
    "adopt",  # it exists, kadm did not make it: kadm's fields are applied, the record says adopted
    "release",  # it leaves the repository but was adopted: let go, not deleted
    "own",  # the live values are right already, kadm only takes ownership
    "recreate",  # an immutable field changes, and the object permits it: deleted, awaited, created
]


class FieldChange(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One field that changes. ``path`` is ``path_text``; None of before/after means absent. Secret values are masked
    before they come here. ``manager`` names who set the live value where that is not kadm."""

    path: str
    before: JsonValue = None
    after: JsonValue = None
    manager: str = ""


class Preparation(Struct, frozen=True, kw_only=True):
    """What one patch does to a live object before it is applied: what apply itself cannot express.

    ``fold``: managers whose managedFields entries become kadm's, so that what git lacks of them is removed. ``wants``
    are kadm's fields after the apply (FieldsV1). ``prune``: fields of a pod template that git lacks are folded too.
    ``strike``: fields that kadm's entry lets go, as in ``LeftField``. ``repairs``: values are set to what git says by
    the patch itself, and ``remove`` (paths in the live object) taken out; that holds for the live object of this
    ``generation`` (of this resourceVersion where its kind has none).
    """

    fold: tuple[str, ...] = ()
    wants: Mapping[str, JsonValue] = {}
    prune: bool = False
    strike: tuple[Path, ...] = ()
    repairs: bool = False
    remove: tuple[Path, ...] = ()
    generation: str = ""


class Change(Struct, frozen=True, kw_only=True):
    """One object that changes in one member.

    ``desired`` is None for delete and release. ``uid`` is the live object's, empty for a create. ``force``: the plan
    names managers whose fields it takes, so that apply may force. ``takes`` are these fields, as the plan names them,
    each with its managers. ``prepare`` is None where the apply alone does it.
    """

    cluster: str
    key: ObjectKey
    version: str
    action: Action
    fields: tuple[FieldChange, ...] = ()
    desired: DesiredObject | None = None
    uid: str = ""
    force: bool = False
    takes: tuple[tuple[str, str], ...] = ()
    prepare: Preparation | None = None
    note: str = ""
    """E.g. ``after CRD``, ``unverified (no permission to patch)``; empty where there is nothing to say."""


class Move(Struct, frozen=True, kw_only=True):
    """Replicas of one workload that leave some members and appear in others in the same plan."""

    key: ObjectKey
    leaves: Mapping[str, int]
    """Member → how many replicas fewer."""
    arrives: Mapping[str, int]
    """Member → how many replicas more."""
    whole: bool = False
    """It is not divided: the numbers count copies, 1 in each member."""


class PlannedPlacement(Struct, frozen=True, kw_only=True):
    """Where a workload goes: member → replicas, None where it is not divided."""

    key: ObjectKey
    clusters: Mapping[str, int | None]


class PlannedWave(Struct, frozen=True, kw_only=True):
    """Members (sorted) that are written together; ``pause``: the waves after it wait for a person."""

    name: str
    members: tuple[str, ...]
    pause: bool = False


class Held(Struct, frozen=True, kw_only=True):
    """A change that a guard holds back: ``flag`` permits it."""

    change: Change
    why: str
    flag: str


class Unplaced(Struct, frozen=True, kw_only=True):
    """What fits nowhere. ``replicas`` is None where the whole object goes nowhere, else how many of it do."""

    key: ObjectKey
    replicas: int | None
    why: str


class Summary(Struct, frozen=True, kw_only=True):
    """Counts of changes by action over all members.

    ``unchanged`` counts desired objects that need nothing; ``contested`` those with fields that somebody else set back
    each time, which are left as they are and not as git says.
    """

    create: int = 0
    update: int = 0
    delete: int = 0
    adopt: int = 0
    release: int = 0
    own: int = 0
    recreate: int = 0
    unchanged: int = 0
    contested: int = 0


class Plan(Struct, frozen=True, kw_only=True):
    """Everything that apply would do. Changes are sorted by cluster, then by key."""

    fleet: str
    commit: str
    """Empty outside git."""
    members: tuple[str, ...] = ()
    """Every member that the plan is about, sorted; those that could not be read are among them."""
    changes: tuple[Change, ...] = ()
    held: tuple[Held, ...] = ()
    placements: tuple[PlannedPlacement, ...] = ()
    moves: tuple[Move, ...] = ()
    waves: tuple[PlannedWave, ...] = ()
    """In order; every member is in one. Empty where kadm.yaml names none: all members side by side."""
    summary: Summary = Summary()
    unread: tuple[Problem, ...] = ()
    """Members that could not be read: nothing is planned there."""
    unplaced: tuple[Unplaced, ...] = ()
    """Sorted by key."""
    frozen: Mapping[str, Mapping[ObjectKey, str]] = {}
    """Member → object → reason."""
    problems: tuple[Problem, ...] = ()
