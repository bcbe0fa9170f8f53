"""Who owns which field of an object: reading, moving and writing ``metadata.managedFields``.

An entry belongs to a manager, an operation (Apply or Update), a subresource and, for Update, an API version. Times are
RFC 3339 texts in seconds; an entry may have none. Source of the rules: apimachinery, pkg/util/managedfields.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from kadm.sandbox import field_sets
from kadm.sandbox.decoding import zero
from kadm.sandbox.field_sets import LEAF, FieldSet
from kadm.sandbox.schema import Schema
from kadm.sandbox.typed import Comparison, ListItemError, compare, same

Object = dict[str, Any]

MAX_UPDATE_MANAGERS = 10
"""Update entries that an object keeps; the oldest beyond them are folded into one named ``ancient-changes``."""

ANCIENT = "ancient-changes"
BEFORE_FIRST_APPLY = "before-first-apply"

STRIPPED: FieldSet = {
    "f:apiVersion": LEAF,
    "f:kind": LEAF,
    "f:metadata": {
        ".": LEAF,
        "f:clusterName": LEAF,
        "f:creationTimestamp": LEAF,
        "f:generation": LEAF,
        "f:managedFields": LEAF,
        "f:name": LEAF,
        "f:namespace": LEAF,
        "f:resourceVersion": LEAF,
        "f:selfLink": LEAF,
        "f:uid": LEAF,
    },
}
"""Fields that nobody owns."""


class ManagerKey(NamedTuple):
    """What tells one entry from another. ``api_version`` is "" for Apply, whose entries are one over all versions."""

    manager: str
    operation: str
    api_version: str
    subresource: str

    def text(self) -> str:
        """The manager as conflict messages write it: ``"kadm"``, ``"web" with subresource "scale" using v1``."""
        shown = f'"{self.manager}"'
        if self.subresource:
            shown += f' with subresource "{self.subresource}"'
        return f"{shown} using {self.api_version}" if self.operation == "Update" else shown

    def order(self) -> str:
        """Sorts managers as the server does: by their JSON."""
        parts = f'{{"manager":"{self.manager}","operation":"{self.operation}"'
        if self.api_version:
            parts += f',"apiVersion":"{self.api_version}"'
        if self.subresource:
            parts += f',"subresource":"{self.subresource}"'
        return parts + "}"


@dataclass(frozen=True, slots=True)
class Owned:
    """What one manager owns, in terms of ``api_version``; ``time`` is "" where the entry has none."""

    fields: FieldSet
    api_version: str
    time: str = ""


Managers = dict[ManagerKey, Owned]


class Conversions(Protocol):
    """Other versions of one kind: entries written in another version are compared in that version."""

    def schema(self, api_version: str) -> Schema | None:
        """The type of the kind in that version, or None if it is not served; its entries are dropped then."""

    def convert(self, obj: Object, api_version: str) -> Object:
        """``obj`` in that version."""


def key_of(manager: str, operation: str, api_version: str, subresource: str) -> ManagerKey:
    """The key of an entry that is written now."""
    return ManagerKey(manager or "unknown", operation, "" if operation == "Apply" else api_version, subresource)


def read(obj: Object | None) -> Managers | None:
    """The entries of an object; None if one of them cannot be read, as the server then takes none of them."""
    entries = _entries(obj)
    managers: Managers = {}
    for entry in entries or ():
        if not isinstance(entry, dict):
            return None
        operation, api_version = entry.get("operation"), entry.get("apiVersion")
        fields = entry.get("fieldsV1") or LEAF
        if operation not in ("Apply", "Update") or not api_version or entry.get("fieldsType") != "FieldsV1":
            return None
        if not isinstance(fields, dict) or not _is_field_set(fields):
            return None
        versioned = "" if operation == "Apply" else api_version
        key = ManagerKey(entry.get("manager") or "", operation, versioned, entry.get("subresource") or "")
        managers[key] = Owned(fields, api_version, entry.get("time") or "")
    return managers


def write(obj: Object, managers: Managers) -> Object:
    """``obj`` with these entries instead of its own: Apply before Update, older before newer, then by name."""
    metadata = {name: value for name, value in (obj.get("metadata") or {}).items() if name != "managedFields"}
    if managers:
        rows = sorted(managers.items(), key=_entry_order)
        metadata["managedFields"] = [_entry(key, owned) for key, owned in rows]
    return {**obj, "metadata": metadata}


def without_entries(obj: Object) -> Object:
    """``obj`` without managedFields."""
    metadata = obj.get("metadata")
    if not isinstance(metadata, dict) or "managedFields" not in metadata:
        return obj
    return {**obj, "metadata": {name: value for name, value in metadata.items() if name != "managedFields"}}


def track_update(
    old: Object | None,
    new: Object,
    *,
    schema: Schema,
    manager: str,
    now: str,
    subresource: str = "",
    reset: FieldSet | None = None,
    conversions: Conversions | None = None,
) -> Object:
    """``new`` with the managedFields that follow from writing it over ``old`` (None: it is created) as an Update.

    Both are in the version of ``schema`` and as ``decoding.decode`` gives them, ``new`` with the managedFields that the
    request carries: entries of its own replace those of ``old``, ``[]`` or ``[{}]`` clears them, and none keeps them.
    Changed values move to the manager, at ``now``; entries that own nothing any more go. ``reset`` are the fields that
    this endpoint does not write (see ``reset_fields``).
    """
    managers = _given(old, new, subresource)
    bare = without_entries(new)
    if not managers and old is not None:
        return bare  # tracking was cleared; the next apply starts it again
    try:
        after = updated(
            old,
            bare,
            managers,
            schema=schema,
            key=key_of(manager, "Update", schema.api_version, subresource),
            now=now,
            reset=reset,
            conversions=conversions,
        )
    except ListItemError:
        # Items of a custom object's list cannot be told apart. Validation will say so; the owners stay as they were.
        after = read(old) or {}
    return write(bare, _capped(after))


def updated(
    old: Object | None,
    new: Object,
    managers: Managers,
    *,
    schema: Schema,
    key: ManagerKey,
    now: str,
    reset: FieldSet | None = None,
    conversions: Conversions | None = None,
) -> Managers:
    """The entries after ``new`` was written over ``old`` by ``key``; neither object's own managedFields count."""
    before = zero(schema) if old is None else without_entries(old)
    differences = Differences(before, new, schema, reset, conversions)
    own = differences.at(schema.api_version)
    assert own is not None
    after = differences.taken_from(managers, conflicts=None, but=None)
    taken = field_sets.difference(_without(own.changed, reset), STRIPPED)
    if taken:
        previous = after.get(key)
        fields = field_sets.union(taken, previous.fields) if previous is not None else taken
        after[key] = Owned(field_sets.ordered(fields), schema.api_version, now)
    return after


