"""What the comparison of one member collects."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from kadm.compare.permissions import Permissions
from kadm.errors import Problem
from kadm.model.objects import ObjectKey
from kadm.model.plan import Change, Held


class Terms(Struct, frozen=True, kw_only=True):
    """What holds for every object of one member.

    ``coming`` are namespaces and CRDs that the same plan creates; ``adopting`` objects whose manifest permits adoption
    here; ``released`` those whose manifest asks to be released instead of deleted.
    """

    member: str
    manager: str
    set_id: str
    permissions: Permissions
    coming: frozenset[ObjectKey] = frozenset()
    adopting: frozenset[ObjectKey] = frozenset()
    released: frozenset[ObjectKey] = frozenset()


class MemberComparison(Struct, frozen=True, kw_only=True):
    """What would change in one member.

    ``gone`` are recorded objects that are no longer there: only the record lets them go. ``found`` are recorded intents
    whose object turned out to be there, made by kadm: key → uid, for the record to confirm. ``unproved`` are unchanged
    objects that took a dry run to know: the next apply stamps them. ``contested`` counts the objects with fields that
    kadm gave up on: they are not unchanged.
    """

    member: str
    changes: tuple[Change, ...] = ()
    held: tuple[Held, ...] = ()
    unchanged: int = 0
    contested: int = 0
    gone: tuple[ObjectKey, ...] = ()
    found: Mapping[ObjectKey, str] = {}
    unproved: tuple[ObjectKey, ...] = ()
    frozen: Mapping[ObjectKey, str] = {}
    problems: tuple[Problem, ...] = ()


class Findings:
    """Collects what is found, object by object."""

    def __init__(self) -> None:
        self.changes: list[Change] = []
        self.held: list[Held] = []
        self.gone: list[ObjectKey] = []
        self.found: dict[ObjectKey, str] = {}
        self.unproved: list[ObjectKey] = []
        self.problems: list[Problem] = []
        self.frozen: dict[ObjectKey, str] = {}
        self.unchanged = 0
        self.contested = 0

    def freeze(self, key: ObjectKey, why: str, *problems: Problem) -> None:
        """The object stays as it is, and why."""
        self.frozen[key] = why
        self.problems += problems

    def result(self, member: str) -> MemberComparison:
        """All of it, sorted."""
        return MemberComparison(
            member=member,
            changes=tuple(sorted(self.changes, key=lambda change: change.key)),
            held=tuple(sorted(self.held, key=lambda held: held.change.key)),
            unchanged=self.unchanged,
            contested=self.contested,
            gone=tuple(self.gone),
            found=dict(sorted(self.found.items())),
            unproved=tuple(self.unproved),
            frozen=dict(sorted(self.frozen.items())),
            problems=tuple(self.problems),
        )
