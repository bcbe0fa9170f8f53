"""What would change of one desired object in one member."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import assert_never

from msgspec import Struct
from msgspec.structs import replace

from kadm.compare.adoption import Lost, fields_to_fold, foldable, in_template, lost
from kadm.compare.blame import with_blame
from kadm.compare.difference import Difference, differences, field_changes, leaves, same, taken_from
from kadm.compare.field_path import found_in
from kadm.compare.field_set import FieldSet, locate, shown, union
from kadm.compare.findings import Findings, Terms
from kadm.compare.finished import has_finished
from kadm.compare.kept import is_wrong_without, not_kept
from kadm.compare.left_fields import struck, whole, without_fields
from kadm.compare.local import local_differences, wanted_fields
from kadm.compare.ownership import REPAIR_MANAGER, Holder, all_held, created_by, own_entry
from kadm.compare.preparation import generation_of
from kadm.compare.repairs import immutable_fields, leftovers
from kadm.compare.secrecy import is_secret, masked
from kadm.compare.standing import Mark, Standing, kept_out, marked_by_another, standing
from kadm.errors import Problem
from kadm.model.applyset import PART_OF
from kadm.model.desired import DesiredObject, LeftField
from kadm.model.live import DryRun
from kadm.model.objects import JsonObject, ObjectKey, at, path_text
from kadm.model.plan import Action, Change, FieldChange, Held, Preparation
from kadm.model.record import RecordedObject
from kadm.model.workload import FIRST_ORDINAL

RECREATE = "kadm.io/recreate"
SUSPEND = "kadm.io/suspend"
_NAMED_FIELDS = 3


class _Seen(Struct, frozen=True, kw_only=True):
    """One live object beside what is desired of it, and what the two have to do with each other.

    ``fold`` are managers whose entries become kadm's; ``gone`` the fields that this removes; ``stays`` those of the pod
    template that it leaves; ``left_behind`` those that the apply alone would leave; ``contested`` those that others set
    back each time.
    """

    wanted: DesiredObject
    live: JsonObject
    answer: DryRun | None
    stands: Standing
    mark: Mark | None
    changed: tuple[Difference, ...]
    fold: tuple[str, ...]
    wants: FieldSet
    gone: tuple[Lost, ...]
    stays: tuple[Lost, ...]
    left_behind: tuple[Lost, ...]
    strikes: bool
    contested: tuple[LeftField, ...]

    @property
    def key(self) -> ObjectKey:
        return self.wanted.key


def compare_desired(
    found: Findings,
    wanted: DesiredObject,
    live: JsonObject | None,
    recorded: RecordedObject | None,
    answer: DryRun | None,
    terms: Terms,
) -> None:
    """Add to ``found`` what would change of the object, or what stands in the way."""
    key = wanted.key
    if is_suspended(wanted.object):
        found.freeze(key, f"it is marked {SUSPEND}")
    elif live is None and has_finished(wanted, recorded):
        found.unchanged += 1
    elif live is not None and kept_out(live):
        found.freeze(key, "label kubeadmiral.io/managed: false in the member keeps everybody off it")
    elif live is not None and live["metadata"].get("deletionTimestamp") and _is_recreated(wanted, live, recorded):
        found.changes.append(_recreation(wanted, live, terms, note="it is being deleted: awaited, and created again"))
    elif live is not None and live["metadata"].get("deletionTimestamp"):
        found.freeze(
            key, "it is being deleted; once it is gone, apply creates it again", _deleting(wanted, live, terms)
        )
    elif answer is not None and answer.outcome == "refused":
        _refused(found, wanted, live, recorded, answer, terms)
    elif live is None:
        _absent(found, wanted, answer, terms)
    elif _keeps_all(found, wanted, answer, terms):
        seen = _seen(wanted, live, recorded, answer, terms)
        _contests(found, seen, terms)
        _classify(found, seen, recorded, terms)


def is_suspended(obj: JsonObject) -> bool:
    """Whether nothing is written to an object, by its own annotation."""
    return (obj["metadata"].get("annotations") or {}).get(SUSPEND) == "true"


def folds(wanted: DesiredObject, live: JsonObject, recorded: RecordedObject | None, terms: Terms) -> tuple[str, ...]:
    """The managers whose entries in managedFields become kadm's with the next write to the object.

    A namespace is taken into use without being asked about, and what its admins set on it is no business of git's:
    only one that a manifest holds, and whose adoption was permitted, is adopted as other objects are. An adoption that
    the record tells of, and that was not confirmed, is finished.
    """
    stands = standing(live, recorded, terms.manager)
    mark = marked_by_another(live, terms.set_id) if stands == "foreign" else None
    permissions = terms.permissions
    take_over = set(permissions.take_over) - {terms.manager}
    if mark is not None and _taken_over(mark, terms):
        take_over |= set(mark.managers)
    unfinished = recorded is not None and recorded.adopting
    adopting = stands == "foreign" or (stands == "adopted" and (permissions.adopt_prune or unfinished))
    if wanted.key.kind == "Namespace" and (wanted.location is None or not _is_asked_for(wanted.key, terms)):
        adopting = False
    return foldable(live, manager=terms.manager, adopting=adopting, take_over=take_over)


def _absent(found: Findings, wanted: DesiredObject, answer: DryRun | None, terms: Terms) -> None:
    if not _keeps_all(found, wanted, answer, terms):
        return
    found.changes.append(
        Change(
            cluster=terms.member,
            key=wanted.key,
            version=wanted.version,
            action="create",
            fields=field_changes(wanted.key, leaves(whole(wanted))),
            desired=wanted,
            note=answer.note if answer is not None else after_what(wanted.key, terms.coming),
        )
    )


def after_what(key: ObjectKey, coming: Collection[ObjectKey]) -> str:
    """``after namespace shop``: what of the same plan the object waits for; empty where it waits for nothing."""
    if ObjectKey("", "Namespace", "", key.namespace) in coming:
        return f"after namespace {key.namespace}"
    crds = sorted(
        one.name for one in coming if one.kind == "CustomResourceDefinition" and one.name.partition(".")[2] == key.group
    )
    return f"after CRD {', '.join(crds)}" if crds else ""


def _keeps_all(found: Findings, wanted: DesiredObject, answer: DryRun | None, terms: Terms) -> bool:
    """Whether the member keeps what the object cannot do without; what it drops is reported."""
    if answer is None or answer.object is None:
        return True
    dropped = not_kept(wanted, answer.object, member=terms.member, manager=terms.manager)
    if is_wrong_without(dropped):
        found.freeze(wanted.key, "the member does not keep all of it", *dropped)
        return False
    found.problems += dropped
    return True


def _seen(
    wanted: DesiredObject, live: JsonObject, recorded: RecordedObject | None, answer: DryRun | None, terms: Terms
) -> _Seen:
    manager = terms.manager
    stands = standing(live, recorded, manager)
    own: FieldSet = (own_entry(live, manager) or {}).get("fieldsV1") or {}
    fold = folds(wanted, live, recorded, terms)
    strikes = struck(fields_to_fold(live, fold, manager), wanted.left, live)
    after = answer.object if answer is not None else None
    entry = own_entry(after, manager) if after is not None and answer is not None and answer.repair is None else None
    if entry is not None:
        wants: FieldSet = without_fields(entry.get("fieldsV1") or {}, strikes)
    else:
        wants = wanted_fields(union(own, all_held(live)), wanted.object)
    removed = [one for one in lost(live, fold, manager=manager, wants=wants, left=strikes) if _goes(one, after, answer)]
    behind: Sequence[Lost] = ()
    if answer is not None and after is not None and answer.repair is None and answer.without is not None:
        behind = [one for one in leftovers(live, after, wanted.object, manager) if _goes(one, after, answer)]
    prune = terms.permissions.adopt_prune
    return _Seen(
        wanted=wanted,
        live=live,
        answer=answer,
        stands=stands,
        mark=marked_by_another(live, terms.set_id) if stands == "foreign" else None,
        changed=differences(live, after) if after is not None else local_differences(live, wanted.object, manager),
        fold=fold,
        wants=wants,
        gone=tuple(one for one in removed if prune or not in_template(wanted.key, one.elements)),
        stays=tuple(one for one in removed if not prune and in_template(wanted.key, one.elements)),
        left_behind=tuple(behind),
        strikes=bool(strikes),
        contested=_contested(wanted, live),
    )


def _goes(one: Lost, after: JsonObject | None, answer: DryRun | None) -> bool:
    """Whether a field that git lacks really goes: the member sets defaults again by itself."""
    if after is None or answer is None or answer.without is None:
        return True
    return not same(_value(after, one), _value(answer.without, one))


def _value(obj: JsonObject, one: Lost) -> object:
    path = locate(obj, one.elements)
    return None if path is None else at(obj, path)


def _classify(found: Findings, seen: _Seen, recorded: RecordedObject | None, terms: Terms) -> None:
    permissions = terms.permissions
    takes = [one for one in taken_from(seen.live, seen.changed, terms.manager) if one.manager not in seen.fold]
    change = _change(seen, takes, terms)
    appliers = sorted({one.manager for one in takes if one.applies} - permissions.take_over)
    match seen.stands:
        case "created" | "adopted":
            if recorded is not None and (not recorded.uid or recorded.recreating):
                found.found[seen.key] = change.uid
            if appliers:
                found.held.append(_held_by_appliers(change, appliers))
            elif change.fields and not _only_membership(change):
                found.changes.append(change)
            elif change.fields or change.prepare is not None or not _settled(seen, terms.manager):
                found.changes.append(_as(change, "own"))
            else:
                if recorded is not None and recorded.adopting:
                    found.found[seen.key] = change.uid
                found.unchanged += not seen.contested
                found.unproved.append(seen.key)
        case "foreign":
            change = _as(change, "adopt")
            if renumbered := _renumbered(seen):
                found.held.append(Held(change=change, why=renumbered, flag="none"))
            elif seen.mark is not None and not _taken_over(seen.mark, terms):
                why = f"it is managed by {seen.mark.words}"
                found.held.append(Held(change=change, why=why, flag=f"--take-over {seen.mark.tool}"))
            elif appliers:
                found.held.append(_held_by_appliers(change, appliers))
            elif _may_adopt(seen, terms):
                found.changes.append(change)
            else:
                flag = f"--adopt {seen.key.kind.lower()}/{seen.key.name}, or --adopt-all"
                why = "it exists already, and kadm did not make it"
                if created_by(seen.live, terms.manager):
                    why = "kadm made it, and the record does not hold it: kadm record rebuild MEMBER, if that was lost"
                found.held.append(Held(change=change, why=why, flag=flag))
        case "absent":
            raise AssertionError("an absent object is a create")
        case _:
            assert_never(seen.stands)


def _change(seen: _Seen, takes: Sequence[Holder], terms: Terms) -> Change:
    key, live = seen.key, seen.live
    fields = field_changes(key, seen.changed, live=live, manager=terms.manager)
    overwrites = tuple((field.path, field.manager) for field in fields if field.manager)
    return Change(
        cluster=terms.member,
        key=key,
        version=seen.wanted.version,
        action="update",
        fields=tuple(
            sorted([*fields, *(_removal(seen, one) for one in _all_removed(seen))], key=lambda field: field.path)
        ),
        desired=seen.wanted,
        uid=live["metadata"].get("uid", ""),
        force=bool(takes),
        takes=overwrites,
        prepare=_preparation(seen, terms, writes=bool(seen.changed or _all_removed(seen))),
        note="; ".join(_notes(seen)),
    )


def _all_removed(seen: _Seen) -> tuple[Lost, ...]:
    """What goes besides the differences that the apply alone makes."""
    return (*seen.gone, *seen.left_behind)


def _removal(seen: _Seen, one: Lost) -> FieldChange:
    path = shown(one.elements)
    after = None
    if seen.answer is not None and seen.answer.without is not None:
        after = _value(seen.answer.without, one)
    return FieldChange(
        path=path_text(path),
        before=masked(seen.key, path, _value(seen.live, one)),
        after=masked(seen.key, path, after),
        manager="" if one in seen.left_behind or one.manager == REPAIR_MANAGER else one.manager,
    )


def _preparation(seen: _Seen, terms: Terms, *, writes: bool) -> Preparation | None:
    """The patch that goes before the apply, or None. kadm's own repairs are folded only where something is written."""
    asked = [name for name in seen.fold if name != REPAIR_MANAGER]
    fold = seen.fold if asked or seen.gone or writes else ()
    repair = seen.answer.repair if seen.answer is not None else None
    repairs = repair is not None or bool(seen.left_behind)
    if not fold and not seen.strikes and not repairs:
        return None
    behind = [path for one in seen.left_behind if (path := locate(seen.live, one.elements)) is not None]
    return Preparation(
        fold=fold,
        wants=seen.wants if fold else {},
        prune=terms.permissions.adopt_prune,
        strike=tuple(one.path for one in seen.wanted.left) if seen.strikes else (),
        repairs=repairs,
        remove=tuple(repair or ()) + tuple(behind),
        generation=generation_of(seen.live) if repairs else "",
    )


