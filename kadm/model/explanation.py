"""Why an object is where it is: what the stages decided and noted about it, side by side."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

from kadm.errors import Location
from kadm.model.decision import Outcome, Verdict
from kadm.model.objects import JsonValue, ObjectKey
from kadm.model.policy import PolicyKey


class BoundPolicy(Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """A policy of an object: by what it was found, where that stands, and where the policy itself stands.

    ``location`` is None where there is no such policy.
    """

    policy: PolicyKey
    via: Literal["label", "entry", "default"]
    where: Location | None = None
    location: Location | None = None


class CountingAnnotation(Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """An annotation that counts instead of a field of the policy."""

    name: str
    instead_of: str
    where: Location | None = None


class OverriddenField(Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """A field that differs from the manifest. None of before/after means absent; values of Secrets are masked.

    ``policy`` None: the scheduler's share. ``rule`` is the index of the override rule, from 0.
    """

    path: str
    before: JsonValue = None
    after: JsonValue = None
    policy: PolicyKey | None = None
    rule: int | None = None
    location: Location | None = None


class MemberExplanation(Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """One member for one object.

    ``state`` is what becomes of it there: it is written, it is left as it is live, or it is not there. ``because`` says
    why it is there, or why it is left. The rest is as in ``MemberDecision``, with the steps in words.
    """

    member: str
    state: Literal["written", "frozen", "absent"]
    because: str = ""
    filters: tuple[Verdict, ...] = ()
    scores: Mapping[str, int] = {}
    score: int | None = None
    rank: int | None = None
    selected: bool = False
    replicas: int | None = None
    first_ordinal: int | None = None
    """Where the ordinals of a divided StatefulSet begin here."""
    notes: tuple[str, ...] = ()
    steps: tuple[str, ...] = ()
    follows: tuple[ObjectKey, ...] = ()
    fields: tuple[OverriddenField, ...] = ()


class Following(Struct, frozen=True, kw_only=True):
    """The other one of a leader and its follower, and the members where the one brings the other."""

    object: ObjectKey
    members: tuple[str, ...]


class Explanation(Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """Everything about one object. ``members`` has every member of the fleet, sorted."""

    object: ObjectKey
    location: Location
    outcome: Outcome
    policy: BoundPolicy | None = None
    overrides: tuple[BoundPolicy, ...] = ()
    asks: tuple[str, ...] = ()
    annotations: tuple[CountingAnnotation, ...] = ()
    reasons: tuple[str, ...] = ()
    learned: tuple[str, ...] = ()
    """What auto-migration learned and did about it, in words, oldest first."""
    selection: str = ""
    replicas: int | None = None
    unplaced_replicas: int = 0
    members: tuple[MemberExplanation, ...] = ()
    follows: tuple[Following, ...] = ()
    followers: tuple[Following, ...] = ()
