"""When a workload leaves a member that was lost (design, section 9). Pure.

It is opt-in, and time is the evidence: the member has not answered for as long as the policy says. The daemon must be
able to trust its own view: while it reaches no more than half of the members, it is the one that is lost. An object
that is marked as a singleton never runs twice, so it never leaves a member that may still run it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from msgspec import Struct

from kadm.model.objects import ObjectKey

SINGLETON = "kadm.io/singleton"
"""Label or annotation of an object of which no two may ever run: ``"true"``."""


class Leaving(Struct, frozen=True, kw_only=True):
    """One workload leaves one lost member now."""

    key: ObjectKey
    member: str


class Candidate(Struct, frozen=True, kw_only=True):
    """A workload whose policy permits it. ``holders`` are the members that it is placed in; ``after_s`` is the policy's
    evidence; ``left`` are the members that it has left already."""

    key: ObjectKey
    holders: Collection[str]
    after_s: float
    singleton: bool = False
    left: Collection[str] = ()


class FailOver(Struct, frozen=True, kw_only=True):
    """Who leaves now; ``look_again`` is when the next one would, in seconds since the epoch, None: nobody will.

    ``doubt`` says in words why nobody leaves although it is time.
    """

    leaving: tuple[Leaving, ...] = ()
    look_again: float | None = None
    doubt: str = ""


def fail_over(candidates: Collection[Candidate], lost: Mapping[str, float], *, members: int, now: float) -> FailOver:
    """Which workloads leave which members. ``lost``: member → since when it does not answer, seconds since the epoch.

    ``members`` is how many there are in all.
    """
    leaving: list[Leaving] = []
    later: list[float] = []
    for one in sorted(candidates, key=lambda candidate: candidate.key):
        if one.singleton:
            continue
        for member in sorted(set(one.holders) & lost.keys()):
            due = lost[member] + one.after_s
            if due > now:
                later.append(due)
            elif member not in one.left:
                leaving.append(Leaving(key=one.key, member=member))
    if leaving and len(lost) * 2 >= members:
        doubt = f"{len(lost)} of {members} members do not answer: it may be this daemon that is cut off"
        return FailOver(look_again=min(later, default=None), doubt=doubt)
    return FailOver(leaving=tuple(leaving), look_again=min(later, default=None))