def _notes(seen: _Seen) -> list[str]:
    """What is to be said of a change beside its fields."""
    notes = [seen.answer.note] if seen.answer is not None and seen.answer.note else []
    if seen.strikes:
        notes += [f"leaves {path_text(one.path)}: {one.why}" for one in seen.wanted.left if not one.contested]
    if seen.stays:
        named = ", ".join(path_text(shown(one.elements)) for one in seen.stays[:_NAMED_FIELDS])
        more = len(seen.stays) - _NAMED_FIELDS
        named += f" and {more} more" if more > 0 else ""
        notes.append(f"git lacks {named}, which stay so that no pod restarts; --adopt-prune removes them")
    if seen.answer is not None and seen.answer.repair is not None:
        named = ", ".join(path_text(path) for path in seen.answer.repair[:_NAMED_FIELDS])
        notes.append(f"repaired by a patch before the apply: {named}")
    return notes


def _settled(seen: _Seen, manager: str) -> bool:
    """Whether kadm's own entry would stay as it is; without an answer nothing says otherwise."""
    if seen.answer is None or seen.answer.object is None:
        return True
    before, after = own_entry(seen.live, manager), own_entry(seen.answer.object, manager)
    if before is None or after is None:
        return before is after
    return before.get("apiVersion") == after.get("apiVersion") and same(before.get("fieldsV1"), after.get("fieldsV1"))


