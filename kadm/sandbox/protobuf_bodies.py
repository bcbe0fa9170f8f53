"""Request bodies in Kubernetes' protobuf form, which kubectl sends for built-in kinds; answers go out as JSON.

A body is the four bytes ``k8s\\0`` and a ``runtime.Unknown`` message (1: type meta, 2: the object's own message). Which
numbers the fields of a message have is in ``protobuf_fields.json``: type → field number → the field's name in JSON, or
``>`` and a type whose fields JSON has in the parent itself. Of which types the fields are is in ``schema``. Source: the
generated.proto files of kubernetes/api and apimachinery, branch release-1.36, with the JSON names of their Go types.
"""

from __future__ import annotations

import base64
import functools
import json
import struct
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from importlib import resources
from typing import Any

import msgspec

from kadm.sandbox.schema import Atom, builtin
from kadm.sandbox.store import Object

MEDIA_TYPE = "application/vnd.kubernetes.protobuf"

_MAGIC = b"k8s\x00"
_INLINE = ">"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class ProtobufError(ValueError):
    """A body is no Kubernetes protobuf, or of a kind whose fields are not known."""


@functools.cache
def _names() -> dict[str, dict[str, str]]:
    raw = resources.files(__package__).joinpath("protobuf_fields.json").read_bytes()
    return msgspec.json.decode(raw, type=dict[str, dict[str, str]])


def read_protobuf(raw: bytes) -> Object:
    """The object in a body, with its apiVersion and kind. Raises ProtobufError."""
    if not raw.startswith(_MAGIC):
        raise ProtobufError("provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]")
    try:
        envelope = dict(_fields(memoryview(raw)[len(_MAGIC) :]))
        meta = dict(_fields(envelope.get(1, b"")))
        api_version, kind = _text(meta.get(1, b"")), _text(meta.get(2, b""))
        group, _, version = api_version.rpartition("/")
        schema = builtin(group, version, kind)
        if schema is None or schema.root.name not in _names():
            raise ProtobufError(f'no kind "{kind}" is registered for version "{api_version}"')
        return {"apiVersion": api_version, "kind": kind, **_value(schema.root, envelope.get(2, b""))}
    except (IndexError, UnicodeDecodeError, struct.error, TypeError, json.JSONDecodeError) as fault:
        raise ProtobufError(f"proto: {fault}") from fault


def _fields(data: Any) -> Iterator[tuple[int, Any]]:
    """Field number and value of each field in order: int for numbers, a view for everything with a length."""
    position = 0
    while position < len(data):
        key, position = _varint(data, position)
        match key & 7:
            case 0:
                value, position = _varint(data, position)
                yield key >> 3, value
            case 1:
                yield key >> 3, data[position : position + 8]
                position += 8
            case 2:
                length, position = _varint(data, position)
                if position + length > len(data):
                    raise ProtobufError("proto: unexpected EOF")
                yield key >> 3, data[position : position + length]
                position += length
            case 5:
                yield key >> 3, data[position : position + 4]
                position += 4
            case wire:
                raise ProtobufError(f"proto: illegal wireType {wire}")


def _varint(data: Any, position: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, position
        shift += 7


def _signed(value: int) -> int:
    return value - (1 << 64) if value >= 1 << 63 else value


def _text(data: Any) -> str:
    return bytes(data).decode()


def _time(data: Any, *, micro: bool) -> str:
    parts = dict(_fields(data))
    moment = _EPOCH + timedelta(seconds=_signed(parts.get(1, 0)), microseconds=parts.get(2, 0) // 1000)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ" if micro else "%Y-%m-%dT%H:%M:%SZ")


def _int_or_text(data: Any) -> int | str:
    parts = dict(_fields(data))
    return _text(parts.get(3, b"")) if parts.get(1) else _signed(parts.get(2, 0))


def _duration(data: Any) -> str:
    return f"{_signed(dict(_fields(data)).get(1, 0)) / 1e9:g}s"


def _in_message(data: Any, default: Any = b"") -> Any:
    """The first field of a message that stands for a single value."""
    return dict(_fields(data)).get(1, default)


_SCALARS: Mapping[str, Callable[[Any], Any]] = {
    "string": _text,
    "bytes": lambda data: base64.b64encode(bytes(data)).decode(),
    "bool": bool,
    "int": _signed,
    "int32": _signed,
    "int64": _signed,
    "float64": lambda data: struct.unpack("<d", data)[0],
    "quantity": lambda data: _text(_in_message(data)),
    "intstr": _int_or_text,
    "time": lambda data: _time(data, micro=False),
    "microtime": lambda data: _time(data, micro=True),
    "duration": _duration,
    "": lambda data: json.loads(_text(_in_message(data, b"null"))),
}
"""Codec of a scalar → what reads it; "" is a value of no declared type, which is JSON."""

_NUMBERS = frozenset({"bool", "int", "int32", "int64"})
"""Codecs of what protobuf writes as a number; several of them may stand in one run of bytes."""


def _value(atom: Atom, data: Any) -> Any:
    if atom.is_struct:
        return _message(atom.name, atom, data)
    if atom.items is not None and not atom.scalar:  # a list in a map is a message with the items in it
        return [_value(atom.items, item) for number, item in _fields(data) if number == 1]
    return _SCALARS[atom.codec](data)


def _message(message: str, atom: Atom, data: Any) -> Object:
    """The JSON of a message, whose fields are those of ``atom`` or, where JSON has it inline, a part of them.

    Empty texts are left out: Go writes them to protobuf where it leaves them out of JSON.
    """
    known = _names()[message]
    out: Object = {}
    for number, item in _fields(data):
        name = known.get(str(number))
        if name is None:
            continue
        if name.startswith(_INLINE):
            out.update(_message(name.removeprefix(_INLINE), atom, item))
            continue
        field = atom.fields[name]
        if field.items is not None and not field.scalar:
            out.setdefault(name, []).extend(_items(field.items, item))
        elif field.values is not None and not field.scalar and not field.is_struct:
            entry = dict(_fields(item))
            empty: Any = 0 if field.values.codec in _NUMBERS else b""
            out.setdefault(name, {})[_text(entry.get(1, b""))] = _value(field.values, entry.get(2, empty))
        elif field.codec in ("time", "microtime") and not len(item):
            continue  # an unset time
        else:
            value = _value(field, item)
            if value != "":
                out[name] = value
    return out


def _items(atom: Atom, item: Any) -> list[Any]:
    if atom.codec in _NUMBERS and not isinstance(item, int):  # packed
        values, position = [], 0
        while position < len(item):
            value, position = _varint(item, position)
            values.append(_SCALARS[atom.codec](value))
        return values
    return [_value(atom, item)]
