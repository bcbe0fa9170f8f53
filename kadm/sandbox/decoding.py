"""What a Go server makes of the JSON of an object: the form in which it is stored and answered.

Kubernetes reads a built-in object into a Go struct and writes that out again. On the way unknown fields go, nulls
become zero values, zero values are left out (or appear, where Go always writes a field), quantities take their
canonical form, and values of the wrong type are refused. Custom objects are kept as they are but for their metadata.

Source of the rules: encoding/json and sigs.k8s.io/json, with the field tags of the Go types (see ``schema``).
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from kadm.model.quantity import QuantityError, canonical_quantity
from kadm.sandbox.schema import Atom, FieldRule, Schema, object_meta

Object = dict[str, Any]


class DecodeError(Exception):
    """A value has the wrong JSON type or form. ``str()`` is Go's message."""


@dataclass(frozen=True, slots=True)
class Decoded:
    """An object as it is stored, and the fields of the input that no type declares, in the input's order.

    ``unknown`` has paths such as ``spec.template.spec.containers[0].imagge``; for custom objects only those in
    metadata.
    """

    object: Object
    unknown: tuple[str, ...]


def decode(obj: Mapping[str, Any], schema: Schema) -> Decoded:
    """The object as the server stores it. Raises DecodeError."""
    unknown: list[str] = []
    if schema.typed:
        out = _struct(obj, schema.root, "", unknown)
    else:
        out = dict(obj)
        if out.get("metadata") is not None:
            out["metadata"] = _value(out["metadata"], object_meta(), "metadata", schema.root, unknown)
    given = obj.get("metadata")
    if isinstance(given, dict) and given.get("managedFields") == []:
        # An empty list is an order to forget all owners; Go tells it from none at all, and ``[{}]`` says the same.
        out["metadata"]["managedFields"] = [{}]
    return Decoded(out, tuple(unknown))


def decode_metadata(metadata: Mapping[str, Any], path: str = "metadata") -> Object:
    """``metadata`` of an object that no Go type declares, as it is stored; ``path`` is where errors say it stands.

    Raises DecodeError.
    """
    return _struct(metadata, object_meta(), path, [])


@functools.cache
def zero(schema: Schema) -> Object:
    """An object of which nothing is set, as Go writes it. Shared: never change it."""
    head = {"apiVersion": schema.api_version, "kind": schema.kind}
    return {**_struct({}, schema.root, "", []), **head} if schema.typed else head


def _struct(value: Mapping[str, Any], atom: Atom, path: str, unknown: list[str]) -> Object:
    fields, rules = atom.fields, atom.rules
    out: Object = {}
    for name, item in value.items():
        below = fields.get(name)
        if below is None:
            unknown.append(f"{path}.{name}" if path else name)
            continue
        written = _field(item, below, rules[name], name, path, atom, unknown)
        if written is not _OMITTED:
            out[name] = written
    for name in _implied(atom):
        if name not in out:
            written = _field(None, fields[name], rules[name], name, path, atom, unknown)
            if written is not _OMITTED:
                out[name] = written
    return out


_OMITTED = object()


@functools.cache
def _implied(atom: Atom) -> tuple[str, ...]:
    """The fields of a struct that Go writes even if the input lacks them."""
    return tuple(
        name
        for name, below in atom.fields.items()
        if _field(None, below, atom.rules[name], name, "", atom, []) is not _OMITTED
    )


def _field(value: object, atom: Atom, rule: FieldRule, name: str, path: str, owner: Atom, unknown: list[str]) -> Any:
    """What Go writes for one field, or _OMITTED."""
    if value is None:
        if rule.pointer or atom.is_list or (atom.is_map and not atom.is_struct) or atom.codec == "bytes":
            return None if rule.always else _OMITTED
        if atom.is_struct:
            made = _struct({}, atom, f"{path}.{name}" if path else name, unknown)
            return _OMITTED if rule.omit_zero and _is_zero(made) else made
        if atom.codec in ("time", "microtime"):
            return _OMITTED if rule.omit_zero else None
        return _zero_scalar(atom.codec) if rule.always or atom.codec in _NEVER_EMPTY else _OMITTED
    where = f"{path}.{name}" if path else name
    if not atom.is_struct and not atom.is_map and not atom.is_list:
        written = _SCALARS[atom.codec](value, where, owner)
        if rule.pointer or rule.always or atom.codec in _NEVER_EMPTY or written not in ("", 0, False):
            return written
        return _OMITTED
    written = _value(value, atom, where, owner, unknown)
    if rule.pointer or written:
        return written
    if rule.always:
        # What is stored as protobuf comes back without its empty lists and maps.
        return written if atom.is_struct or atom.scalar else None
    if atom.is_struct:
        return _OMITTED if rule.omit_zero else written
    return written if atom.scalar and written not in ({}, []) else _OMITTED