def _refused(
    found: Findings,
    wanted: DesiredObject,
    live: JsonObject | None,
    recorded: RecordedObject | None,
    answer: DryRun,
    terms: Terms,
) -> None:
    """The member does not take the object: frozen with the reason, or recreated where the object permits that."""
    problem = with_blame(answer.problem, wanted, answer.faults) if answer.problem is not None else None
    immutable = immutable_fields(answer.faults, secret=is_secret(wanted.key))
    if live is None or not immutable:
        found.freeze(wanted.key, "the member refuses it", *((problem,) if problem is not None else ()))
        return
    ours = standing(live, recorded, terms.manager) in ("created", "adopted")
    if ours and _may_recreate(wanted):
        note = f"{', '.join(immutable)} cannot change: deleted, awaited, and created again"
        found.changes.append(_recreation(wanted, live, terms, note=note))
        return
    fields = ", ".join(immutable)
    told = problem.why if problem is not None else ""
    why = ": ".join(part for part in (_other_values(wanted, live, immutable, terms), told) if part)
    if not ours:
        mark = marked_by_another(live, terms.set_id)
        whose = f"it is managed by {mark.words}" if mark is not None else "it exists already, and kadm did not make it"
        found.freeze(
            wanted.key,
            f"{whose}, and {fields} cannot change",
            Problem(
                what=f"it cannot be adopted: {whose}, and its {fields} cannot change",
                where=wanted.location,
                member=terms.member,
                object=str(wanted.key),
                why=why,
                hint="write what the member has, name the manifest otherwise, or delete the object in the member",
            ),
        )
        return
    found.freeze(
        wanted.key,
        f"{fields} cannot change",
        Problem(
            what=f"{fields} cannot change in place",
            where=wanted.location,
            member=terms.member,
            object=str(wanted.key),
            why=why,
            hint=f'put it back, or annotate the manifest with {RECREATE}: "true": it is then deleted and created again',
        ),
    )


