"""Objects seen through their type: checking, the set of fields, merging, comparing, removing.

These are the operations of structured merge diff on JSON values. None of them changes its arguments; results share what
did not change. Source of the rules: structured-merge-diff, package typed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from kadm.sandbox.field_sets import (
    LEAF,
    SELF,
    FieldSet,
    field_element,
    key_element,
    node_of,
    owns,
    path_text,
    value_element,
)
from kadm.sandbox.schema import Atom


class _Absent:
    """There is no value, which is something else than a null."""

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT: Final = _Absent()


class ListItemError(ValueError):
    """An item of a list cannot be told from the others."""


def same(left: object, right: object) -> bool:
    """Whether two JSON values are equal; unlike ``==``, true is not 1."""
    if isinstance(left, dict):
        if not isinstance(right, dict) or len(left) != len(right):
            return False
        return all(name in right and same(value, right[name]) for name, value in left.items())
    if isinstance(left, list):
        if not isinstance(right, list) or len(left) != len(right):
            return False
        return all(same(a, b) for a, b in zip(left, right, strict=True))
    return left == right and isinstance(left, bool) == isinstance(right, bool)


# Checking


def faults(value: object, atom: Atom, *, allow_duplicates: bool = False) -> list[str]:
    """Why ``value`` is not an ``atom``: texts such as ``.spec.replicas: expected numeric (int or float), got string``.

    An empty list says that it is.
    """
    found = _check(value, atom, allow_duplicates)
    return [f"{path}: {what}" if path else what for path, what in found or ()]


_Faults = list[tuple[str, str]] | None
"""Paths, relative to the value that was checked, and what is wrong there; None is "nothing"."""


def _check(value: object, atom: Atom, allow_duplicates: bool) -> _Faults:  # it only passes through
    if value is None:
        return None
    if isinstance(value, dict) and atom.is_map:
        return _check_fields(value, atom, allow_duplicates)
    if isinstance(value, list) and atom.is_list:
        return _check_items(value, atom, allow_duplicates)
    if atom.is_map and not (atom.scalar and isinstance(value, (str, int, float))):
        return [("", f"expected map, got {go_value(value)}")]
    if atom.scalar:
        what = _scalar_fault(value, atom.scalar)
        return [("", what)] if what else None
    return [("", f"expected list, got {go_value(value)}")]


def _check_fields(value: Mapping[str, Any], atom: Atom, allow_duplicates: bool) -> _Faults:
    fields, values = atom.fields, atom.values
    found: list[tuple[str, str]] = []
    for name, item in value.items():
        below = fields.get(name, values)
        if below is None:
            found.append((f".{name}", "field not declared in schema"))
            break
        if item is not None and (inner := _check(item, below, allow_duplicates)):
            found += [(f".{name}{path}", what) for path, what in inner]
    return found or None


def _check_items(value: list[Any], atom: Atom, allow_duplicates: bool) -> _Faults:
    assert atom.items is not None
    found: list[tuple[str, str]] = []
    seen: set[str] = set()
    for index, item in enumerate(value):
        element = f"i:{index}"
        if atom.keys is not None:
            try:
                element = item_element(item, atom)
            except ListItemError as error:
                found.append(("", f"element {index}: {error}"))
                break
            if element in seen and not allow_duplicates:
                found.append(("", f"duplicate entries for key {path_text(element)}"))
            seen.add(element)
        if inner := _check(item, atom.items, allow_duplicates):
            prefix = path_text(element)
            found += [(prefix + path, what) for path, what in inner]
    return found or None


def _scalar_fault(value: object, scalar: str) -> str:
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if scalar == "numeric":
        return "" if number else f"expected numeric (int or float), got {go_type(value)}"
    if scalar == "string":
        return (
            ""
            if isinstance(value, str)
            else f"expected string, got &value.valueUnstructured{{Value:{go_literal(value)}}}"
        )
    if scalar == "boolean":
        return "" if isinstance(value, bool) else f"expected boolean, got {go_value(value)}"
    return "" if isinstance(value, (str, int, float)) else f"expected any scalar, got {go_value(value)}"


def go_type(value: object) -> str:
    """The Go type of a JSON value, as ``%T`` prints it."""
    match value:
        case None:
            return "<nil>"
        case bool():
            return "bool"
        case int():
            return "int64"
        case float():
            return "float64"
        case str():
            return "string"
        case list():
            return "[]interface {}"
        case _:
            return "map[string]interface {}"


def go_literal(value: object) -> str:
    """A JSON value as Go's ``%#v`` prints it."""
    match value:
        case None:
            return "interface {}(nil)"
        case bool():
            return "true" if value else "false"
        case str():
            return json.dumps(value, ensure_ascii=False)
        case list():
            return "[]interface {}{" + ", ".join(go_literal(item) for item in value) + "}"
        case dict():
            inner = ", ".join(f"{json.dumps(name)}:{go_literal(item)}" for name, item in sorted(value.items()))
            return "map[string]interface {}{" + inner + "}"
        case _:
            return str(value)


