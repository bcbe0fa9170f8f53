"""Strategic merge patch: a merge patch that knows which lists merge by key.

Directives in a patch: ``$patch: delete | replace | merge`` in a map, or as an item of a keyed list; ``$retainKeys``
(the only keys that stay in a map); ``$deleteFromPrimitiveList/LIST``; ``$setElementOrder/LIST``.

Source of the rules: apimachinery, pkg/util/strategicpatch; merge keys and strategies are in ``schema``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kadm.sandbox.patches import copied
from kadm.sandbox.schema import UNTYPED, Atom, FieldRule, Schema
from kadm.sandbox.typed import go_plain, same

Object = dict[str, Any]

_DIRECTIVE = "$patch"
_RETAIN = "$retainKeys"
_DELETE_FROM = "$deleteFromPrimitiveList/"
_ORDER = "$setElementOrder/"


class StrategicMergeRefused(Exception):
    """A strategic merge patch does not apply. ``str()`` is the server's message."""


def strategic_merge_patch(obj: Object, patch: Object, schema: Schema) -> Object:
    """``obj`` with ``patch`` put over it. Raises StrategicMergeRefused. Only built-in kinds have such patches."""
    return _merge(obj, patch, schema.root)


def _merge(original: Mapping[str, Any], patch: Mapping[str, Any], atom: Atom) -> Object:
    if _DIRECTIVE in patch:
        return _directed(patch)
    out: Object = dict(original)
    rest: Object = dict(patch)
    _retain(out, rest)
    for name in [name for name in rest if name.startswith(_ORDER)]:
        _set_order(out, rest, name, atom)
    for name, value in rest.items():
        if name.startswith(_DELETE_FROM):
            _delete_from(out, name.removeprefix(_DELETE_FROM), value)
            continue
        if value is None:
            out.pop(name, None)
            continue
        if name not in out or type(out[name]) is not type(value):
            out[name] = _plain(value)
            continue
        below, rule = _below(atom, name)
        if isinstance(value, dict):
            out[name] = copied(value) if rule.strategy == "replace" else _merge(out[name], value, below)
        elif isinstance(value, list):
            out[name] = _merge_lists(out[name], value, below, rule)
        else:
            out[name] = value
    return out


def _directed(patch: Mapping[str, Any]) -> Object:
    """The map that a ``$patch`` directive asks for."""
    match patch[_DIRECTIVE]:
        case "replace":
            return {name: copied(value) for name, value in patch.items() if name != _DIRECTIVE}
        case "delete":
            return {}
        case other:
            raise StrategicMergeRefused(f"unknown patch type found: {other}")


def _below(atom: Atom, name: str) -> tuple[Atom, FieldRule]:
    """The type of a member and how it merges; plain maps pass their values' type on."""
    found = atom.fields.get(name)
    if found is not None:
        return found, atom.rules.get(name, _PLAIN)
    return atom.values or UNTYPED, _PLAIN


_PLAIN = FieldRule()


def _retain(original: Object, patch: Object) -> None:
    """Drop what ``$retainKeys`` does not list, and the directive itself."""
    if _RETAIN not in patch:
        return
    keep = patch.pop(_RETAIN)
    if not isinstance(keep, list):
        raise StrategicMergeRefused(f"{_RETAIN} directive must be a list")
    for name in patch:
        if not name.startswith("$") and name not in keep:
            raise StrategicMergeRefused(
                f"{_RETAIN} directive and the rest of the patch must be consistent: {name} is not in it"
            )
    for name in [name for name in original if name not in keep]:
        del original[name]


def _delete_from(original: Object, name: str, values: Any) -> None:
    if isinstance(original.get(name), list) and isinstance(values, list):
        original[name] = [item for item in original[name] if not any(same(item, value) for value in values)]


