"""Request bodies in Kubernetes' protobuf form, which kubectl sends for built-in kinds; answers go out as JSON.

A body is the four bytes ``k8s\\0`` and a ``runtime.Unknown`` message (1: type meta, 2: the object's own message). What
the fields of a message are is in ``protobuf_fields.json``. Source: the generated.proto files of kubernetes/api and
apimachinery, branch release-1.36, with the JSON names of their Go types. Its sections: ``kinds``: apiVersion/kind →
type; ``types``: type → field number → ``name:shape``. The name ``>`` stands for fields that JSON has in the parent
itself. A shape is ``[`` (repeated) or ``{`` (map with text keys) before: ``s`` text, ``y`` bytes, ``b`` bool, ``i``
integer, ``f`` double, ``q`` quantity, ``x`` integer or text, ``t`` time, ``u`` time with microseconds, ``d`` duration,
``r`` raw JSON, ``e`` a wrapped list of texts, or ``#`` and a type.
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

from kadm.sandbox.store import Object

MEDIA_TYPE = "application/vnd.kubernetes.protobuf"

_MAGIC = b"k8s\x00"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class ProtobufError(ValueError):
    """A body is no Kubernetes protobuf, or of a kind whose fields are not known."""


class _Data(msgspec.Struct, frozen=True):
    kinds: dict[str, str]
    types: dict[str, dict[str, str]]


@functools.cache
def _data() -> _Data:
    raw = resources.files(__package__).joinpath("protobuf_fields.json").read_bytes()
    return msgspec.json.decode(raw, type=_Data)


def read_protobuf(raw: bytes) -> Object:
    """The object in a body, with its apiVersion and kind. Raises ProtobufError."""
    if not raw.startswith(_MAGIC):
        raise ProtobufError("provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]")
    try:
        envelope = dict(_fields(memoryview(raw)[len(_MAGIC) :]))
        meta = dict(_fields(envelope.get(1, b"")))
        api_version, kind = _text(meta.get(1, b"")), _text(meta.get(2, b""))
        type_name = _data().kinds.get(f"{api_version}/{kind}")
        if type_name is None:
            raise ProtobufError(f'no kind "{kind}" is registered for version "{api_version}"')
        return {"apiVersion": api_version, "kind": kind, **_message(type_name, envelope.get(2, b""))}
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


_SCALARS: Mapping[str, Callable[[Any], Any]] = {
    "s": _text,
    "y": lambda data: base64.b64encode(bytes(data)).decode(),
    "b": bool,
    "i": _signed,
    "f": lambda data: struct.unpack("<d", data)[0],
    "q": lambda data: _text(dict(_fields(data)).get(1, b"")),
    "x": _int_or_text,
    "t": lambda data: _time(data, micro=False),
    "u": lambda data: _time(data, micro=True),
    "d": _duration,
    "r": lambda data: json.loads(_text(dict(_fields(data)).get(1, b"null"))),
    "e": lambda data: [_text(item) for number, item in _fields(data) if number == 1],
}


def _value(shape: str, data: Any) -> Any:
    return _message(shape[1:], data) if shape.startswith("#") else _SCALARS[shape](data)


_EMPTY_TIMES = frozenset({"t", "u"})


def _message(type_name: str, data: Any) -> Object:
    """The JSON of a message. Empty texts are left out: Go writes them to protobuf where it leaves them out of JSON."""
    known = _data().types[type_name]
    out: Object = {}
    for number, item in _fields(data):
        field = known.get(str(number))
        if field is None:
            continue
        name, _, shape = field.partition(":")
        if name == ">":
            out.update(_message(shape[1:], item))
        elif shape.startswith("["):
            out.setdefault(name, []).extend(_items(shape[1:], item))
        elif shape.startswith("{"):
            entry = dict(_fields(item))
            empty: Any = 0 if shape[1:] in ("i", "b") else b""
            out.setdefault(name, {})[_text(entry.get(1, b""))] = _value(shape[1:], entry.get(2, empty))
        elif shape in _EMPTY_TIMES and not len(item):
            continue  # an unset time
        else:
            value = _value(shape, item)
            if value != "":
                out[name] = value
    return out


def _items(shape: str, item: Any) -> list[Any]:
    if shape in ("i", "b") and not isinstance(item, int):  # packed
        values, position = [], 0
        while position < len(item):
            value, position = _varint(item, position)
            values.append(_SCALARS[shape](value))
        return values
    return [_value(shape, item)]
