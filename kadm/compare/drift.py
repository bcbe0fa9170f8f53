"""Which changes undo what somebody else did in a member, and do not come from git. Pure.

A change is drift where all that it sets was set by others, or where the object was made by kadm and is gone: git says
what it said before. What kadm itself set last and git says otherwise now is no drift.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from msgspec.structs import replace

from kadm.compare.findings import MemberComparison
from kadm.model.objects import ObjectKey
from kadm.model.plan import Change, Held
from kadm.model.record import RecordedObject

REPORTED = "it drifted, and drift is only reported"
CORRECTS = "kadm apply, or kadm watch --drift correct"


def is_drift(change: Change, recorded: Mapping[ObjectKey, RecordedObject]) -> bool:
    """Whether the change only undoes what somebody did in the member. ``recorded`` are the member's objects."""
    if change.action == "update":
        return bool(change.fields) and all(field.manager for field in change.fields)
    mine = recorded.get(change.key)
    return change.action == "create" and mine is not None and bool(mine.uid) and not mine.recreating


def without_drift(
    comparison: MemberComparison, recorded: Mapping[ObjectKey, RecordedObject], *, moving: Collection[ObjectKey]
) -> MemberComparison:
    """The comparison with drift held back instead of corrected. What moves is not: its replicas are git's decision."""
    drifted = [change for change in comparison.changes if change.key not in moving and is_drift(change, recorded)]
    if not drifted:
        return comparison
    held = [*comparison.held, *(Held(change=change, why=REPORTED, flag=CORRECTS) for change in drifted)]
    return replace(
        comparison,
        changes=tuple(change for change in comparison.changes if change not in drifted),
        held=tuple(sorted(held, key=lambda one: (one.change.cluster, one.change.key))),
    )