def go_plain(value: object) -> str:
    """A JSON value as Go's ``%v`` prints it: ``map[a:1]``, ``[1 2]``."""
    match value:
        case None:
            return "<nil>"
        case bool():
            return "true" if value else "false"
        case list():
            return "[" + " ".join(go_plain(item) for item in value) + "]"
        case dict():
            return "map[" + " ".join(f"{name}:{go_plain(item)}" for name, item in sorted(value.items())) + "]"
        case _:
            return str(value)


def go_value(value: object) -> str:
    """A wrapped JSON value as Go's ``%v`` prints it: ``&{x}``."""
    return f"&{{{go_plain(value)}}}"


# The set of fields


def item_element(item: object, atom: Atom) -> str:
    """The path element of an item of the keyed list or set ``atom``. Raises ListItemError when it has no identity."""
    keys = atom.keys
    if keys is None:
        raise ListItemError("invalid indexing of non-associative list")
    if keys:
        if item is None:
            raise ListItemError("associative list with keys may not have a null element")
        if not isinstance(item, dict):
            raise ListItemError("associative list with keys may not have non-map elements")
        key: dict[str, Any] = {}
        defaults = atom.key_defaults
        for name in keys:
            if name in item:
                key[name] = item[name]
            elif (default := defaults.get(name)) is not None:
                key[name] = default
        if not key:
            shown = "[" + " ".join(f'"{name}"' for name in keys) + "]"
            raise ListItemError(
                f"associative list with keys has an element that omits all key fields {shown} "
                "(and doesn't have default values for any key fields)"
            )
        if len(key) == 1:
            [(name, value)] = key.items()
            if (
                isinstance(value, str)
                and value.isascii()
                and value.isprintable()
                and '"' not in value
                and "\\" not in value
            ):
                return f'k:{{"{name}":"{value}"}}'
        return key_element(key)
    if isinstance(item, dict):
        raise ListItemError("associative list without keys has an element that's a map type")
    if isinstance(item, list):
        raise ListItemError("not supported: associative list with lists as elements")
    if item is None:
        raise ListItemError("associative list without keys has an element that's an explicit null")
    return value_element(item)


def field_set(value: object, atom: Atom) -> FieldSet:
    """Every field that ``value`` mentions: leaves, list items, undeclared keys and emptied maps."""
    return _node(value, atom) or {}


def _node(value: object, atom: Atom) -> FieldSet | None:
    """What ``value`` mentions at and below itself; None for nothing."""
    if isinstance(value, dict) and atom.is_map:
        if atom.map_atomic:
            return LEAF
        return _map_node(value, atom) or None
    if isinstance(value, list) and atom.is_list:
        if atom.keys is None:
            return LEAF
        return _list_node(value, atom) or None
    # What is left is a scalar, or a null, which takes the first shape that the type has.
    if atom.is_map:
        return LEAF if atom.map_atomic or (value is not None and atom.scalar) else None
    if atom.scalar:
        return LEAF
    return LEAF if atom.keys is None else None


def _map_node(value: Mapping[str, Any], atom: Atom) -> FieldSet:
    fields, values = atom.fields, atom.values
    out: FieldSet = {}
    for name, item in value.items():
        declared = fields.get(name)
        below = declared if declared is not None else values
        node = _node(item, below) if below is not None else LEAF
        if node is None:
            if declared is None or item is None or item == {}:
                out["f:" + name] = LEAF
        elif node and declared is None and SELF not in node:
            out["f:" + name] = {SELF: LEAF, **node}
        else:
            out["f:" + name] = node
    return out


def _list_node(value: list[Any], atom: Atom) -> FieldSet:
    assert atom.items is not None
    out: FieldSet = {}
    twice: set[str] = set()
    for item in value:
        element = item_element(item, atom)
        if element in out:
            twice.add(element)
            continue
        node = _node(item, atom.items)
        out[element] = {SELF: LEAF, **node} if node and SELF not in node else (node or LEAF)
    for element in twice:
        out[element] = LEAF
    return out


# Merging


def merge(left: object, right: object, atom: Atom) -> Any:
    """``left`` with what ``right`` says put over it: the latter's leaves win, nothing is removed.

    Lists with identity keep the order of ``left`` unless ``right`` reorders shared items. The result can be ABSENT.
    """
    if right is ABSENT or left is right:
        return left
    if left is ABSENT:
        return right
    lead = right
    if atom.is_map and (isinstance(lead, dict) or not _takes_otherwise(lead, atom)):
        return _merge_maps(left, right, atom)
    if atom.scalar and not (atom.is_list and isinstance(lead, list)):
        return lead
    return _merge_lists(left, right, atom)


