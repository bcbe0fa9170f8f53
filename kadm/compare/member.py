"""What would change in one member: desired against live, object by object.

Two steps, since only the member itself knows what an apply would make of an object: ``questions`` names the objects
whose dry run is needed, ``compare_member`` takes the answers and gives the changes.
"""

from __future__ import annotations

from collections.abc import Mapping

from kadm.compare.desired_object import SUSPEND, after_what, compare_desired, is_suspended
from kadm.compare.findings import Findings, MemberComparison, Terms
from kadm.compare.finished import has_finished
from kadm.compare.standing import kept_out, standing
from kadm.model.applyset import other_set
from kadm.model.desired import DesiredMember, DesiredObject
from kadm.model.live import DryRun, LiveMember
from kadm.model.objects import ObjectKey
from kadm.model.plan import Change
from kadm.model.record import Record, RecordedObject

FROZEN_NAMESPACE = "something in the same namespace is frozen, and may still need it"


def questions(
    desired: DesiredMember, live: LiveMember, record: Record | None, terms: Terms
) -> tuple[DesiredObject, ...]:
    """The desired objects whose dry run decides what changes. What comes after a namespace or CRD of the same plan
    cannot be asked about yet."""
    recorded = _by_key(record)
    return tuple(
        wanted
        for wanted in desired.objects
        if wanted.key not in live.unread
        and wanted.key not in live.settled
        and wanted.key not in desired.frozen
        and not is_suspended(wanted.object)
        and (
            wanted.key in live.objects
            or not (after_what(wanted.key, terms.coming) or has_finished(wanted, recorded.get(wanted.key)))
        )
    )


def compare_member(
    desired: DesiredMember,
    live: LiveMember,
    answers: Mapping[ObjectKey, DryRun],
    *,
    record: Record | None,
    terms: Terms,
) -> MemberComparison:
    """Every change that would make the member hold what is desired, and what stands in the way."""
    recorded = _by_key(record)
    found = Findings()
    found.frozen.update(desired.frozen)
    for wanted in desired.objects:
        key = wanted.key
        if key in desired.frozen:
            continue
        if key in live.settled and not is_suspended(wanted.object):
            found.unchanged += 1
        elif key in live.unread:
            found.freeze(key, "it could not be read", live.unread[key])
        else:
            compare_desired(found, wanted, live.objects.get(key), recorded.get(key), answers.get(key), terms)
    wanted_keys = {wanted.key for wanted in desired.objects}
    still = {one["metadata"].get("uid") for key, one in live.objects.items() if key in wanted_keys}
    leaving = []
    for key in sorted(recorded.keys() - wanted_keys):
        if recorded[key].uid and recorded[key].uid in still:
            found.gone.append(key)  # the same object under another API group: not two
        elif not _stays(found, recorded[key], live, terms):
            leaving.append(recorded[key])
    for entry in leaving:  # once all that stays is known: it may need what leaves
        _compare_leaving(found, entry, live, terms)
    return found.result(desired.name)


def _by_key(record: Record | None) -> dict[ObjectKey, RecordedObject]:
    return {entry.key: entry for entry in record.objects} if record else {}


def _stays(found: Findings, entry: RecordedObject, live: LiveMember, terms: Terms) -> bool:
    """Whether an object that nobody wants any more is left as it is all the same: it is unread, or kept by somebody."""
    key = entry.key
    if key in found.frozen:
        return True
    if key in live.unread:
        found.freeze(key, "it could not be read", live.unread[key])
        return True
    there = live.objects.get(key)
    if there is None or standing(there, entry, terms.manager) in ("absent", "foreign"):
        return False
    if there["metadata"].get("deletionTimestamp"):
        return False
    if kept_out(there):
        found.freeze(key, "label kubeadmiral.io/managed: false in the member keeps everybody off it")
    elif is_suspended(there):
        found.freeze(key, f"it is marked {SUSPEND}")
    return key in found.frozen


def _compare_leaving(found: Findings, entry: RecordedObject, live: LiveMember, terms: Terms) -> None:
    """An object that the record holds and nobody wants any more."""
    key = entry.key
    there = live.objects.get(key)
    stands = standing(there, entry, terms.manager)
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
    keeps = entry.keep or key in terms.released
    note = "annotation orphan: all" if stands == "created" and keeps else ""
    if taken_by := other_set(there, terms.set_id):
        keeps, note = True, f"it is in ApplySet {taken_by} now"
    found.changes.append(
        Change(
            cluster=terms.member,
            key=key,
            version=entry.version,
            action="delete" if stands == "created" and not keeps else "release",
            uid=there["metadata"].get("uid", ""),
            note=note,
        )
    )
