"""The one patch that goes before an apply: entries of managedFields joined or reduced, leftovers taken out."""

from __future__ import annotations

from collections.abc import Iterable

from kadm.compare.adoption import LAST_APPLIED, folded
from kadm.compare.field_set import FieldSet
from kadm.compare.left_fields import struck, without_fields
from kadm.compare.merging import guarded, merged, patch_between, taken_out
from kadm.compare.ownership import all_held, entries, own_entry
from kadm.compare.repairs import let_go, outermost
from kadm.model.desired import LeftField
from kadm.model.objects import JsonObject, ObjectKey
from kadm.model.plan import Preparation


def generation_of(live: JsonObject) -> str:
    """What moves when the desired state of an object does: its generation, or resourceVersion where it has none."""
    metadata = live["metadata"]
    return str(metadata.get("generation") or metadata.get("resourceVersion") or "")


def prepared(
    live: JsonObject, sent: JsonObject, preparation: Preparation, *, key: ObjectKey, manager: str
) -> list[JsonObject]:
    """The JSON patch (RFC 6902) that prepares a live object for the apply of ``sent``; empty where nothing is to do.

    It holds the object's resourceVersion, so that one that changed meanwhile is a 409.
    """
    target = live
    left = [LeftField(path=path, why="") for path in preparation.strike]
    if preparation.repairs:
        metadata = {name: sent["metadata"][name] for name in ("labels", "annotations") if name in sent["metadata"]}
        own: FieldSet = (own_entry(live, manager) or {}).get("fieldsV1") or {}
        own = without_fields(own, struck(own, left, live))
        gone = outermost({*preparation.remove, *let_go(live, sent, own, manager)})
        target = taken_out(merged(live, {**sent, "metadata": metadata}, all_held(live)), gone)
    managed = entries(live)
    if preparation.fold:
        managed = folded(
            live, preparation.fold, manager=manager, wants=preparation.wants, key=key, prune=preparation.prune
        )
        target = taken_out(target, [("metadata", "annotations", LAST_APPLIED)])
    if preparation.strike:
        managed = [_without(entry, left, live, manager) for entry in managed]
    if managed != entries(live):
        target = {**target, "metadata": {**target["metadata"], "managedFields": managed}}
    return guarded(patch_between(live, target), live)


def striking(live: JsonObject, left: Iterable[LeftField], manager: str) -> list[JsonObject]:
    """The JSON patch by which kadm's entry lets fields go that are left to others; empty where it holds none."""
    preparation = Preparation(strike=tuple(one.path for one in left))
    return prepared(live, live, preparation, key=ObjectKey("", "", "", ""), manager=manager)


def _without(entry: JsonObject, left: list[LeftField], live: JsonObject, manager: str) -> JsonObject:
    if (entry.get("manager"), entry.get("operation")) != (manager, "Apply"):
        return entry
    fields: FieldSet = entry.get("fieldsV1") or {}
    return {**entry, "fieldsV1": without_fields(fields, struck(fields, left, live))}
