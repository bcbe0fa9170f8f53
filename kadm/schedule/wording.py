"""How lists of members, objects and reasons are worded."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from kadm.model.decision import MemberDecision
from kadm.model.objects import ObjectKey

_NAMED = 5
"""How many members, objects or reasons a message names before it only counts."""


def refusals(decisions: Iterable[MemberDecision]) -> str:
    """Why members were refused, members with the same reason together: ``eu, us: …; ap: …``."""
    names_by_reason: dict[str, list[str]] = {}
    for decision in decisions:
        if decision.verdicts and not decision.verdicts[-1].fits:
            names_by_reason.setdefault(decision.verdicts[-1].reason, []).append(decision.member)
    return _joined([f"{listed(names)}: {reason}" for reason, names in names_by_reason.items()]) or "it has no members"


def shares(notes: Mapping[str, tuple[str, ...]]) -> str:
    """How each member came to its number: ``eu: weight 1/2 (max 3): 3 of 9; us: …``."""
    return _joined([f"{name}: {', '.join(entry)}" for name, entry in sorted(notes.items()) if entry])


def joined(reasons: Mapping[str, str]) -> str:
    """A reason for each member: ``eu: …; us: …``."""
    return _joined([f"{name}: {reason}" for name, reason in reasons.items()])


def listed(names: Sequence[str]) -> str:
    """The first names, and how many more there are."""
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more


def counted(keys: Sequence[ObjectKey]) -> str:
    """How many objects, and the first of them by name."""
    return f"{len(keys)} object{'s' if len(keys) > 1 else ''} ({listed([str(key) for key in keys])})"


def _joined(reasons: Sequence[str]) -> str:
    more = [f"{len(reasons) - _NAMED} more"] if len(reasons) > _NAMED else []
    return "; ".join([*reasons[:_NAMED], *more])
