"""What would change in one member: desired against live, object by object.

Two steps, since only the member itself knows what an apply would make of an object: ``questions`` names the objects
whose dry run is needed, ``compare_member`` takes the answers and gives the changes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import assert_never

from msgspec import Struct
from msgspec.structs import replace

from kadm.compare.difference import Difference, differences, field_changes, leaves, same, taken_from
from kadm.compare.ownership import own_entry
from kadm.compare.permissions import Permissions
from kadm.compare.standing import Standing, marked_by_another, standing
from kadm.errors import Problem
from kadm.model.applyset import PART_OF
from kadm.model.desired import DesiredMember, DesiredObject
from kadm.model.live import DryRun, LiveMember
from kadm.model.objects import JsonObject, JsonValue, ObjectKey, Path, at
from kadm.model.plan import Action, Change, Held
from kadm.model.record import Record, RecordedObject

FROZEN_NAMESPACE = "something in the same namespace is frozen, and may still need it"


class MemberComparison(Struct, frozen=True, kw_only=True):
    """What would change in one member.

    ``gone`` are recorded objects that are no longer there: only the record lets them go. ``found`` are recorded intents
    whose object turned out to be there, made by kadm: key → uid, for the record to confirm. ``unproved`` are unchanged
    objects that took a dry run to know: the next apply stamps them.
    """

    member: str
    changes: tuple[Change, ...] = ()
    held: tuple[Held, ...] = ()
    unchanged: int = 0
    gone: tuple[ObjectKey, ...] = ()
    found: Mapping[ObjectKey, str] = {}
    unproved: tuple[ObjectKey, ...] = ()
    frozen: Mapping[ObjectKey, str] = {}
    problems: tuple[Problem, ...] = ()


class _Findings:
    """Collects what the comparison of one member finds."""

    def __init__(self) -> None:
        self.changes: list[Change] = []
        self.held: list[Held] = []
        self.gone: list[ObjectKey] = []
        self.found: dict[ObjectKey, str] = {}
        self.unproved: list[ObjectKey] = []
        self.problems: list[Problem] = []
        self.frozen: dict[ObjectKey, str] = {}
        self.unchanged = 0


def questions(desired: DesiredMember, live: LiveMember, *, coming: frozenset[ObjectKey]) -> tuple[DesiredObject, ...]:
    """The desired objects whose dry run decides what changes.

    ``coming`` are namespaces and CRDs that the same plan creates: what needs them cannot be asked about yet.
    """
    return tuple(
        wanted
        for wanted in desired.objects
        if wanted.key not in live.unread
        and wanted.key not in live.settled
        and wanted.key not in desired.frozen
        and not (wanted.key not in live.objects and _needs_coming(wanted.key, coming))
    )


def compare_member(
    desired: DesiredMember,
    live: LiveMember,
    answers: Mapping[ObjectKey, DryRun],
    *,
    record: Record | None,
    fleet: str,
    set_id: str,
    permissions: Permissions,
) -> MemberComparison:
    """Every change that would make the member hold what is desired, and what stands in the way."""
    manager = f"kadm-{fleet}"
    recorded = {entry.key: entry for entry in record.objects} if record else {}
    found = _Findings()
    found.frozen.update(desired.frozen)
    for wanted in desired.objects:
        if wanted.key in desired.frozen:
            continue
        if wanted.key in live.settled:
            found.unchanged += 1
            continue
        if wanted.key in live.unread:
            found.frozen[wanted.key] = "it could not be read"
            found.problems.append(live.unread[wanted.key])
            continue
        _compare_object(
            found,
            wanted,
            live.objects.get(wanted.key),
            recorded.get(wanted.key),
            answers.get(wanted.key),
            member=desired.name,
            manager=manager,
            set_id=set_id,
            permissions=permissions,
        )
    wanted_keys = {wanted.key for wanted in desired.objects}
    for key in sorted(recorded.keys() - wanted_keys):
        _compare_leaving(found, recorded[key], live, member=desired.name, manager=manager)
    return MemberComparison(
        member=desired.name,
        changes=tuple(sorted(found.changes, key=lambda change: change.key)),
        held=tuple(sorted(found.held, key=lambda held: held.change.key)),
        unchanged=found.unchanged,
        gone=tuple(found.gone),
        found=dict(sorted(found.found.items())),
        unproved=tuple(found.unproved),
        frozen=dict(sorted(found.frozen.items())),
        problems=tuple(found.problems),
    )


def _needs_coming(key: ObjectKey, coming: frozenset[ObjectKey]) -> bool:
    namespace = ObjectKey("", "Namespace", "", key.namespace)
    return namespace in coming or any(
        crd.kind == "CustomResourceDefinition" and crd.name.partition(".")[2] == key.group for crd in coming
    )


def _compare_object(
    found: _Findings,
    wanted: DesiredObject,
    live: JsonObject | None,
    recorded: RecordedObject | None,
    answer: DryRun | None,
    *,
    member: str,
    manager: str,
    set_id: str,
    permissions: Permissions,
) -> None:
    key = wanted.key
    if answer is not None and answer.outcome == "refused":
        found.frozen[key] = "the member refuses it"
        if answer.problem is not None:
            found.problems.append(replace(answer.problem, where=wanted.location))
        return
    note = answer.note if answer is not None else ""
    if live is None:
        if answer is None:
            note = "after its namespace or CRD"
        found.changes.append(
            Change(
                cluster=member,
                key=key,
                version=wanted.version,
                action="create",
                fields=field_changes(key, leaves(wanted.object)),
                desired=wanted,
                note=note,
            )
        )
        return
    if live["metadata"].get("deletionTimestamp"):
        found.frozen[key] = "it is being deleted; once it is gone, apply creates it again"
        found.problems.append(
            Problem(
                what="a desired object is being deleted",
                severity="warning",
                member=member,
                object=str(key),
                hint="wait until it is gone, then apply again",
            )
        )
        return
    changed = (
        differences(live, answer.object) if answer and answer.object is not None else _unverified(live, wanted.object)
    )
    takes = taken_from(live, changed, manager)
    change = Change(
        cluster=member,
        key=key,
        version=wanted.version,
        action="update",
        fields=field_changes(key, changed, live=live, manager=manager),
        desired=wanted,
        uid=live["metadata"].get("uid", ""),
        force=bool(takes),
        note=note,
    )
    _classify(
        found,
        change,
        standing(live, recorded, manager),
        live=live,
        answer=answer,
        takes_from_appliers=[holder.manager for holder in takes if holder.applies],
        recorded_uid=recorded.uid if recorded else "",
        set_id=set_id,
        manager=manager,
        permissions=permissions,
    )


def _classify(
    found: _Findings,
    change: Change,
    stands: Standing,
    *,
    live: JsonObject,
    answer: DryRun | None,
    takes_from_appliers: list[str],
    recorded_uid: str,
    set_id: str,
    manager: str,
    permissions: Permissions,
) -> None:
    key = change.key
    match stands:
        case "created" | "adopted":
            if not recorded_uid:
                found.found[key] = change.uid
            if takes_from_appliers and not permissions.may_take_over(takes_from_appliers):
                names = ", ".join(takes_from_appliers)
                held = Held(change=change, why=f"{names} declares these fields too", flag=f"--take-over {names}")
                found.held.append(held)
            elif change.fields and not _only_membership(change):
                found.changes.append(change)
            elif change.fields or not _settled(live, answer, manager):
                found.changes.append(_as(change, "own"))
            else:
                found.unchanged += 1
                found.unproved.append(key)
        case "foreign":
            adopted = _as(change, "adopt")
            other = marked_by_another(live, set_id)
            if other and not permissions.may_take_over([other]):
                held = Held(change=adopted, why=f"it is managed by {other}", flag=f'--take-over "{other}"')
                found.held.append(held)
            elif permissions.may_adopt(key):
                found.changes.append(adopted)
            else:
                found.held.append(
                    Held(
                        change=adopted,
                        why="it exists already, and kadm did not make it",
                        flag=f"--adopt {key.kind.lower()}/{key.name}, or --adopt-all",
                    )
                )
        case "absent":
            raise AssertionError("an absent object is a create")
        case _:
            assert_never(stands)


def _as(change: Change, action: Action) -> Change:
    return replace(change, action=action)


def _only_membership(change: Change) -> bool:
    """Whether only the set's label is missing: not a change of the workload."""
    return all(
        PART_OF in field.path or (field.path == "metadata.labels" and set(field.after or {}) == {PART_OF})
        for field in change.fields
    )


