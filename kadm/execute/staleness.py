"""Whether a saved plan still holds: it is compared with the one that would be made now. Pure.

Compared is what it does and what it was made from; commit, time and resourceVersions are not: a plan that was reviewed
on a pull request holds after the merge.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from kadm.errors import Problem, StalePlanError
from kadm.model.objects import JsonValue, ObjectKey
from kadm.model.plan import FieldChange, PlannedPlacement
from kadm.model.saved import SavedChange, SavedPlan

_FIELDS_NAMED = 3


class Stale(StalePlanError):
    """The saved plan does not hold any more; ``problems`` says what differs."""

    def __init__(self, differences: Sequence[Problem]) -> None:
        count = len(differences)
        super().__init__(
            "the saved plan is stale: nothing was done",
            why=f"{count} thing{'s' * (count > 1)} changed since it was made",
            hint="kadm plan --out makes it anew",
        )
        self._differences = tuple(differences)

    @property
    def problems(self) -> tuple[Problem, ...]:
        return (self.problem, *self._differences)


def differences(saved: SavedPlan, now: SavedPlan) -> tuple[Problem, ...]:
    """What is not as it was when the plan was saved, in words; empty: it holds."""
    return (*_members(saved, now), *_changes(saved, now), *_placements(saved, now), *_rest(saved, now))


def _members(saved: SavedPlan, now: SavedPlan) -> Iterator[Problem]:
    then, today = ({problem.member for problem in one.unread} for one in (saved, now))
    for name in sorted(then | today | set(saved.members) | set(now.members)):
        if name not in now.members:
            yield Problem(what="it was a member when the plan was made, and is none now", member=name)
        elif name not in saved.members:
            yield Problem(what="it is a member now, and was none when the plan was made", member=name)
        elif name in then and name not in today:
            yield Problem(what="it could not be read when the plan was made, and can be now", member=name)
        elif name in today and name not in then:
            why = next(problem.what for problem in now.unread if problem.member == name)
            yield Problem(what="it could be read when the plan was made, and cannot be now", member=name, why=why)
        elif saved.records.get(name, "") != now.records.get(name, ""):
            yield Problem(
                what="what the scheduler recorded is another", member=name, why="another run of kadm was at work here"
            )


def _changes(saved: SavedPlan, now: SavedPlan) -> Iterator[Problem]:
    then, today = _by_object(saved), _by_object(now)
    for member, key in sorted(then.keys() | today.keys()):
        before, after = then.get((member, key)), today.get((member, key))
        if why := _difference(before, after):
            yield Problem(what=why, member=member, object=str(key))


def _difference(before: SavedChange | None, after: SavedChange | None) -> str:
    if before is None:
        return f"the plan has nothing here, and now there is something to {after.action}" if after else ""
    if after is None:
        return f"there is nothing to {before.action} any more"
    if before.action != after.action:
        return f"the plan would {before.action} it, now there is something to {after.action}"
    if before.desired != after.desired:
        return "the repository wants something else now"
    if before.uid != after.uid:
        return "it was deleted and created again meanwhile"
    if before.live != after.live:
        return "it changed in the member" + _named(before.fields, after.fields)
    if before.fields != after.fields:
        return "an apply would give something else" + _named(before.fields, after.fields)
    return ""


def _named(before: Sequence[FieldChange], after: Sequence[FieldChange]) -> str:
    """Which fields are not as they were; what they hold is not said: it may be a Secret's."""
    then = {field.path: (field.before, field.after, field.manager) for field in before}
    today = {field.path: (field.before, field.after, field.manager) for field in after}
    absent: tuple[JsonValue, ...] = ()
    paths = sorted(path for path in then.keys() | today.keys() if then.get(path, absent) != today.get(path, absent))
    more = f" and {len(paths) - _FIELDS_NAMED} more" if len(paths) > _FIELDS_NAMED else ""
    return f": {', '.join(paths[:_FIELDS_NAMED])}{more}" if paths else ""


def _placements(saved: SavedPlan, now: SavedPlan) -> Iterator[Problem]:
    then, today = ({one.key: one for one in plan.placements} for plan in (saved, now))
    for key in sorted(then.keys() | today.keys()):
        before, after = _where(then.get(key)), _where(today.get(key))
        if before != after:
            yield Problem(
                what=f"it was to go to {before or 'no member'}, now to {after or 'no member'}", object=str(key)
            )


def _where(placement: PlannedPlacement | None) -> str:
    if placement is None:
        return ""
    return ", ".join(
        name if replicas is None else f"{name} ({replicas})" for name, replicas in placement.clusters.items()
    )


def _rest(saved: SavedPlan, now: SavedPlan) -> Iterator[Problem]:
    if saved.moves != now.moves:
        yield Problem(what="other replicas move between members now")
    if saved.waves != now.waves:
        yield Problem(what="the waves of kadm.yaml are others now")


def _by_object(plan: SavedPlan) -> Mapping[tuple[str, ObjectKey], SavedChange]:
    return {(one.cluster, one.key): one for one in plan.changes}