def _is_zero(made: Object) -> bool:
    return not any(made.values())


def _value(value: object, atom: Atom, path: str, owner: Atom, unknown: list[str]) -> Any:
    if atom.is_struct:
        if value is None:
            return _struct({}, atom, path, unknown)
        if not isinstance(value, dict):
            raise _mismatch(value, owner, path, _go_name(atom))
        return _struct(value, atom, path, unknown)
    if atom.scalar and atom.is_map:
        return value  # untyped: kept as it is
    if atom.is_map:
        assert atom.values is not None
        if not isinstance(value, dict):
            if value is None:
                return None
            raise _mismatch(value, owner, path, _go_name(atom))
        return {name: _element(item, atom.values, f"{path}.{name}", owner, unknown) for name, item in value.items()}
    if atom.is_list:
        assert atom.items is not None
        if not isinstance(value, list):
            if value is None:
                return None
            raise _mismatch(value, owner, path, _go_name(atom))
        items = atom.items
        return [_element(item, items, f"{path}[{index}]", owner, unknown) for index, item in enumerate(value)]
    return _SCALARS[atom.codec](value, path, owner)


def _element(value: object, atom: Atom, path: str, owner: Atom, unknown: list[str]) -> Any:
    """What Go writes for an item of a list or map."""
    if value is None and not (atom.is_struct or atom.is_map or atom.is_list):
        return _zero_scalar(atom.codec)
    return _value(value, atom, path, owner, unknown)


# Scalars

_NEVER_EMPTY = frozenset({"quantity", "intstr", "duration"})
"""Scalars that are Go structs: without a pointer Go writes them always."""


def _zero_scalar(codec: str) -> Any:
    if codec in ("string", "bytes"):
        return ""
    if codec == "bool":
        return False
    if codec == "quantity":
        return "0"
    if codec == "duration":
        return "0s"
    return None if codec in ("time", "microtime") else 0


def _string(value: object, path: str, owner: Atom) -> Any:
    if isinstance(value, str):
        return value
    raise _mismatch(value, owner, path, "string")


def _bytes(value: object, path: str, owner: Atom) -> Any:
    if not isinstance(value, str):
        raise _mismatch(value, owner, path, "[]uint8")
    text = value.replace("\r", "").replace("\n", "")
    if _BASE64.fullmatch(text) is None or len(text) % 4:
        at = next(
            (index for index, letter in enumerate(text) if not _BASE64_LETTER.fullmatch(letter)), len(text) // 4 * 4
        )
        raise DecodeError(f"illegal base64 data at input byte {at}")
    return text


_BASE64 = re.compile(r"[A-Za-z0-9+/]*={0,2}")
_BASE64_LETTER = re.compile(r"[A-Za-z0-9+/]")


def _bool(value: object, path: str, owner: Atom) -> Any:
    if isinstance(value, bool):
        return value
    raise _mismatch(value, owner, path, "bool")


def _integer(codec: str, bits: int) -> Callable[[object, str, Atom], Any]:
    low, high = -(1 << (bits - 1)), (1 << (bits - 1)) - 1

    def read(value: object, path: str, owner: Atom) -> Any:
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise _mismatch(value, owner, path, codec)
        if isinstance(value, float) and not value.is_integer():
            raise _mismatch(value, owner, path, codec, shown=f"number {value}")
        number = int(value)
        if not low <= number <= high:
            raise _mismatch(value, owner, path, codec, shown=f"number {number}")
        return number

    return read


_int32 = _integer("int32", 32)


