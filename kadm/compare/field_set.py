"""Sets of fields, as managedFields write them (KEP-555, FieldsV1), and what can be done with them.

A set is the JSON of FieldsV1: element → what is in the set below it. Elements are ``f:name`` (a key),
``k:{"name":"a"}`` (an item of a keyed list), ``v:"x"`` (an item of a set) and ``i:0`` (an index). ``{}`` stands for the
field itself, ``.`` beside others for "and the field itself too". Sets are values: nothing here changes its arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import msgspec

from kadm.model.objects import JsonValue, Path

FieldSet = Mapping[str, Any]
Elements = tuple[str, ...]
"""The path of a field in a set: its elements from the root."""

SELF = "."


def union(left: FieldSet, right: FieldSet) -> FieldSet:
    """What is in either set."""
    if not left or not right:
        return left or right
    merged = {element: left[element] for element in left if element != SELF}
    for element, theirs in right.items():
        if element != SELF:
            merged[element] = _joined(merged[element], theirs) if element in merged else theirs
    return dict(sorted(merged.items()))


def members(fields: FieldSet, above: Elements = ()) -> Iterator[Elements]:
    """Every field of the set, parents before what is below them."""
    for element, below in sorted(fields.items()):
        if element == SELF:
            continue
        path = (*above, element)
        if not below or SELF in below:
            yield path
        yield from members(below, path)


def holds(fields: FieldSet, path: Elements) -> bool:
    """Whether the field itself is in the set."""
    for element in path:
        if element not in fields:
            return False
        fields = fields[element]
    return not fields or SELF in fields


def touches(fields: FieldSet, path: Elements) -> bool:
    """Whether the set holds the field, or anything below it, or a leaf above it that stands for the whole."""
    if not fields:
        return False
    for element in path:
        if element not in fields:
            return not any(name != SELF for name in fields)
        fields = fields[element]
    return True


def only(fields: FieldSet, keep: Callable[[Elements], bool], above: Elements = ()) -> FieldSet:
    """The fields of the set that ``keep`` says yes to."""
    kept: dict[str, Any] = {}
    for element, below in fields.items():
        if element == SELF:
            continue
        path = (*above, element)
        itself = (not below or SELF in below) and keep(path)
        inside = only(below, keep, path)
        if inside:
            kept[element] = {SELF: {}, **inside} if itself else inside
        elif itself:
            kept[element] = {}
    return kept


def locate(obj: JsonValue, path: Elements) -> Path | None:
    """Where a field stands in an object, in keys and indexes, or None where it is absent."""
    found: list[str | int] = []
    for element in path:
        step = step_in(obj, element)
        if step is None:
            return None
        found.append(step)
        obj = obj[step]
    return tuple(found)


def step_in(obj: JsonValue, element: str) -> str | int | None:
    """The key or index that an element names in this value, or None where it is absent."""
    mark, text = element[:2], element[2:]
    if mark == "f:":
        return text if isinstance(obj, dict) and text in obj else None
    if mark == "k:":
        return items_by_key(obj, element)
    if not isinstance(obj, list):
        return None
    if mark == "i:":
        return int(text) if int(text) < len(obj) else None
    value = msgspec.json.decode(text)
    return next((index for index, item in enumerate(obj) if item == value), None)


def shown(path: Elements) -> Path:
    """A field's path as people read it: items of keyed lists by the first of their keys."""
    return tuple(_shown(element) for element in path)


def items_by_key(obj: JsonValue, element: str) -> int | None:
    """The index of the list item that a ``k:`` element names, or None."""
    wanted = msgspec.json.decode(element[2:])
    if isinstance(obj, list):
        for index, item in enumerate(obj):
            if isinstance(item, dict) and all(item.get(name) == value for name, value in wanted.items()):
                return index
    return None


def _joined(mine: FieldSet, theirs: FieldSet) -> FieldSet:
    """Two nodes of one field as one."""
    itself = not mine or not theirs or SELF in mine or SELF in theirs
    below = union(
        {name: node for name, node in mine.items() if name != SELF},
        {name: node for name, node in theirs.items() if name != SELF},
    )
    return {SELF: {}, **below} if itself and below else below


def _shown(element: str) -> str | int:
    mark, text = element[:2], element[2:]
    if mark == "f:":
        return text
    if mark == "i:":
        return int(text)
    if mark == "v:":
        return f"[={msgspec.json.decode(text)}]"
    name, value = next(iter(msgspec.json.decode(text).items()))
    return f"[{name}={value}]"