class Differences:
    """How an object changed, in terms of each version in which a manager owns fields."""

    def __init__(
        self,
        old: Object,
        new: Object,
        schema: Schema,
        reset: FieldSet | None,
        conversions: Conversions | None,
    ) -> None:
        self._old = old
        self._new = new
        self._schema = schema
        self._reset = reset
        self._conversions = conversions
        self._known: dict[str, Comparison | None] = {}

    def at(self, api_version: str) -> Comparison | None:
        """The difference in this version; None where the version is not served."""
        if api_version not in self._known:
            self._known[api_version] = self._compare(api_version)
        return self._known[api_version]

    def _compare(self, api_version: str) -> Comparison | None:
        if api_version == self._schema.api_version:
            found = compare(self._old, self._new, self._schema.root)
        else:
            other = self._conversions.schema(api_version) if self._conversions is not None else None
            if other is None or self._conversions is None:
                return None
            old = self._conversions.convert(self._old, api_version)
            new = self._conversions.convert(self._new, api_version)
            found = compare(old, new, other.root)
        return Comparison(_without(found.removed, self._reset), _without(found.changed, self._reset))

    def taken_from(
        self, managers: Managers, *, conflicts: dict[ManagerKey, FieldSet] | None, but: ManagerKey | None
    ) -> Managers:
        """The entries without what changed under their managers, except that of ``but``.

        Fields that were changed against a manager go to ``conflicts`` when it is given.
        """
        after: Managers = {}
        for key, owned in managers.items():
            if key == but:
                after[key] = owned
                continue
            difference = self.at(owned.api_version)
            if difference is None:
                continue
            lost = field_sets.intersection(owned.fields, difference.changed)
            if lost and conflicts is not None:
                conflicts[key] = lost
            fields = field_sets.difference(field_sets.difference(owned.fields, lost), difference.removed)
            if fields is owned.fields:
                after[key] = owned
            elif fields:
                after[key] = Owned(fields, owned.api_version, owned.time)
        return {key: owned for key, owned in after.items() if owned.fields or key == but}


def settle_times(old: Object, new: Object) -> Object:
    """What to store in place of ``old``: ``old`` itself if ``new`` differs from it by nothing but times of entries.

    The server compares so at the end of every update, patch and apply; a write that changes nothing keeps the
    resourceVersion and all times.
    """
    if not same(without_entries(old), without_entries(new)):
        return new
    before, after = _entries(old) or [], _entries(new) or []
    if len(before) != len(after):
        return new
    return old if same(_untimed(before), _untimed(after)) else new


