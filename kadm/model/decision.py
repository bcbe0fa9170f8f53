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


Cut = Literal[
    "",
    "total",  # no more replicas are left
    "maximum",  # the most that the member may get
    "limit",  # what the object's migration-configuration allows there
    "estimate",  # what the member is believed to be able to run
]
"""What kept a member from getting all that a step had for it; empty: nothing."""


class Step(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One step on the way to a member's number.

    ``replicas`` is what the member has after it, ``asked`` what it would have had but for ``cut``. ``round`` counts
    from 1 where what remains is shared by weight again and again.
    """

    what: Literal[
        "minimum",  # the minimum comes first
        "share",  # a share of what remains, by weight
        "fill",  # Binpack: as much of what remains as goes in
        "running",  # what runs stays: the plan starts from it, and not from the division so far
        "more",  # it grows toward that division
        "less",  # it shrinks toward that division
        "waits",  # growth is put off: pods are on their way to a node
        "overflow",  # more stays than the member is believed to be able to run
    ]
    replicas: int
    asked: int | None = None
    cut: Cut = ""
    round: int = 0


class MemberDecision(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How one member was judged for one object. ``replicas`` is None where it is not divided or not selected."""

    member: str
    verdicts: tuple[Verdict, ...] = ()
    """Filters in order, up to and with the first that refuses."""
    scores: Mapping[str, int] = {}
    """Plugin → score after normalisation; empty where scores did not decide, and so were not asked for."""
    score: int | None = None
    """What it was ranked by: the weighted sum of its scores, or its priority. None: the order decided nothing."""
    rank: int | None = None
    """Its place in that order, from 1."""
    selected: bool = False
    replicas: int | None = None
    notes: tuple[str, ...] = ()
    """How its number came about, in words."""
    steps: tuple[Step, ...] = ()
    """The same step by step, as the division went."""


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
    replicas: int | None = None
    """The total that was to be divided; None where it is not divided."""
    blocks: Mapping[str, int] = {}
    """Of a StatefulSet: member → number of its block of ordinals, also of members that it left; absent means 0."""
    unplaced_replicas: int = 0
    joined: tuple[str, ...] = ()
    """Members that joined since it was placed, where its policy does not count that."""
    members: tuple[MemberDecision, ...] = ()
    reasons: tuple[str, ...] = ()
    """Why this outcome, in words, most important first."""
    asks: tuple[str, ...] = ()
    """What its policy and its annotations ask for, in words."""
    annotations: tuple[str, ...] = ()
    """Annotations of the object that count instead of a field of its policy."""
    learned: tuple[str, ...] = ()
    """What auto-migration learned and did about it, in words, oldest first."""
    selection: str = ""
    """How members were chosen among those that fit, in words; empty where none were."""
    triggers: Mapping[str, str] = {}
    """To be recorded: what the decision was made from."""


class Decisions(Struct, frozen=True):
    """All decisions by key (sorted), and what went wrong on the way."""

    by_key: Mapping[ObjectKey, Decision]
    problems: tuple[Problem, ...] = ()
    capacity_needed: tuple[str, ...] = ()
    """Members whose capacity decides something and was not observed, sorted: what needs it is frozen. Whoever plans
    reads nodes and pods of these members alone, and schedules again."""
