"""Fields of a custom object that its schema does not know, by path: what is pruned, and warned about."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kadm.sandbox.store import Object


def unknown_fields(schema: Object, obj: Object) -> tuple[str, ...]:
    """The paths of unknown fields outside metadata, sorted: ``spec.deep``, ``spec.items[0].x``."""
    body = {key: value for key, value in obj.items() if key not in ("apiVersion", "kind", "metadata")}
    return tuple(sorted(_unknown(schema, body, "")))


def _unknown(schema: Object, value: Any, path: str) -> Iterator[str]:
    if isinstance(value, list):
        items = schema.get("items")
        if isinstance(items, dict):
            for index, item in enumerate(value):
                yield from _unknown(items, item, f"{path}[{index}]")
    elif isinstance(value, dict):
        yield from _unknown_in(schema, value, path)


def _unknown_in(schema: Object, value: Object, path: str) -> Iterator[str]:
    properties = schema.get("properties") or {}
    others = schema.get("additionalProperties")
    permissive = bool(schema.get("x-kubernetes-preserve-unknown-fields")) or others is True
    embedded = bool(schema.get("x-kubernetes-embedded-resource"))
    for key, item in value.items():
        below = f"{path}.{key}" if path else key
        if key in properties:
            yield from _unknown(properties[key], item, below)
        elif isinstance(others, dict):
            yield from _unknown(others, item, below)
        elif not permissive and not (embedded and key in ("apiVersion", "kind", "metadata")):
            yield below