def _set_order(original: Object, patch: Object, directive: str, atom: Atom) -> None:
    """Merge the list that a ``$setElementOrder`` directive names, and put it in that order."""
    order = patch.pop(directive)
    name = directive.removeprefix(_ORDER)
    old, new = original.get(name), patch.pop(name, None)
    if not isinstance(order, list):
        raise StrategicMergeRefused(f"{directive} directive must be a list")
    if not isinstance(new, list | None):
        raise StrategicMergeRefused(f"{name} must be a list where {directive} orders it")
    below, rule = _below(atom, name)
    if old is None and new is None:
        return
    if old is None:
        merged = _plain(new)
    elif new is None:
        merged = old
    else:
        merged = _merge_lists(old, new, below, rule)
    original[name] = _ordered(merged, order, old or [], rule.merge_key)


def _plain(value: Any) -> Any:
    """A patch's value as it enters the object: without directives and without nulls in maps."""
    if isinstance(value, dict):
        if value.get(_DIRECTIVE) == "delete":
            return {}
        return {name: _plain(item) for name, item in value.items() if item is not None and not name.startswith("$")}
    if isinstance(value, list):
        kept = [item for item in value if not (isinstance(item, dict) and item.get(_DIRECTIVE) is not None)]
        return [_plain(item) for item in kept]
    return value


def _merge_lists(original: list[Any], patch: list[Any], atom: Atom, rule: FieldRule) -> list[Any]:
    if "merge" not in rule.strategy.split(","):
        return [copied(item) for item in patch]
    if not original and not patch:
        return original
    if not any(isinstance(item, dict) for item in (*original, *patch)):
        merged: list[Any] = []
        for item in (*original, *patch):
            if not any(same(item, known) for known in merged):
                merged.append(item)
        return _ordered(merged, patch, original, "")
    if not rule.merge_key:
        raise StrategicMergeRefused(f"cannot merge lists without merge key for {atom!r}")
    return _merge_keyed(original, patch, atom.items or UNTYPED, rule.merge_key)


def _merge_keyed(original: list[Any], patch: list[Any], element: Atom, key: str) -> list[Any]:
    kept, wanted, replace = list(original), [], False
    for item in patch:
        match item.get(_DIRECTIVE) if isinstance(item, dict) else None:
            case None:
                wanted.append(item)
            case "delete":
                value = _key_of(item, key)
                kept = [other for other in kept if not same(_key_of(other, key), value)]
            case "replace":
                replace = True
            case "merge":
                raise StrategicMergeRefused("merge directive is not allowed in a list")
            case other:
                raise StrategicMergeRefused(f"unknown patch type found: {other}")
    if replace:
        return [copied(item) for item in wanted]
    merged = list(kept)
    for item in wanted:
        value = _key_of(item, key)
        at = next((index for index, other in enumerate(merged) if same(other.get(key), value)), None)
        if at is None:
            merged.append(_plain(item))
        else:
            merged[at] = _merge(merged[at], item, element)
    return _ordered(merged, wanted, kept, key)


def _key_of(item: Any, key: str) -> Any:
    if not isinstance(item, dict) or key not in item:
        raise StrategicMergeRefused(f"map: {go_plain(item)} does not contain declared merge key: {key}")
    return item[key]


def _ordered(merged: list[Any], order: list[Any], server: list[Any], key: str) -> list[Any]:
    """``merged`` with the items that ``order`` names in its order, and the others where they were before those.

    An item that the server had keeps its place before an ordered one that the server had later; else ordered ones go
    first.
    """

    def identity(item: Any) -> Any:
        return item.get(key) if key and isinstance(item, dict) else item

    def place(item: Any, items: list[Any]) -> int:
        wanted = identity(item)
        return next((index for index, other in enumerate(items) if same(identity(other), wanted)), -1)

    named = sorted((item for item in merged if place(item, order) >= 0), key=lambda item: place(item, order))
    others = sorted((item for item in merged if place(item, order) < 0), key=lambda item: place(item, server))
    out: list[Any] = []
    at_named = at_other = 0
    while at_named < len(named) or at_other < len(others):
        if at_named == len(named):
            out.append(others[at_other])
            at_other += 1
            continue
        if at_other < len(others):
            before, after = place(others[at_other], server), place(named[at_named], server)
            if 0 <= before < after:
                out.append(others[at_other])
                at_other += 1
                continue
        out.append(named[at_named])
        at_named += 1
    return out