def _other_values(wanted: DesiredObject, live: JsonObject, fields: Sequence[str], terms: Terms) -> str:
    """Where git and the member differ in these fields, in words: the member names whole structs, or a field that it
    derives from another (clusterIPs from clusterIP)."""
    every = [path_text(one.path) for one in local_differences(live, wanted.object, terms.manager)]
    found = [path for path in every if any(_is_below(path, field) for field in fields)]
    if not found:
        found = [path for path in every if any(_is_below(path, field.partition(".")[0]) for field in fields)]
    more = f" and {len(found) - _NAMED_FIELDS} more" if len(found) > _NAMED_FIELDS else ""
    return f"git has another {', '.join(found[:_NAMED_FIELDS])}{more}" if found else ""


def _is_below(path: str, field: str) -> bool:
    """Whether a field is another or stands in it, as they are written."""
    return path == field or path.startswith((f"{field}.", f"{field}["))


def _may_recreate(wanted: DesiredObject) -> bool:
    return (wanted.object["metadata"].get("annotations") or {}).get(RECREATE) == "true"


def _is_recreated(wanted: DesiredObject, live: JsonObject, recorded: RecordedObject | None) -> bool:
    """Whether a run that was killed has begun to make the object anew."""
    begun = recorded is not None and recorded.recreating and recorded.uid == live["metadata"].get("uid")
    return begun and _may_recreate(wanted)