def _float(value: object, path: str, owner: Atom) -> Any:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise _mismatch(value, owner, path, "float64")
    return value


def _quantity(value: object, path: str, owner: Atom) -> Any:
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise DecodeError(_NO_QUANTITY)
    try:
        return _canonical(value.strip() if isinstance(value, str) else value)
    except QuantityError:
        raise DecodeError(_NO_QUANTITY) from None


_canonical = functools.lru_cache(maxsize=4096)(canonical_quantity)
_NO_QUANTITY = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"


def _int_or_string(value: object, path: str, owner: Atom) -> Any:
    if isinstance(value, str):
        return value
    return _int32(value, path, owner)


def _time(value: object, path: str, owner: Atom) -> Any:
    moment, _ = _moment(value, path, owner, "2006-01-02T15:04:05Z07:00")
    return moment.isoformat(timespec="seconds")[:-6] + "Z"


def _micro_time(value: object, path: str, owner: Atom) -> Any:
    layout = "2006-01-02T15:04:05.000000Z07:00"
    moment, found = _moment(value, path, owner, layout)
    fraction = found["fraction"] or ""
    if len(fraction) != len(".000000"):
        raise DecodeError(_time_fault(found[0], layout, fraction + found["zone"], ".000000"))
    return moment.isoformat(timespec="microseconds")[:-6] + "Z"


_TIME = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?P<fraction>\.[0-9]+)?(?P<zone>Z|[+-][0-9]{2}:[0-9]{2})"
)


def _moment(value: object, path: str, owner: Atom, layout: str) -> tuple[datetime, re.Match[str]]:
    """The instant that a text names, in UTC, and the text's parts."""
    if not isinstance(value, str):
        raise _mismatch(value, owner, path, "string")
    found = _TIME.fullmatch(value)
    if found is None:
        raise DecodeError(_time_fault(value, layout, value, "2006"))
    try:
        return datetime.fromisoformat(value).astimezone(UTC), found
    except (ValueError, OverflowError):
        raise DecodeError(f'parsing time "{value}": out of range') from None


def _time_fault(value: str, layout: str, rest: str, part: str) -> str:
    """Go's message for a text that does not follow a time's layout."""
    return f'parsing time "{value}" as "{layout}": cannot parse "{rest}" as "{part}"'


def _duration(value: object, path: str, owner: Atom) -> Any:
    return _string(value, path, owner)


def _anything(value: object, path: str, owner: Atom) -> Any:
    return value


_SCALARS: Mapping[str, Callable[[object, str, Atom], Any]] = {
    "": _anything,
    "string": _string,
    "bytes": _bytes,
    "bool": _bool,
    "int": _integer("int", 64),
    "int32": _int32,
    "int64": _integer("int64", 64),
    "float64": _float,
    "quantity": _quantity,
    "intstr": _int_or_string,
    "time": _time,
    "microtime": _micro_time,
    "duration": _duration,
}


def _go_name(atom: Atom) -> str:
    """A type as Go's messages name it: ``v1.Container``, ``[]v1.Container``, ``map[string]string``."""
    if atom.is_struct:
        return atom.name.rpartition("/")[2]
    if atom.scalar == "untyped" and not atom.codec:
        return "interface {}"  # also a list and a map, of itself
    if atom.is_list and atom.items is not None:
        return "[]" + _go_name(atom.items)
    if atom.is_map and atom.values is not None and not atom.scalar:
        return "map[string]" + _go_name(atom.values)
    return {"bytes": "[]uint8", "intstr": "intstr.IntOrString", "quantity": "resource.Quantity"}.get(
        atom.codec, atom.codec
    )


def _mismatch(value: object, owner: Atom, path: str, wanted: str, *, shown: str = "") -> DecodeError:
    """Go's message for a JSON value of the wrong type."""
    what = shown
    if not what:
        match value:
            case bool():
                what = "bool"
            case int() | float():
                what = "number"
            case str():
                what = "string"
            case list():
                what = "array"
            case _:
                what = "object"
    struct = owner.name.rpartition(".")[2]
    place = re.sub(r"\[\d+\]", "", path)
    return DecodeError(f"json: cannot unmarshal {what} into Go struct field {struct}.{place} of type {wanted}")
