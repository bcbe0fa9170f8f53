"""Changing parts of an object without touching it: what changes is copied along its path, the rest is shared."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from kadm.model.objects import JsonObject, JsonValue, Path

Pattern = tuple[str, ...]
"""Keys from the root; ``*`` stands for every item of a list, and for every value of a map."""

EACH: Final = "*"


class _Removed:
    """What a change gives back to take the value out."""


REMOVED: Final = _Removed()


def rewritten(obj: JsonObject, pattern: Pattern, change: Callable[[JsonValue], JsonValue]) -> JsonObject:
    """``obj`` with ``change`` applied wherever the pattern matches, or the same object where nothing changed.

    ``change`` is called for present values only (null is one); REMOVED takes the value out of its map or list.
    """
    new: JsonObject = _rewritten(obj, pattern, change)
    return new


def without(obj: JsonObject, *pattern: str) -> JsonObject:
    """``obj`` without what stands at the pattern."""
    return rewritten(obj, pattern, lambda _: REMOVED)


def with_value(obj: JsonObject, path: Path, new: JsonValue) -> JsonObject:
    """``obj`` with ``new`` at ``path``; absent maps on the way are made."""
    changed: JsonObject = _with_value(obj, path, new)
    return changed


def _rewritten(value: JsonValue, pattern: Pattern, change: Callable[[JsonValue], JsonValue]) -> JsonValue:
    if not pattern:
        return change(value)
    step, rest = pattern[0], pattern[1:]
    if step == EACH:
        if isinstance(value, list):
            items = [_rewritten(item, rest, change) for item in value]
            if all(new is old for new, old in zip(items, value, strict=True)):
                return value
            return [item for item in items if item is not REMOVED]
        if isinstance(value, dict):
            entries = {key: _rewritten(item, rest, change) for key, item in value.items()}
            if all(entries[key] is item for key, item in value.items()):
                return value
            return {key: item for key, item in entries.items() if item is not REMOVED}
        return value
    if not isinstance(value, dict) or step not in value:
        return value
    old = value[step]
    new = _rewritten(old, rest, change)
    if new is old:
        return value
    if new is REMOVED:
        return {key: item for key, item in value.items() if key != step}
    return {**value, step: new}


def _with_value(value: JsonValue, path: Path, new: JsonValue) -> JsonValue:
    if not path:
        return new
    step, rest = path[0], path[1:]
    if isinstance(value, list) and isinstance(step, int):
        return [*value[:step], _with_value(value[step], rest, new), *value[step + 1 :]]
    held = value if isinstance(value, dict) else {}
    return {**held, step: _with_value(held.get(step), rest, new)}
