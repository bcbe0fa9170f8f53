"""What a scheduler plugin is: one small protocol per extension point, and the answers that plugins give.

A plugin is a frozen ``msgspec.Struct`` whose fields are its arguments (a profile's ``pluginConfig``), and has the
methods of the extension points that it serves. It knows neither its name nor its weight: the registry and the profile
give them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol, runtime_checkable

from kadm.errors import KadmError
from kadm.model.decision import Step
from kadm.schedule.member import Member
from kadm.schedule.unit import SchedulingUnit

MAX_SCORE = 100


@dataclass(frozen=True, slots=True)
class Answer:
    """A filter's answer about one member, with its reason in words (empty where it fits).

    ``unknown``: the member was not read, and what was not read decides. It never counts as a refusal.
    """

    code: Literal["fits", "refused", "unknown"]
    reason: str = ""


FITS = Answer("fits")


def refuses(reason: str) -> Answer:
    """The member takes no replica of the unit."""
    return Answer("refused", reason)


def cannot_tell(reason: str) -> Answer:
    """The member was not read, and that decides."""
    return Answer("unknown", reason)


@dataclass(frozen=True, slots=True)
class Scored:
    """A member that fits, and the sum of its scores."""

    member: Member
    score: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Shares:
    """How a unit's replicas are divided: member → replicas, overflow included.

    ``notes`` say how each came about, in words; ``steps`` the same as the division went.
    """

    replicas: Mapping[str, int]
    notes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    steps: Mapping[str, tuple[Step, ...]] = field(default_factory=dict)


@runtime_checkable
class FilterPlugin(Protocol):
    """Decides whether a member can take a unit.

    The answer may depend on the unit's rules, group, version and kind, request and migration, on whether the member
    is among its current ones, and on nothing else of the unit: it is computed once for all units that agree in these.
    ``ReadsPodRequests`` adds the pod's whole request.
    """

    def filter(self, unit: SchedulingUnit, member: Member) -> Answer:
        """Whether ``member`` can take ``unit``. Raises PluginError where that cannot be found out."""
        ...


@runtime_checkable
class ScorePlugin(Protocol):
    """Says how good a member is for a unit, compared with other members that fit."""

    def score(self, unit: SchedulingUnit, member: Member) -> int:
        """Higher is better. Raises PluginError."""
        ...

    def normalize(self, scores: Mapping[str, int]) -> Mapping[str, int]:
        """Member → score between 0 and MAX_SCORE, from what ``score`` gave."""
        ...


@runtime_checkable
class AsksAtOnce(Protocol):
    """A plugin whose answers come from elsewhere: it is asked about all members in one call, so that it can wait for
    all answers side by side; and it is asked for each unit, because nothing is known of what its answers depend on."""

    def filter_all(self, unit: SchedulingUnit, members: Sequence[Member]) -> Sequence[Answer]:
        """An answer for each of ``members``, in their order. Raises PluginError."""
        ...

    def score_all(self, unit: SchedulingUnit, members: Sequence[Member]) -> Sequence[int]:
        """A score for each of ``members``, in their order. Raises PluginError."""
        ...


@runtime_checkable
class ReadsPodRequests(Protocol):
    """A filter or score plugin that can be told to look at all that a pod asks for. Then units are told apart by it."""

    @property
    def pod_requests(self) -> bool: ...


@runtime_checkable
class SelectPlugin(Protocol):
    """Orders the members that fit, or leaves out some."""

    def select(self, unit: SchedulingUnit, scored: Sequence[Scored]) -> Sequence[Scored]:
        """The members that go on to the next plugin, in order. Raises PluginError."""
        ...


@runtime_checkable
class ReplicaPlugin(Protocol):
    """Divides a unit's replicas over the selected members."""

    def divide(self, unit: SchedulingUnit, members: Sequence[Member]) -> Shares:
        """``unit.replicas`` (at least 1) divided over ``members``, which are in order. Raises PluginError."""
        ...


Plugin = FilterPlugin | ScorePlugin | SelectPlugin | ReplicaPlugin


class PluginError(KadmError):
    """A plugin cannot decide: the unit is left as it is."""


class CapacityUnknown(PluginError):
    """A plugin needs the capacity of members where it was not read. ``members`` are sorted."""

    def __init__(self, members: Sequence[str]) -> None:
        names = ", ".join(members)
        super().__init__(f"it is decided by free capacity, and that of {names} is not known")
        self.members = tuple(members)


def normalize(scores: Mapping[str, int], *, reverse: bool = False) -> dict[str, int]:
    """Scores in proportion to the highest one, which becomes MAX_SCORE; reversed, it becomes 0 (spec 3.4)."""
    highest = max(scores.values(), default=0)
    if highest <= 0:
        return dict.fromkeys(scores, MAX_SCORE) if reverse else dict(scores)
    scaled = {member: _truncated(MAX_SCORE * score, highest) for member, score in scores.items()}
    return {member: MAX_SCORE - score for member, score in scaled.items()} if reverse else scaled


def _truncated(dividend: int, divisor: int) -> int:
    """Division that rounds toward zero, as Go's does."""
    quotient = abs(dividend) // abs(divisor)
    return quotient if (dividend >= 0) == (divisor >= 0) else -quotient
