"""Pruning and defaulting of custom objects by the schema of their CRD.

Source: structural schemas of apiextensions-apiserver. What the schema does not name is dropped, but below
``x-kubernetes-preserve-unknown-fields``; ``metadata`` at the root and in embedded resources keeps what ObjectMeta
knows.
"""

from __future__ import annotations

import copy

from kadm.model.objects import JsonObject, JsonValue
from kadm.sandbox.decoding import decode_metadata


def decoded(schema: JsonObject, obj: JsonObject, *, preserve_unknown_fields: bool = False) -> JsonObject:
    """A copy of the object with unknown fields pruned and defaults filled in; the caller may change it.

    Raises DecodeError where the metadata has wrong types.
    """
    kept = {"apiVersion": obj["apiVersion"], "kind": obj["kind"]}
    rest = _body(obj)
    body = copy.deepcopy(rest) if preserve_unknown_fields else _pruned_object(schema, rest, "", [])
    _fill(schema, body)
    for key in _HEAD:  # the schema may name them, but what it says of them is nothing
        body.pop(key, None)
    return {**kept, "metadata": decode_metadata(obj.get("metadata") or {}), **body}


def unknown_fields(schema: JsonObject, obj: JsonObject) -> tuple[str, ...]:
    """The paths of what is pruned outside metadata, sorted: ``spec.deep``, ``spec.items[0].x``.

    Raises DecodeError where the metadata of an embedded resource has wrong types.
    """
    unknown: list[str] = []
    _pruned_object(schema, _body(obj), "", unknown)
    return tuple(sorted(unknown))


_HEAD = ("apiVersion", "kind", "metadata")


def _body(obj: JsonObject) -> JsonObject:
    return {key: value for key, value in obj.items() if key not in _HEAD}


def _pruned(schema: JsonObject, value: JsonValue, path: str, unknown: list[str]) -> JsonValue:
    if isinstance(value, dict):
        return _pruned_object(schema, value, path, unknown)
    if isinstance(value, list):
        items = schema.get("items")
        if isinstance(items, dict):
            return [_pruned(items, item, f"{path}[{index}]", unknown) for index, item in enumerate(value)]
        return copy.deepcopy(value)
    return value


def _pruned_object(schema: JsonObject, value: JsonObject, path: str, unknown: list[str]) -> JsonObject:
    properties = schema.get("properties") or {}
    others = schema.get("additionalProperties")
    preserve = bool(schema.get("x-kubernetes-preserve-unknown-fields"))
    embedded = bool(schema.get("x-kubernetes-embedded-resource"))
    out: JsonObject = {}
    for key, item in value.items():
        below = f"{path}.{key}" if path else key
        if embedded and key in ("apiVersion", "kind"):
            out[key] = item
        elif embedded and key == "metadata":
            out[key] = decode_metadata(item, below) if isinstance(item, dict) else item
        elif key in properties:
            out[key] = _pruned(properties[key], item, below, unknown)
        elif isinstance(others, dict):
            out[key] = _pruned(others, item, below, unknown)
        elif others is True or preserve:
            out[key] = copy.deepcopy(item)
        else:
            unknown.append(below)
    return out


def _fill(schema: JsonObject, value: JsonValue) -> None:
    """Fill defaults in place. A null in the place of a default gives way to it, unless null is allowed there."""
    if isinstance(value, dict):
        for name, sub in (schema.get("properties") or {}).items():
            if "default" in sub and (name not in value or (value[name] is None and not sub.get("nullable"))):
                value[name] = copy.deepcopy(sub["default"])
            if name in value:
                _fill(sub, value[name])
        others = schema.get("additionalProperties")
        if isinstance(others, dict):
            known = schema.get("properties") or {}
            for name in [name for name in value if name not in known]:
                if value[name] is None and "default" in others and not others.get("nullable"):
                    value[name] = copy.deepcopy(others["default"])
                _fill(others, value[name])
    elif isinstance(value, list):
        items = schema.get("items")
        if isinstance(items, dict):
            for index, item in enumerate(value):
                if item is None and "default" in items and not items.get("nullable"):
                    value[index] = copy.deepcopy(items["default"])
                _fill(items, value[index])
