"""The type of a custom kind, made from the OpenAPI v3 schema of its CustomResourceDefinition.

Source of the rules: kube-openapi, pkg/schemaconv, which reads the ``x-kubernetes-`` extensions for structured merge
diff.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kadm.sandbox.schema import UNTYPED, Atom, Scalar, Schema, object_meta

_STRING_FORMATS: Mapping[str, Scalar] = {"": "string", "byte": "string"}
"""Formats of strings that merge as strings; all others are checked no further."""


def from_crd(
    group: str,
    version: str,
    kind: str,
    schema: Mapping[str, Any] | None,
    *,
    preserve_unknown_fields: bool = False,
) -> Schema:
    """The type of a custom kind in one version.

    ``schema`` is that version's ``openAPIV3Schema``; None: nothing is known.
    """
    string = Atom(scalar="string", codec="string")
    fixed = {"apiVersion": string, "kind": string, "metadata": object_meta()}
    if schema is None:
        root = Atom(is_map=True, fields=fixed, values=UNTYPED)
    else:
        made = _atom(schema, preserve_unknown_fields)
        root = Atom(is_map=True, fields={**made.fields, **fixed}, values=made.values)
    return Schema(group, version, kind, root, typed=False)


def _atom(schema: Mapping[str, Any], preserve: bool) -> Atom:
    """The type of one schema node; ``preserve`` says that it or a node above it keeps unknown fields."""
    preserve = preserve or schema.get("x-kubernetes-preserve-unknown-fields") is True
    match schema.get("type", ""):
        case "object":
            return _map(schema, preserve)
        case "array":
            return _list(schema, preserve)
        case "integer" | "number":
            return Atom(scalar="numeric")
        case "boolean":
            return Atom(scalar="boolean")
        case "string":
            return Atom(scalar=_STRING_FORMATS.get(schema.get("format", ""), "untyped"))
        case _:
            return _any(schema, preserve)


def _map(schema: Mapping[str, Any], preserve: bool) -> Atom:
    properties: Mapping[str, Any] = schema.get("properties") or {}
    fields = {name: _atom(below, preserve) for name, below in properties.items()}
    if schema.get("x-kubernetes-embedded-resource") is True:
        string = Atom(scalar="string", codec="string")
        fields = {"apiVersion": string, "kind": string, "metadata": object_meta(), **fields}
    atomic = schema.get("x-kubernetes-map-type") == "atomic"
    values = _values(schema, preserve, declared=bool(properties))
    return Atom(is_map=True, map_atomic=atomic, fields=fields, values=values)


def _values(schema: Mapping[str, Any], preserve: bool, *, declared: bool) -> Atom | None:
    """The type of undeclared keys: None where declared fields are all there may be."""
    additional = schema.get("additionalProperties")
    if additional is None:
        return UNTYPED if preserve or not declared else None
    if isinstance(additional, Mapping):
        return _atom(additional, preserve)
    return UNTYPED if additional else None


def _list(schema: Mapping[str, Any], preserve: bool) -> Atom:
    items = schema.get("items")
    element = _atom(items, preserve) if isinstance(items, Mapping) else UNTYPED
    keys: tuple[str, ...] | None = None
    defaults: dict[str, Any] = {}
    match schema.get("x-kubernetes-list-type"):
        case "set":
            keys = ()
        case "map":
            keys = tuple(schema.get("x-kubernetes-list-map-keys") or ())
            properties = items.get("properties") or {} if isinstance(items, Mapping) else {}
            defaults = {
                key: properties[key]["default"]
                for key in keys
                if isinstance(properties.get(key), Mapping) and properties[key].get("default") is not None
            }
    return Atom(items=element, keys=keys, key_defaults=defaults)


def _any(schema: Mapping[str, Any], preserve: bool) -> Atom:
    """A node without a type takes any shape; what it says of lists and maps holds for these."""
    made_map, made_list = _map(schema, preserve), _list(schema, preserve)
    return Atom(
        scalar="untyped",
        is_map=True,
        map_atomic=made_map.map_atomic,
        fields=made_map.fields,
        values=made_map.values,
        items=made_list.items,
        keys=made_list.keys,
        key_defaults=made_list.key_defaults,
    )
