"""Sets of fields of an object, as managedFields write them (FieldsV1), and the algebra on them.

A set is the JSON of FieldsV1 itself: a path element → what is owned below it. ``{}`` stands for the field itself, a
``.`` inside a non-empty value for "and the field itself too". Elements are ``f:name`` (field), ``k:{"name":"a"}`` (item
of a keyed list), ``v:"x"`` (item of a set) and ``i:0`` (index). No element ever stands for nothing, so that an empty
dict at the top is the empty set. Sets are values: no function here changes its arguments, results may share parts with
them.

Source of the rules: structured-merge-diff, package fieldpath.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from kadm.sandbox.schema import Atom

FieldSet = dict[str, Any]

LEAF: FieldSet = {}
"""The field itself and nothing below it. Shared: never change it."""

SELF = "."


def owns(node: FieldSet) -> bool:
    """Whether a node says that its own field is in the set."""
    return not node or SELF in node


def node_of(owned: bool, below: FieldSet) -> FieldSet | None:  # a fact about the node, not a switch
    """The node of a field that is in the set or not, with ``below`` its children; None if it stands for nothing."""
    if not below:
        return LEAF if owned else None
    return {SELF: LEAF, **below} if owned else below


def union(left: FieldSet, right: FieldSet) -> FieldSet:
    """What is in either set."""
    if not left or left is right:
        return right
    if not right:
        return left
    out: FieldSet = {}
    for element, mine in left.items():
        if element == SELF:
            continue
        theirs = right.get(element)
        if theirs is None or theirs is mine:
            out[element] = mine
        else:
            below = union(_below(mine), _below(theirs))
            out[element] = node_of(owns(mine) or owns(theirs), below)
    for element, theirs in right.items():
        if element != SELF and element not in left:
            out[element] = theirs
    return out


def difference(left: FieldSet, right: FieldSet) -> FieldSet:
    """What is in ``left`` and not in ``right``. A field in ``right`` does not take the fields below it away."""
    return _left(left, right, deep=False)


def without(left: FieldSet, right: FieldSet) -> FieldSet:
    """What is in ``left`` and neither in ``right`` nor below a field of ``right``."""
    return _left(left, right, deep=True)


def _left(left: FieldSet, right: FieldSet, *, deep: bool) -> FieldSet:
    """What ``right`` leaves of ``left``; ``deep`` says that a field in ``right`` takes those below it away too."""
    if not right:
        return left
    out: FieldSet = {}
    for element, mine in left.items():
        if element == SELF:
            continue
        theirs = right.get(element)
        if theirs is None:
            out[element] = mine
        elif not (deep and owns(theirs)):
            node = node_of(owns(mine) and not owns(theirs), _left(_below(mine), _below(theirs), deep=deep))
            if node is not None:
                out[element] = node
    return out


def intersection(left: FieldSet, right: FieldSet) -> FieldSet:
    """What is in both sets."""
    out: FieldSet = {}
    for element, mine in left.items():
        theirs = right.get(element)
        if element == SELF or theirs is None:
            continue
        node = node_of(owns(mine) and owns(theirs), intersection(_below(mine), _below(theirs)))
        if node is not None:
            out[element] = node
    return out


def contains(whole: FieldSet, part: FieldSet) -> bool:
    """Whether every field of ``part`` is in ``whole``."""
    for element, theirs in part.items():
        if element == SELF:
            continue
        mine = whole.get(element)
        if mine is None or (owns(theirs) and not owns(mine)) or not contains(mine, theirs):
            return False
    return True


def with_parents(fields: FieldSet, atom: Atom | None) -> FieldSet:
    """``fields`` with every declared field that has something below it, so that an emptied struct counts as there."""
    declared: Mapping[str, Atom] = atom.fields if atom is not None else {}
    out: FieldSet = {}
    for element, node in fields.items():
        if element == SELF:
            continue
        if not node:
            out[element] = node
            continue
        below: Atom | None = None
        named = False
        if atom is not None:
            if element.startswith("f:"):
                below = declared.get(element[2:])
                named = below is not None
                if below is None:
                    below = atom.values
            elif element.startswith("k:"):
                below = atom.items
        out[element] = node_of(named or SELF in node, with_parents(node, below))
    return out


def paths(fields: FieldSet, prefix: str = "") -> Iterator[str]:
    """The fields of a set as conflicts name them (``.spec.ports[port=80,protocol="TCP"].name``), in their order.

    A field comes before what is below its siblings; names come before keys, keys before values.
    """
    order = sorted((element for element in fields if element != SELF), key=_sort_key)
    for element in order:
        if owns(fields[element]):
            yield prefix + path_text(element)
    for element in order:
        if node := fields[element]:
            yield from paths(node, prefix + path_text(element))


def path_text(element: str) -> str:
    """One path element as messages write it: ``.name``, ``[name="a"]``, ``[="x"]``, ``[0]``."""
    kind, _, rest = element.partition(":")
    if kind == "f":
        return f".{rest}"
    if kind == "k":
        return key_text(json.loads(rest))
    if kind == "v":
        return f"[={_value_text(json.loads(rest))}]"
    return f"[{rest}]"


def key_text(key: Mapping[str, Any]) -> str:
    """A key of a keyed list as messages write it: ``[containerPort=80,protocol="TCP"]``."""
    return "[" + ",".join(f"{name}={_value_text(value)}" for name, value in sorted(key.items())) + "]"


def field_element(name: str) -> str:
    """The path element of a field."""
    return f"f:{name}"


def key_element(key: Mapping[str, Any]) -> str:
    """The path element of an item of a keyed list; ``key`` holds the key fields that it has."""
    return "k:" + json.dumps(key, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def value_element(value: object) -> str:
    """The path element of an item of a set."""
    return "v:" + json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def ordered(fields: FieldSet) -> FieldSet:
    """The set in the order in which the server writes it, for stable output."""
    if not fields:
        return LEAF
    out: FieldSet = {}
    if SELF in fields:
        out[SELF] = LEAF
    for element in sorted(fields, key=_sort_key):
        if element != SELF:
            out[element] = ordered(fields[element])
    return out


_KIND_ORDER = {"f": 0, "k": 1, "v": 2, "i": 3}


def _sort_key(element: str) -> tuple[int, int, str]:
    kind = element[:1]
    if kind == "i":
        return 3, int(element[2:]), ""
    return _KIND_ORDER.get(kind, 4), 0, element


def _below(node: FieldSet) -> FieldSet:
    """The children of a node, without the mark for itself."""
    if SELF in node:
        return {element: child for element, child in node.items() if element != SELF}
    return node


def _value_text(value: object) -> str:
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)
