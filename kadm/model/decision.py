"""What the scheduler decided, and why: the type between schedule and render."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

from kadm.errors import Problem
from kadm.model.objects import ObjectKey
from kadm.model.policy import PolicyRef


class Verdict(Struct, frozen=True):
    """One filter's answer about one member; ``reason`` is empty where it fits."""

    plugin: str
    fits: bool
    reason: str = ""


class MemberDecision(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How one member was judged for one object. ``replicas`` is None where it is not divided or not selected."""

    member: str
    verdicts: tuple[Verdict, ...] = ()
    """Filters in order, up to and with the first that refuses."""
    scores: Mapping[str, int] = {}
    """Plugin → score after normalisation."""
    selected: bool = False
    replicas: int | None = None
    notes: tuple[str, ...] = ()
    """How its number came about, in words."""


Outcome = Literal[
    "scheduled",  # placed anew in this run
    "kept",  # the recorded placement stays: no trigger fired, or it is sticky
    "frozen",  # left exactly as it is live: something needed to decide is missing or wrong
    "unplaced",  # no policy and follows nobody, or no member fits and it is nowhere yet
    "following",  # has no policy of its own: placed by its leaders (render)
]


class Decision(Struct, frozen=True, kw_only=True):
    """Where one object goes."""

    key: ObjectKey
    outcome: Outcome
    policy: PolicyRef | None = None
    placement: Mapping[str, int | None] = {}
    """Member → replicas, None where the object is not divided; sorted by member. For frozen: where it stays."""
    unplaced_replicas: int = 0
    members: tuple[MemberDecision, ...] = ()
    reasons: tuple[str, ...] = ()
    """Why this outcome, in words, most important first."""
    triggers: Mapping[str, str] = {}
    """To be recorded: what the decision was made from."""


class Decisions(Struct, frozen=True):
    """All decisions by key (sorted), and what went wrong on the way."""

    by_key: Mapping[ObjectKey, Decision]
    problems: tuple[Problem, ...] = ()