def _settled(live: JsonObject, answer: DryRun | None, manager: str) -> bool:
    """Whether kadm's own entry would stay as it is; without an answer nothing says otherwise."""
    if answer is None or answer.object is None:
        return True
    before, after = own_entry(live, manager), own_entry(answer.object, manager)
    if before is None or after is None:
        return before is after
    return before.get("apiVersion") == after.get("apiVersion") and same(before.get("fieldsV1"), after.get("fieldsV1"))


def _unverified(live: JsonObject, wanted: JsonObject) -> tuple[Difference, ...]:
    """Differences at the desired leaves alone, where the member could not be asked."""
    found = []
    for leaf in leaves(wanted):
        value = _value_at(live, wanted, leaf.path)
        if not same(value, leaf.after) and not (value is None and leaf.after in ({}, [], None, "")):
            found.append(Difference(path=leaf.path, before=value, after=leaf.after))
    return tuple(found)


def _value_at(live: JsonValue, wanted: JsonValue, path: Path) -> JsonValue:
    """The live value where the desired leaf stands; items of keyed lists are found by name, not by position."""
    for step in path:
        if isinstance(step, int) and isinstance(live, list):
            item = wanted[step]
            if isinstance(item, dict) and "name" in item:
                live = next((one for one in live if isinstance(one, dict) and one.get("name") == item["name"]), None)
            else:
                live = live[step] if step < len(live) else None
        else:
            live = at(live, (step,))
        wanted = wanted[step]
    return live


def _compare_leaving(found: _Findings, entry: RecordedObject, live: LiveMember, *, member: str, manager: str) -> None:
    """An object that the record holds and nobody wants any more."""
    key = entry.key
    if key in found.frozen:
        return
    if key in live.unread:
        found.frozen[key] = "it could not be read"
        found.problems.append(live.unread[key])
        return
    there = live.objects.get(key)
    stands = standing(there, entry, manager)
    if there is None or stands in ("absent", "foreign"):
        found.gone.append(key)
        return
    if there["metadata"].get("deletionTimestamp"):
        found.unchanged += 1
        return
    frozen_here = {frozen.namespace for frozen in found.frozen}
    if key.namespace in frozen_here or (key.kind == "Namespace" and key.name in frozen_here):
        found.frozen[key] = FROZEN_NAMESPACE
        return
    found.changes.append(
        Change(
            cluster=member,
            key=key,
            version=entry.version,
            action="delete" if stands == "created" else "release",
            uid=there["metadata"].get("uid", ""),
        )
    )