def _takes_otherwise(value: object, atom: Atom) -> bool:
    """Whether a value that is no map has another shape of ``atom`` to take."""
    if isinstance(value, list):
        return atom.is_list
    return value is not None and bool(atom.scalar)


def _merge_maps(left: object, right: object, atom: Atom) -> Any:
    base = left if isinstance(left, dict) else None
    over = right if isinstance(right, dict) else None
    if atom.map_atomic or not (base or over):
        return right
    if not over:
        return base  # an empty or null map takes nothing away
    fields, values = atom.fields, atom.values
    out: dict[str, Any] = dict(base) if base else {}
    for name, item in over.items():
        below = fields.get(name, values)
        old = out.get(name, ABSENT)
        merged = item if below is None or old is ABSENT else merge(old, item, below)
        if merged is ABSENT:
            out.pop(name, None)
        else:
            out[name] = merged
    return out or ABSENT


def _merge_lists(left: object, right: object, atom: Atom) -> Any:
    base = left if isinstance(left, list) else None
    over = right if isinstance(right, list) else None
    if atom.keys is None or not (base or over):
        return right
    if not over:
        return base
    assert atom.items is not None
    over_elements = [item_element(item, atom) for item in over]
    over_items = dict(zip(over_elements, over, strict=True))
    base_elements = [item_element(item, atom) for item in base or ()]
    base_items: dict[str, Any] = {}
    for element, item in zip(base_elements, base or (), strict=True):
        # Duplicates are not merged with what is put over them.
        base_items[element] = None if element in base_items else item
    merged = {
        element: merge(base_items.get(element, ABSENT), over_items[element], atom.items) for element in over_items
    }
    out = []
    for place in _merged_order(base_elements, over_elements, base_items):
        item = merged[place] if isinstance(place, str) else (base or [])[place]
        if item is not ABSENT:
            out.append(item)
    return out or ABSENT


def _merged_order(base: list[str], over: list[str], known: Mapping[str, object]) -> list[str | int]:
    """The order of a merged list: an element for an item that ``over`` has, an index for one that only ``base`` has.

    Items of ``base`` keep their places; items of ``over`` come in the order of ``over``.
    """
    in_over = set(over)
    shared = [element for element in over if element in known]
    next_shared = 0  # index into shared
    done: set[str] = set()
    out: list[str | int] = []
    at_base = at_over = 0
    while at_base < len(base) or at_over < len(over):
        if at_base < len(base) and at_over < len(over):
            element = base[at_base]
            if element == over[at_over]:
                done.add(element)
                out.append(element)
                at_base += 1
                at_over += 1
                next_shared += 1
                continue
            if element in in_over and next_shared < len(shared) and shared[next_shared] != element:
                at_base += 1  # shared, but not the one whose turn it is
                continue
        if at_base < len(base):
            element = base[at_base]
            if element not in in_over:
                out.append(at_base)
                at_base += 1
                continue
            if element in done:
                at_base += 1
        if at_over < len(over):
            element = over[at_over]
            done.add(element)
            out.append(element)
            at_over += 1
            if next_shared < len(shared) and shared[next_shared] == element:
                next_shared += 1
    return out


# Comparing


class Comparison:
    """How two values differ: fields only the first has, and fields that the second has otherwise or alone."""

    __slots__ = ("changed", "removed")

    def __init__(self, removed: FieldSet, changed: FieldSet) -> None:
        self.removed = removed
        self.changed = changed


def compare(left: object, right: object, atom: Atom) -> Comparison:
    """How ``right`` differs from ``left``."""
    removed, changed = _compare(left, right, atom)
    return Comparison(removed or {}, changed or {})


_Difference = tuple[FieldSet | None, FieldSet | None]
_EQUAL: _Difference = (None, None)
_REMOVED: _Difference = (LEAF, None)
_CHANGED: _Difference = (None, LEAF)


def _leaf(left: object, right: object) -> _Difference:
    if left is ABSENT:
        return _CHANGED
    if right is ABSENT:
        return _REMOVED
    return _EQUAL if left is right or same(left, right) else _CHANGED