def reset_fields(schema: Schema, subresource: str, *, has_status: bool = True) -> FieldSet | None:
    """The fields that writes to this endpoint do not change, so nobody comes to own them there; None for none.

    Source: the GetResetFields methods of the registry strategies. ``has_status`` says that the kind has the status
    subresource.
    """
    if subresource == "status":
        if not schema.typed:
            return _CUSTOM_STATUS
        return _STATUS_OF.get((schema.group, schema.kind), {"f:spec": LEAF})
    if subresource or not has_status or ("status" not in schema.root.fields and schema.typed):
        return None
    return {"f:status": LEAF}


_CUSTOM_STATUS: FieldSet = {"f:metadata": LEAF, "f:spec": LEAF}
_SPEC_AND_LABELS: FieldSet = {"f:metadata": {"f:labels": LEAF}, "f:spec": LEAF}
_STATUS_OF: Mapping[tuple[str, str], FieldSet] = {
    ("apps", "Deployment"): _SPEC_AND_LABELS,
    ("", "Pod"): {
        "f:metadata": {"f:deletionTimestamp": LEAF, "f:ownerReferences": LEAF},
        "f:spec": LEAF,
    },
    ("apiextensions.k8s.io", "CustomResourceDefinition"): {"f:metadata": LEAF, "f:spec": LEAF},
    ("apiregistration.k8s.io", "APIService"): {"f:metadata": LEAF, "f:spec": LEAF},
    ("networking.k8s.io", "NetworkPolicy"): {"f:spec": LEAF},
}


def _without(fields: FieldSet, reset: FieldSet | None) -> FieldSet:
    return field_sets.without(fields, reset) if reset else fields


def _entries(obj: Object | None) -> list[Any] | None:
    if obj is None:
        return None
    metadata = obj.get("metadata")
    found = metadata.get("managedFields") if isinstance(metadata, dict) else None
    return found if isinstance(found, list) else None


def _given(old: Object | None, new: Object, subresource: str) -> Managers:
    """The entries to start from: those that the request brings, else those that the object has."""
    live = read(old) or {}
    if subresource:
        return live
    brought = _entries(new)
    if brought is not None and (not brought or (len(brought) == 1 and _is_blank(brought[0]))):
        return {}
    return read(new) or live


def _is_blank(entry: object) -> bool:
    return isinstance(entry, dict) and not any(entry.values())


def _is_field_set(fields: Mapping[str, Any]) -> bool:
    for element, below in fields.items():
        if not isinstance(below, dict) or not _is_field_set(below):
            return False
        if element != "." and element[:2] not in ("f:", "k:", "v:", "i:"):
            return False
    return True


def _capped(managers: Managers) -> Managers:
    """The entries with the oldest Updates folded, so that there are at most MAX_UPDATE_MANAGERS of them."""
    updaters = [key for key in managers if key.operation == "Update"]
    count = len(updaters)
    if count <= MAX_UPDATE_MANAGERS:
        return managers
    updaters.sort(key=lambda key: (managers[key].time, key.order()))
    out = dict(managers)
    first_of: dict[str, ManagerKey] = {}
    for key in updaters:
        if count <= MAX_UPDATE_MANAGERS:
            break
        owned = out[key]
        bucket = ManagerKey(ANCIENT, "Update", owned.api_version, "")
        first = first_of.get(owned.api_version)
        if first is None:
            first_of[owned.api_version] = key
            continue
        if bucket not in out:
            out[bucket] = out.pop(first)
        fields = field_sets.ordered(field_sets.union(owned.fields, out[bucket].fields))
        if key != bucket:
            out.pop(key)
        out[bucket] = Owned(fields, owned.api_version, owned.time)
        count -= 1
    return out


def _entry_order(row: tuple[ManagerKey, Owned]) -> tuple[str, str, str, str, str]:
    key, owned = row
    return key.operation, owned.time, key.manager, owned.api_version, key.subresource


def _entry(key: ManagerKey, owned: Owned) -> Object:
    entry: Object = {}
    if key.manager:
        entry["manager"] = key.manager
    entry["operation"] = key.operation
    entry["apiVersion"] = owned.api_version
    if owned.time:
        entry["time"] = owned.time
    entry["fieldsType"] = "FieldsV1"
    entry["fieldsV1"] = owned.fields
    if key.subresource:
        entry["subresource"] = key.subresource
    return entry


def _untimed(entries: list[Any]) -> list[Any]:
    rows = [{name: value for name, value in entry.items() if name != "time"} for entry in entries]
    rows.sort(key=lambda row: (row["operation"], row.get("manager", ""), row["apiVersion"], row.get("subresource", "")))
    return rows
