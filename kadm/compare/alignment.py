"""Lists of keyed items as maps, so that an item put in front of others does not make all of them differ.

Server-side apply merges such lists by key too; here any key that is present and unique on both sides will do, for the
result is only shown.
"""

from __future__ import annotations

from typing import Any

from kadm.model.objects import JsonValue

KEYS = (
    ("name",),
    ("mountPath",),
    ("devicePath",),
    ("containerPort",),
    ("containerPort", "protocol"),
    ("port",),
    ("port", "protocol"),
    ("type",),
    ("topologyKey",),
    ("topologyKey", "whenUnsatisfiable"),
    ("uid",),
    ("ip",),
    ("key",),
)
"""Candidates in order of preference: the list-map keys of Kubernetes' own types."""

ORDER = "order"
"""Pseudo key that holds the order of a keyed list's items."""


def align(before: JsonValue, after: JsonValue) -> tuple[JsonValue, JsonValue]:
    """Both values with their keyed lists turned into maps ``[key=value]`` → item, the same way on both sides.

    Where it takes two keys to tell items apart: ``[port=53,protocol=UDP]``.
    """
    if isinstance(before, dict) and isinstance(after, dict):
        return _align_maps(before, after)
    if isinstance(before, list) and isinstance(after, list):
        key = _shared_key(before, after)
        if key is not None:
            return _align_maps(_by_key(before, after, key), _by_key(after, before, key))
        if len(before) == len(after):
            pairs = [align(left, right) for left, right in zip(before, after, strict=True)]
            return [left for left, _ in pairs], [right for _, right in pairs]
    return before, after


def _align_maps(before: dict[str, Any], after: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    left, right = dict(before), dict(after)
    for name in before.keys() & after.keys():
        left[name], right[name] = align(before[name], after[name])
    return left, right


def _shared_key(before: list[Any], after: list[Any]) -> tuple[str, ...] | None:
    if not before or not after:
        return None
    return next((key for key in KEYS if _identifies(before, key) and _identifies(after, key)), None)


def _identifies(items: list[Any], key: tuple[str, ...]) -> bool:
    seen: set[tuple[Any, ...]] = set()
    for item in items:
        values = tuple(item.get(name) for name in key) if isinstance(item, dict) else ()
        if not values or not all(isinstance(value, str | int) for value in values) or values in seen:
            return False
        seen.add(values)
    return True


def _by_key(items: list[Any], others: list[Any], key: tuple[str, ...]) -> dict[str, Any]:
    named = {_called(item, key): item for item in items}
    common = {_called(item, key) for item in others} & named.keys()
    # Only the order of what both sides hold is a difference of its own: an added item is seen as added.
    return {**named, ORDER: [_values(item, key) for item in items if _called(item, key) in common]}


def _called(item: dict[str, Any], key: tuple[str, ...]) -> str:
    return f"[{','.join(f'{name}={item[name]}' for name in key)}]"


def _values(item: dict[str, Any], key: tuple[str, ...]) -> str:
    return "/".join(str(item[name]) for name in key)
