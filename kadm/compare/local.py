"""Comparing without the member: for those who may only read, and before a namespace or CRD is there."""

from __future__ import annotations

from kadm.compare.difference import Difference, leaves, same
from kadm.compare.field_set import FieldSet, locate, members, only, shown
from kadm.compare.ownership import holders, own_entry
from kadm.model.applyset import PART_OF
from kadm.model.objects import JsonObject, JsonValue, Path, at, path_text

_MEMBERSHIP = ("f:metadata", "f:labels", f"f:{PART_OF}")
"""The set's label: the desired object gets it when it is sent."""

_EMPTY: tuple[JsonValue, ...] = ({}, [], None, "", 0, False)


def local_differences(live: JsonObject, wanted: JsonObject, manager: str) -> tuple[Difference, ...]:
    """Differences at the desired fields, and what kadm's entry holds and git does not. Sorted by path."""
    found = {}
    for leaf in leaves(wanted):
        value = _value_at(live, wanted, leaf.path)
        if not same(value, leaf.after) and not (value is None and any(same(leaf.after, one) for one in _EMPTY)):
            found[path_text(leaf.path)] = Difference(path=leaf.path, before=value, after=leaf.after)
    own: FieldSet = (own_entry(live, manager) or {}).get("fieldsV1") or {}
    for elements in members(own):
        path = locate(live, elements)
        if path is None or locate(wanted, elements) is not None or elements == _MEMBERSHIP:
            continue
        value, where = at(live, path), shown(elements)
        if not isinstance(value, dict) and not holders(live, where, besides=manager):
            found[path_text(where)] = Difference(path=where, before=value, after=None)
    return tuple(found[text] for text in sorted(found))


def wanted_fields(shape: FieldSet, wanted: JsonObject) -> FieldSet:
    """The fields of a set that the desired object holds."""
    return only(shape, lambda elements: locate(wanted, elements) is not None)


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