def _compare(left: object, right: object, atom: Atom) -> _Difference:
    if left is right:
        return _EQUAL
    lead = left if right is ABSENT else right
    if atom.scalar:
        if atom.is_map and _reshaped(left, right):
            # What was below is gone, the field itself and what is below it now are new.
            gone = _compare_maps(left, ABSENT, atom) if isinstance(left, dict) and not atom.map_atomic else None
            new = _compare_maps(ABSENT, right, atom) if isinstance(right, dict) and not atom.map_atomic else None
            return (gone[0] if gone else None) or None, node_of(True, new[1] if new else {})
        if not isinstance(lead, (dict, list)) and not (lead is None and atom.is_map):
            return _leaf(left, right)
    if atom.is_map and not (isinstance(lead, list) and atom.is_list):
        below = None if atom.map_atomic else _compare_maps(left, right, atom)
    else:
        below = None if atom.keys is None else _compare_lists(left, right, atom)
    if below is None:
        return _leaf(left, right)
    removed, changed = below
    if left is ABSENT:
        return removed or None, node_of(True, changed)
    if right is ABSENT:
        return node_of(True, removed), changed or None
    return removed or None, changed or None


def _reshaped(left: object, right: object) -> bool:
    """Whether one of two values is a map and the other a list or scalar, or one a list and the other a scalar."""
    if left is ABSENT or right is ABSENT or left is None or right is None:
        return False
    return isinstance(left, dict) != isinstance(right, dict) or isinstance(left, list) != isinstance(right, list)


def _compare_maps(left: object, right: object, atom: Atom) -> tuple[FieldSet, FieldSet] | None:
    """What differs below two maps, or None where both are empty and so count as one leaf."""
    old: Mapping[str, Any] = left if isinstance(left, dict) else {}
    new: Mapping[str, Any] = right if isinstance(right, dict) else {}
    if not old and not new:
        return None
    fields, values = atom.fields, atom.values
    removed: FieldSet = {}
    changed: FieldSet = {}
    for name, was in old.items():
        now = new.get(name, ABSENT)
        if was is now:
            continue
        _note(field_element(name), _compare(was, now, fields.get(name) or values or _ANY), removed, changed)
    for name, now in new.items():
        if name not in old:
            _note(field_element(name), _compare(ABSENT, now, fields.get(name) or values or _ANY), removed, changed)
    return removed, changed


_ANY = Atom(scalar="untyped")


def _note(element: str, difference: _Difference, removed: FieldSet, changed: FieldSet) -> None:
    gone, new = difference
    if gone is not None:
        removed[element] = gone
    if new is not None:
        changed[element] = new


def _compare_lists(left: object, right: object, atom: Atom) -> tuple[FieldSet, FieldSet] | None:
    """What differs below two lists with identity, or None where both are empty and so count as one leaf."""
    old = left if isinstance(left, list) else []
    new = right if isinstance(right, list) else []
    if not old and not new:
        return None
    assert atom.items is not None
    was = _grouped(old, atom)
    now = _grouped(new, atom)
    removed: FieldSet = {}
    changed: FieldSet = {}
    for element in {**was, **now}:
        before, after = was.get(element, []), now.get(element, [])
        if len(before) <= 1 and len(after) <= 1:
            first = before[0] if before else ABSENT
            second = after[0] if after else ABSENT
            _note(element, _compare(first, second, atom.items), removed, changed)
        elif len(before) >= 2 and len(after) >= 2:
            if not same(before, after):
                changed[element] = LEAF
        elif len(before) >= 2:
            # No duplicate any more: the mark on the duplicates goes, the item that stays is new.
            removed[element] = LEAF
            if after:
                _note(element, (None, _compare(ABSENT, after[0], atom.items)[1]), removed, changed)
        else:
            if before:
                _note(element, (_compare(before[0], ABSENT, atom.items)[0], None), removed, changed)
            changed[element] = LEAF
    return removed, changed


def _grouped(items: list[Any], atom: Atom) -> dict[str, list[Any]]:
    out: dict[str, list[Any]] = {}
    for item in items:
        out.setdefault(item_element(item, atom), []).append(item)
    return out


# Removing


def remove(value: Any, fields: FieldSet, atom: Atom) -> Any:
    """``value`` without the fields of the set and all below them. An emptied map or list stays, empty."""
    if isinstance(value, dict) and atom.is_map:
        if not value or atom.map_atomic:
            return {}
        declared, values = atom.fields, atom.values
        out: dict[str, Any] = {}
        for name, item in value.items():
            node = fields.get("f:" + name)
            if node is None:
                out[name] = item
            elif not owns(node):
                out[name] = remove(item, node, declared.get(name) or values or _ANY)
        return out
    if isinstance(value, list) and atom.is_list:
        if not value or atom.keys is None:
            return []
        assert atom.items is not None
        kept = []
        for item in value:
            node = fields.get(item_element(item, atom))
            if node is None:
                kept.append(item)
            elif not owns(node):
                kept.append(remove(item, node, atom.items))
        return kept
    return value