def _recreation(wanted: DesiredObject, live: JsonObject, terms: Terms, *, note: str) -> Change:
    changed = local_differences(live, wanted.object, terms.manager)
    return Change(
        cluster=terms.member,
        key=wanted.key,
        version=wanted.version,
        action="recreate",
        fields=field_changes(wanted.key, changed, live=live, manager=terms.manager),
        desired=wanted,
        uid=live["metadata"].get("uid", ""),
        note=note,
    )


def _contests(found: Findings, seen: _Seen, terms: Terms) -> None:
    """Report the fields that kadm gave up on, where they are not what git says: no apply makes them so."""
    found.contested += bool(seen.contested)
    for one in seen.contested:
        found.problems.append(
            Problem(
                what=f"{path_text(one.path)} is contested, and left as it is",
                where=seen.wanted.location,
                member=terms.member,
                object=str(seen.key),
                why=one.why,
                hint="stop the other writer, leave the field to it (spec.ignore in kadm.yaml), or --take-over it",
            )
        )


def _contested(wanted: DesiredObject, live: JsonObject) -> tuple[LeftField, ...]:
    """The fields that others set back each time, where they hold something else than git says."""
    said = whole(wanted)
    return tuple(
        one
        for one in wanted.left
        if one.contested
        and not same(
            [at(said, path) for path in found_in(said, one.path)], [at(live, path) for path in found_in(live, one.path)]
        )
    )


def _held_by_appliers(change: Change, appliers: Sequence[str]) -> Held:
    flags = " ".join(f"--take-over {name}" for name in appliers)
    named = [field.path for field in change.fields if set(field.manager.split(", ")) & set(appliers)]
    return Held(change=change, why=f"{', '.join(appliers)} declares {', '.join(named)} too", flag=flags)


def _may_adopt(seen: _Seen, terms: Terms) -> bool:
    """Whether the object may become kadm's; whoever takes over what another tool declares, means that."""
    permissions = terms.permissions
    taken_over = seen.mark is not None or bool(permissions.take_over.intersection(seen.fold))
    return taken_over or permissions.may_adopt(seen.key) or seen.key in terms.adopting


def _renumbered(seen: _Seen) -> str:
    """Why a StatefulSet cannot be adopted: its pods, and their volumes, would be others; empty where they stay."""
    if (seen.key.group, seen.key.kind) != ("apps", "StatefulSet"):
        return ""
    now, said = (at(obj, FIRST_ORDINAL) for obj in (seen.live, seen.wanted.object))
    answered = (seen.answer.without or seen.answer.object) if seen.answer is not None else None
    # Without an answer, what git says is all that is known: what it does not say stays.
    then = at(answered, FIRST_ORDINAL) if answered is not None else now if said is None else said
    now, then = now or 0, then or 0
    return f"its pods are numbered from {now} on, and would be from {then} on" if now != then else ""


def _is_asked_for(key: ObjectKey, terms: Terms) -> bool:
    """Whether the adoption of just this object was permitted."""
    return terms.permissions.asks_to_adopt(key) or key in terms.adopting


def _taken_over(mark: Mark, terms: Terms) -> bool:
    return bool({mark.tool, mark.words, *mark.managers} & terms.permissions.take_over)


def _deleting(wanted: DesiredObject, live: JsonObject, terms: Terms) -> Problem:
    waits_for = live["metadata"].get("finalizers") or ()
    return Problem(
        what="a desired object is being deleted",
        why=f"it waits for finalizers {', '.join(waits_for)}" if waits_for else "",
        severity="warning",
        where=wanted.location,
        member=terms.member,
        object=str(wanted.key),
        hint="wait until it is gone, then apply again",
    )


def _as(change: Change, action: Action) -> Change:
    return replace(change, action=action)


def _only_membership(change: Change) -> bool:
    """Whether only the set's label is missing: not a change of the workload."""
    return all(
        PART_OF in field.path or (field.path == "metadata.labels" and set(field.after or {}) == {PART_OF})
        for field in change.fields
    )
