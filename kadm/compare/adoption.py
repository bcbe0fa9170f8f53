"""Taking over the fields that other tools' entries in managedFields hold, so that later removals in git work.

Without it a field that ``kubectl apply`` once set stays for ever: its entry still owns it, and no plan shows it
(api-servers, 21). Client libraries do the same when they move objects to server-side apply.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from itertools import zip_longest
from typing import Any

from msgspec import Struct

from kadm.compare.field_set import Elements, FieldSet, holds, locate, members, only, touches, union
from kadm.compare.ownership import REPAIR_MANAGER, entries, is_own, own_entry
from kadm.model.objects import JsonObject, JsonValue, ObjectKey, Path
from kadm.model.workload import workload_kind

LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"

_LAST_APPLIED_FIELD = ("f:metadata", "f:annotations", f"f:{LAST_APPLIED}")
_FOLDED = frozenset({"before-first-apply", "helm", "Helm", REPAIR_MANAGER})


class Lost(Struct, frozen=True):
    """A field that git lacks and folded entries alone hold: the apply after the fold removes it.

    ``path`` is its place in the live object.
    """

    elements: Elements
    path: Path
    manager: str


def foldable(live: JsonObject, *, manager: str, adopting: bool, take_over: Collection[str]) -> tuple[str, ...]:
    """The managers whose entries become kadm's, sorted: on adoption those of kubectl, helm and objects from before
    managedFields, always those of kadm's own repairs and of what the user takes over."""
    return tuple(
        sorted(
            {
                name
                for entry in entries(live)
                if not entry.get("subresource") and not is_own(entry, manager)
                if (name := entry.get("manager", "")) == REPAIR_MANAGER
                or name in take_over
                or (adopting and (name.startswith("kubectl") or name in _FOLDED))
            }
        )
    )


def fields_to_fold(live: JsonObject, fold: Collection[str], manager: str) -> FieldSet:
    """The fields that become kadm's, with those that are already."""
    fields: FieldSet = (own_entry(live, manager) or {}).get("fieldsV1") or {}
    version = _version(live, fold, manager)
    for entry in entries(live):
        if _is_folded(entry, fold, manager, version):
            fields = union(fields, entry.get("fieldsV1") or {})
    return fields


def lost(
    live: JsonObject,
    fold: Collection[str],
    *,
    manager: str,
    wants: FieldSet,
    left: Collection[Elements] = (),
) -> tuple[Lost, ...]:
    """What is removed once these managers' entries are kadm's; items of keyed lists whole.

    ``left`` are fields that kadm's entry lets go in the same patch.
    """
    theirs = [entry for entry in entries(live) if _is_folded(entry, fold, manager, _version(live, fold, manager))]
    others = [entry for entry in entries(live) if entry not in theirs and not is_own(entry, manager)]
    found: list[Lost] = []
    whole: set[Elements] = set()
    for elements, name, is_leaf in _fields(theirs):
        if touches(wants, elements) or elements == _LAST_APPLIED_FIELD:
            continue
        if any(touches(other.get("fieldsV1") or {}, elements) for other in others):
            continue
        if any(elements[: len(item)] == item for item in (*whole, *left)):
            continue
        path = locate(live, elements)
        if path is None:
            continue
        if elements[-1][:2] in ("k:", "v:"):
            whole.add(elements)
        elif not is_leaf:
            continue  # it goes with the last of what is in it, which is listed
        found.append(Lost(elements, path, name))
    return tuple(found)


def folded(
    live: JsonObject, fold: Collection[str], *, manager: str, wants: FieldSet, key: ObjectKey, prune: bool
) -> list[JsonObject]:
    """The object's managedFields with the entries of these managers made kadm's.

    Fields of a pod template that git lacks stay with whom they are, unless ``prune``: removing them would restart pods.
    """
    version = _version(live, fold, manager)
    own = own_entry(live, manager)
    fields: FieldSet = (own or {}).get("fieldsV1") or {}
    kept_entries: list[JsonObject] = []
    for entry in entries(live):
        if own is not None and entry is own:
            continue
        if not _is_folded(entry, fold, manager, version):
            kept_entries.append(entry)
            continue
        theirs: FieldSet = entry.get("fieldsV1") or {}
        stays = {} if prune else only(theirs, lambda path: in_template(key, path) and not touches(wants, path))
        moved = only(theirs, lambda path, stays=stays: path != _LAST_APPLIED_FIELD and not holds(stays, path))  # type: ignore[misc]
        fields = union(fields, moved)
        if stays:
            kept_entries.append({**entry, "fieldsV1": stays})
    mine: JsonObject = {
        "manager": manager,
        "operation": "Apply",
        "apiVersion": version or live["apiVersion"],
        "fieldsType": "FieldsV1",
        "fieldsV1": fields,
    }
    if own is not None and own.get("time"):
        mine["time"] = own["time"]
    return [mine, *kept_entries]


def in_template(key: ObjectKey, elements: Elements) -> bool:
    """Whether a field is part of the kind's pod template, so that a change of it restarts pods."""
    kind = workload_kind(key.group, key.kind)
    if kind is None:
        return False
    template = tuple(f"f:{step}" for step in (kind.pod_spec_path[:-1] or kind.pod_spec_path))
    return elements[: len(template)] == template


def _fields(folded_entries: list[dict[str, Any]]) -> Iterator[tuple[Elements, str, bool]]:
    """Every field of these entries once, parents first, with the first manager that holds it, and whether they hold
    nothing below it."""
    seen: dict[Elements, str] = {}
    for entry in folded_entries:
        for elements in members(entry.get("fieldsV1") or {}):
            seen.setdefault(elements, entry.get("manager", ""))
    ordered = sorted(seen)  # what is below a field comes right behind it
    for elements, following in zip_longest(ordered, ordered[1:], fillvalue=()):
        yield elements, seen[elements], following[: len(elements)] != elements


def _is_folded(entry: Mapping[str, JsonValue], fold: Collection[str], manager: str, version: str) -> bool:
    return (
        entry.get("manager") in fold
        and not entry.get("subresource")
        and not is_own(entry, manager)
        and entry.get("apiVersion") == version  # fields of another version are other fields
    )


def _version(live: JsonObject, fold: Collection[str], manager: str) -> str:
    """The version that the joined entry is in: that of kadm's own, else of the first that is folded."""
    own = own_entry(live, manager)
    if own is not None:
        return str(own.get("apiVersion") or "")
    versions = [
        str(entry.get("apiVersion") or "")
        for entry in entries(live)
        if entry.get("manager") in fold and not entry.get("subresource")
    ]
    return live["apiVersion"] if live["apiVersion"] in versions or not versions else versions[0]
