"""A plan in a file: what people review, and digests by which it is seen that it still holds (design, section 7)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

from kadm.errors import Problem
from kadm.model.objects import ObjectKey
from kadm.model.plan import (
    Action,
    Change,
    FieldChange,
    Held,
    Move,
    Plan,
    PlannedPlacement,
    PlannedWave,
    Summary,
    Unplaced,
)
from kadm.model.target import Target

SAVED_FORMAT = 1
SAVED_KIND = "SavedPlan"
SAVED_API_VERSION = "kadm.io/v1"


class SavedChange(Struct, frozen=True, kw_only=True):
    """A change without the object itself; values of Secrets in ``fields`` are masked.

    ``desired`` is the digest of the desired object, ``live`` that of the live fields which the difference was computed
    from. Empty: there is none, or it is a Secret's and there is no key to make it with.
    """

    cluster: str
    key: ObjectKey
    version: str
    action: Action
    fields: tuple[FieldChange, ...] = ()
    uid: str = ""
    note: str = ""
    desired: str = ""
    live: str = ""

    def change(self) -> Change:
        """As a plan holds it, to be shown."""
        return Change(
            cluster=self.cluster,
            key=self.key,
            version=self.version,
            action=self.action,
            fields=self.fields,
            uid=self.uid,
            note=self.note,
        )


class SavedHeld(Struct, frozen=True, kw_only=True):
    """A change that a guard holds back."""

    change: SavedChange
    why: str
    flag: str


class SavedFrozen(Struct, frozen=True, kw_only=True):
    """An object that stays exactly as it is in one member."""

    cluster: str
    key: ObjectKey
    reason: str


class SavedPermissions(Struct, frozen=True, kw_only=True):
    """The flags that lift guards, as they were given to ``kadm plan``; names are sorted."""

    allow_deletes: int | None = None
    allow_empty: bool = False
    allow_protected: bool = False
    allow_crds: bool = False
    allow_namespaces: bool = False
    delete_pvcs: bool = False
    adopt_all: bool = False
    adopt: tuple[str, ...] = ()
    adopt_prune: bool = False
    take_over: tuple[str, ...] = ()


class SavedChoices(Struct, frozen=True, kw_only=True):
    """What was asked for beside the repository. ``clusters`` None: all members; ``targets`` None: everything."""

    permissions: SavedPermissions = SavedPermissions()
    clusters: tuple[str, ...] | None = None
    targets: tuple[Target, ...] | None = None
    reschedule: tuple[ObjectKey, ...] | Literal["all"] = ()
    assume_lost: tuple[str, ...] = ()


class SavedPlan(Struct, frozen=True, kw_only=True):
    """A plan as it is saved. Commit and time are for people; they are not compared.

    ``records`` are digests of what the scheduler recorded: member → digest, empty where there is no record.
    ``unpinned`` are the members in which values of Secrets are not compared, for they hold no key for digests yet.
    """

    apiVersion: str = SAVED_API_VERSION  # noqa: N815  # the file's own spelling
    kind: str = SAVED_KIND
    format: int = SAVED_FORMAT
    kadm: str
    """The version that wrote it."""
    fleet: str
    commit: str
    saved: str
    """When, in UTC (RFC 3339)."""
    choices: SavedChoices
    members: tuple[str, ...]
    changes: tuple[SavedChange, ...]
    held: tuple[SavedHeld, ...]
    placements: tuple[PlannedPlacement, ...]
    moves: tuple[Move, ...]
    waves: tuple[PlannedWave, ...]
    summary: Summary
    unread: tuple[Problem, ...]
    unplaced: tuple[Unplaced, ...]
    frozen: tuple[SavedFrozen, ...]
    problems: tuple[Problem, ...]
    records: Mapping[str, str]
    unpinned: tuple[str, ...] = ()

    def plan(self) -> Plan:
        """The plan, to be shown; it cannot be carried out, for it holds no objects."""
        frozen: dict[str, dict[ObjectKey, str]] = {}
        for one in self.frozen:
            frozen.setdefault(one.cluster, {})[one.key] = one.reason
        return Plan(
            fleet=self.fleet,
            commit=self.commit,
            members=self.members,
            changes=tuple(one.change() for one in self.changes),
            held=tuple(Held(change=one.change.change(), why=one.why, flag=one.flag) for one in self.held),
            placements=self.placements,
            moves=self.moves,
            waves=self.waves,
            summary=self.summary,
            unread=self.unread,
            unplaced=self.unplaced,
            frozen=frozen,
            problems=self.problems,
        )
