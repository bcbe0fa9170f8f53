"""A pod template as the text over which Kubernetes hashes it, so that ReplicaSets get the names they get there.

The hash of a pod template is one over a dump of its Go structs, with Go type names and every unset field. What must be
known for that is data: ``pod_go_types.json`` holds the structs of core/v1 (kubernetes/api at v0.36.2) that a template
reaches, as Go name, JSON name ("" for an embedded struct) and Go type of each field, and the types that are other names
of simple ones. An API type that gains a field changes all hashes: they differ between Kubernetes versions.

Source: pkg/util/hash.DeepHashObject, apimachinery util/dump.ForHash (go-spew with ``%#v``, sorted keys, no methods).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any

from kadm.sandbox.api import Object

NIL = "<nil>"
ZERO_TIME = "{Time:(time.Time){wall:(uint64)0 ext:(int64)0 loc:(*time.Location)<nil>}}"
QUANTITY = re.compile(r"([+-]?)(\d*)\.?(\d*)(?:([KMGTPE]i)|([numkMGTPE])|[eE]([+-]?\d+))?")
BINARY = ("Ki", "Mi", "Gi", "Ti", "Pi", "Ei")
DECIMAL = {"n": -9, "u": -6, "m": -3, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}


@cache
def _types() -> Mapping[str, Any]:
    text = resources.files("kadm.sandbox.controllers").joinpath("pod_go_types.json").read_text(encoding="utf-8")
    types: Mapping[str, Any] = json.loads(text)
    return types


def dump(template: Object) -> str:
    """The dump of a v1.PodTemplateSpec given as JSON, defaults filled in."""
    return _typed("v1.PodTemplateSpec", template)


def _typed(kind: str, value: Any) -> str:
    """A value with its type before it."""
    return f"({kind}){_bare(kind, value)}"


def _bare(kind: str, value: Any) -> str:
    """A value without its type; None is Go's zero value."""
    if kind.startswith("*"):
        return NIL if value is None else _bare(kind[1:], value)
    if kind.startswith("[]"):
        return f"[{' '.join(_element(kind[2:], entry) for entry in value)}]" if value else NIL
    if kind.startswith("map["):
        inner = kind.partition("]")[2]
        entries = (f"{key}:{_element(inner, value[key])}" for key in sorted(value)) if value else ()
        return f"map[{' '.join(entries)}]" if value else NIL
    types = _types()
    if kind in types["structs"]:
        return _struct(types["structs"][kind], value or {})
    if kind in types["named"]:
        return _bare(types["named"][kind], value)
    return _leaf(kind, value)


def _element(kind: str, value: Any) -> str:
    """An element of a list or map: no type, but a pointer shows as one."""
    return f"<*>{_bare(kind[1:], value)}" if kind.startswith("*") else _bare(kind, value)


def _struct(fields: list[list[str]], value: Mapping[str, Any]) -> str:
    parts = (f"{name}:{_typed(kind, value.get(key) if key else _embedded(kind, value))}" for name, key, kind in fields)
    return f"{{{' '.join(parts)}}}"


def _embedded(kind: str, value: Mapping[str, Any]) -> Any:
    """What of ``value`` belongs to a struct that is written inline: None if it is a pointer and nothing does."""
    structs = _types()["structs"]
    own = {key: value[key] for _, key, _ in structs[kind.removeprefix("*")] if key in value}
    return own or (None if kind.startswith("*") else {})


def _leaf(kind: str, value: Any) -> str:
    match kind:
        case "bool":
            return "true" if value else "false"
        case "string":
            return value or ""
        case "v1.Time":
            return ZERO_TIME
        case "intstr.IntOrString":
            return _int_or_string(value)
        case "resource.Quantity":
            return _quantity(value)
        case _:
            return str(value or 0)


def _int_or_string(value: str | int | None) -> str:
    text = isinstance(value, str)
    number, string = (0, value) if text else (value or 0, "")
    return f"{{Type:(intstr.Type){int(text)} IntVal:(int32){number} StrVal:(string){string}}}"


def _quantity(value: Any) -> str:
    """A quantity as its parser leaves it. One beyond 64 bits comes out otherwise; nobody requests so much."""
    text = "" if value is None else str(value)
    matched = QUANTITY.fullmatch(text)
    if not text or matched is None:
        number, scale, form = 0, 0, ""
    else:
        sign, whole, fraction, binary, decimal, exponent = matched.groups()
        number, scale, form = int(f"{sign}{whole}{fraction}"), -len(fraction), "DecimalSI"
        if binary:
            number, form = number * 1024 ** (BINARY.index(binary) + 1), "BinarySI"
        elif decimal:
            scale += DECIMAL[decimal]
        elif exponent is not None:
            scale, form = scale + int(exponent), "DecimalExponent"
    return (
        f"{{i:(resource.int64Amount){{value:(int64){number} scale:(resource.Scale){scale}}} "
        f"d:(resource.infDecAmount){{Dec:(*inf.Dec){NIL}}} s:(string){text} Format:(resource.Format){form}}}"
    )
