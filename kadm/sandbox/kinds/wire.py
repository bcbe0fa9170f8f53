"""An object as it looks after a server decoded and encoded it again.

A real API server keeps built-in objects as Go structs. Reading one into its struct and writing it out drops what the
struct does not know, drops zero values of fields that are optional and not pointers (``""``, 0, false, empty lists and
maps, null), adds fields that are always written (``resources: {}``, ``status: {}``), and puts quantities and times into
canonical form. ``wire_shapes.json`` says for each type which of this a field does.

Source of the shapes: the Go types of kubernetes/api, apimachinery meta/v1, apiextensions-apiserver and kube-aggregator
at 1.36: field names, Go types, and ``omitempty`` tags. A field's shape is text: ``?`` written only if not zero, then
``*`` pointer, ``[`` list of, ``{`` map of, and at last ``s`` string, ``i`` integer, ``f`` float, ``b`` bool, ``y``
base64, ``q`` quantity, ``t`` time, ``u`` time with microseconds, ``x`` integer or string, ``r`` any JSON, or ``#``
and a type.
"""

from __future__ import annotations

import base64
import binascii
import copy
import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import cache
from importlib import resources
from typing import Any

from kadm.model.objects import JsonObject, JsonValue
from kadm.sandbox.kinds import quantities

_Codec = Callable[[Any], Any]


class _Zero:
    """Marks a value that is not written."""


_ZERO = _Zero()


@cache
def _shapes() -> Mapping[str, Any]:
    text = resources.files("kadm.sandbox.kinds").joinpath("wire_shapes.json").read_text(encoding="utf-8")
    shapes: Mapping[str, Any] = json.loads(text)
    return shapes


def known(api_version: str, kind: str) -> bool:
    """Whether the shapes of this kind are known."""
    return f"{api_version}.{kind}" in _shapes()["kinds"]


def normalised(obj: JsonObject) -> JsonObject:
    """A copy of a built-in object as the server writes it; the caller may change it.

    Values of a wrong type are kept: telling of them is the decoder's task. An object of an unknown kind is only copied.
    """
    api_version, kind = obj["apiVersion"], obj["kind"]
    type_name = _shapes()["kinds"].get(f"{api_version}.{kind}")
    if type_name is None:
        return copy.deepcopy(obj)
    return {"apiVersion": api_version, "kind": kind, **_struct(type_name)(obj)}


def object_meta(metadata: JsonObject) -> JsonObject:
    """A copy of an object's metadata as the server writes it: what ObjectMeta does not know is dropped."""
    known_part: JsonObject = _struct("meta/v1.ObjectMeta")(metadata)
    return known_part


def empty_status(api_version: str, kind: str) -> JsonValue:
    """The status of a built-in object that no controller has seen yet; None where the kind has none."""
    type_name = _shapes()["kinds"].get(f"{api_version}.{kind}")
    shape = _shapes()["types"][type_name].get("status") if type_name else None
    return _struct(shape[1:])({}) if shape and shape[0] == "#" else None


@cache
def _struct(type_name: str) -> _Codec:
    codecs: dict[str, _Codec] = {}
    always: list[tuple[str, Callable[[], Any]]] = []

    def run(value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        out: dict[str, Any] = {}
        for key, item in value.items():
            if item is not None and (codec := codecs.get(key)) is not None:
                done = codec(item)
                if done is not _ZERO:
                    out[key] = done
        for key, zero in always:
            if key not in out:
                out[key] = zero()
        return out

    for name, shape in sorted(_shapes()["types"][type_name].items()):
        optional = shape.startswith("?")
        codecs[name] = _field(shape.lstrip("?"), optional=optional)
        if not optional:
            always.append((name, _zero_of(shape)))
    return run


def _zero_of(shape: str) -> Callable[[], Any]:
    if shape[0] == "#":
        return lambda: _late(shape[1:])({})
    value = {"s": "", "i": 0, "f": 0, "b": False, "q": "0", "x": 0}.get(shape[0])
    return lambda: value


def _late(type_name: str) -> _Codec:
    """The codec of a type, made when it is first needed: types refer to themselves."""

    def run(value: Any) -> Any:
        return _struct(type_name)(value)

    return run


def _field(shape: str, *, optional: bool) -> _Codec:
    codec = _codec(shape)
    if not optional:
        if shape[0] in "[{":  # stored as protobuf, an empty list or map comes back as none at all
            return lambda value: codec(value) if value else None
        return codec
    if shape[0] == "*":
        return codec
    if shape[0] in "s[{y":
        return lambda value: codec(value) if value or not isinstance(value, str | list | dict) else _ZERO
    if shape[0] in "ifb":
        return lambda value: _ZERO if value is False or value == 0 else value
    return codec


def _codec(shape: str) -> _Codec:
    mark, rest = shape[0], shape[1:]
    match mark:
        case "*":
            return _codec(rest)
        case "#":
            return _late(rest)
        case "[":
            return _list(_element(rest))
        case "{":
            return _map(_element(rest))
        case "q":
            return _quantity
        case "y":
            return _bytes
        case "t":
            return _seconds
        case "u":
            return _micros
        case "r":
            return copy.deepcopy
        case _:
            return _same


def _element(shape: str) -> _Codec:
    if shape == "s":
        return lambda value: "" if value is None else value
    codec, zero = _codec(shape), _zero_of(shape)
    return lambda value: zero() if value is None else codec(value)


def _list(element: _Codec) -> _Codec:
    return lambda value: [element(item) for item in value] if isinstance(value, list) else value


def _map(element: _Codec) -> _Codec:
    return lambda value: {key: element(item) for key, item in value.items()} if isinstance(value, dict) else value


def _same(value: Any) -> Any:
    return value


def _quantity(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return value
    text = str(value)
    return quantities.canonical(text) or text


def _bytes(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return base64.b64encode(base64.b64decode("".join(value.split()), validate=True)).decode("ascii")
    except binascii.Error:
        return value


def _seconds(value: Any) -> Any:
    moment = _moment(value)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ") if moment else value


def _micros(value: Any) -> Any:
    moment = _moment(value)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ") if moment else value


def _moment(value: Any) -> datetime | None:
    if not isinstance(value, str):
        return None
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        return None
    return moment.astimezone(UTC) if moment.tzinfo else None
