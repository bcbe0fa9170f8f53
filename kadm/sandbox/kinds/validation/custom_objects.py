"""Faults of custom objects by the schema of their CRD.

Source: OpenAPI v3 validation as apiextensions-apiserver runs it (kube-openapi): its texts and its order of checks. CEL
rules (``x-kubernetes-validations``) are not evaluated.
"""

from __future__ import annotations

import ipaddress
import re
import uuid
from collections.abc import Callable, Iterator
from datetime import date, datetime
from functools import lru_cache

from kadm.model.objects import JsonObject, JsonValue
from kadm.sandbox.kinds.field_errors import (
    FieldError,
    duplicate,
    invalid_value,
    not_supported,
    required,
    shown,
    too_long,
    too_many,
    type_invalid,
)


def custom_object(schema: JsonObject, obj: JsonObject) -> list[FieldError]:
    """The faults of a custom object, but for its metadata."""
    body = {key: value for key, value in obj.items() if key not in ("apiVersion", "kind", "metadata")}
    properties = {key: sub for key, sub in (schema.get("properties") or {}).items() if key != "metadata"}
    bare = {**schema, "properties": properties}
    bare["required"] = [key for key in schema.get("required") or () if key not in ("apiVersion", "kind", "metadata")]
    return [*_check(bare, body, ""), *_list_faults(bare, body, "")]


def _check(schema: JsonObject, value: JsonValue, path: str) -> Iterator[FieldError]:
    if value is None and schema.get("nullable"):
        return
    if not _has_type(schema, value):
        wanted = "integer,string" if schema.get("x-kubernetes-int-or-string") else schema["type"]
        actual = _type_name(value)
        yield type_invalid(path, actual, f'{path} in body must be of type {wanted}: "{actual}"')
        return
    choices = schema.get("enum")
    if choices is not None and value not in choices:
        yield not_supported(path, value, choices)
    if isinstance(value, str):
        yield from _check_text(schema, value, path)
    elif isinstance(value, bool):
        pass
    elif isinstance(value, int | float):
        yield from _check_number(schema, value, path)
    elif isinstance(value, list):
        yield from _check_list(schema, value, path)
    elif isinstance(value, dict):
        yield from _check_object(schema, value, path)
    yield from _check_combined(schema, value, path)


def _has_type(schema: JsonObject, value: JsonValue) -> bool:
    if schema.get("x-kubernetes-int-or-string"):
        return isinstance(value, str) or _is_integer(value)
    match schema.get("type"):
        case "string":
            return isinstance(value, str)
        case "integer":
            return _is_integer(value)
        case "number":
            return isinstance(value, int | float) and not isinstance(value, bool)
        case "boolean":
            return isinstance(value, bool)
        case "array":
            return isinstance(value, list)
        case "object":
            return isinstance(value, dict)
        case _:
            return True


def _is_integer(value: JsonValue) -> bool:
    if isinstance(value, bool):
        return False
    return isinstance(value, int) or (isinstance(value, float) and value.is_integer())


def _type_name(value: JsonValue) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int():
            return "integer"
        case float():
            return "number"
        case str():
            return "string"
        case list():
            return "array"
        case _:
            return "object"


def _check_text(schema: JsonObject, value: str, path: str) -> Iterator[FieldError]:
    """The first fault of a string."""
    most, least, pattern = schema.get("maxLength"), schema.get("minLength"), schema.get("pattern")
    if most is not None and len(value) > most:
        yield too_long(path, most)
    elif least is not None and len(value) < least:
        yield invalid_value(path, value, f"{path} in body should be at least {least} chars long")
    elif pattern and not _matches(pattern, value):
        yield invalid_value(path, value, f"{path} in body should match '{pattern}'")
    known = _FORMATS.get(schema.get("format") or "")
    if known is not None and not known(value):
        yield invalid_value(path, value, f"{path} in body must be of type {schema['format']}: {shown(value)}")


@lru_cache(maxsize=1024)
def _pattern(text: str) -> re.Pattern[str] | None:
    """The compiled pattern; None where it is written in a way that only Go understands, then everything matches."""
    try:
        return re.compile(text.replace(r"\z", r"\Z"))
    except re.error:
        return None


def _matches(pattern: str, value: str) -> bool:
    compiled = _pattern(pattern)
    return compiled is None or compiled.search(value) is not None


def _check_number(schema: JsonObject, value: float, path: str) -> Iterator[FieldError]:
    high, low, step = schema.get("maximum"), schema.get("minimum"), schema.get("multipleOf")
    if high is not None:
        if schema.get("exclusiveMaximum") and value >= high:
            yield invalid_value(path, value, f"{path} in body should be less than {high}")
        elif value > high:
            yield invalid_value(path, value, f"{path} in body should be less than or equal to {high}")
    if low is not None:
        if schema.get("exclusiveMinimum") and value <= low:
            yield invalid_value(path, value, f"{path} in body should be greater than {low}")
        elif value < low:
            yield invalid_value(path, value, f"{path} in body should be greater than or equal to {low}")
    if step and value % step:
        yield invalid_value(path, value, f"{path} in body should be a multiple of {step}")


def _check_list(schema: JsonObject, value: list[JsonValue], path: str) -> Iterator[FieldError]:
    items = schema.get("items")
    if isinstance(items, dict):
        for index, item in enumerate(value):
            yield from _check(items, item, f"{path}[{index}]")
    least, most = schema.get("minItems"), schema.get("maxItems")
    if least is not None and len(value) < least:
        yield invalid_value(path, len(value), f"{path} in body should have at least {least} items")
    if most is not None and len(value) > most:
        yield too_many(path, len(value), most)


def _check_object(schema: JsonObject, value: JsonObject, path: str) -> Iterator[FieldError]:
    properties, others = schema.get("properties") or {}, schema.get("additionalProperties")
    for name, item in value.items():
        if name in properties:
            yield from _check(properties[name], item, _child(path, name))
        elif isinstance(others, dict):
            yield from _check(others, item, _child(path, name))
    for name in schema.get("required") or ():
        if name not in value:
            yield required(_child(path, name))
    least, most = schema.get("minProperties"), schema.get("maxProperties")
    if least is not None and len(value) < least:
        yield invalid_value(path, len(value), f"{path} in body should have at least {least} properties")
    if most is not None and len(value) > most:
        yield too_many(path, len(value), most)


def _child(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _check_combined(schema: JsonObject, value: JsonValue, path: str) -> Iterator[FieldError]:
    place = f'"{path}"'
    if schema.get("anyOf") and not schema.get("x-kubernetes-int-or-string"):
        outcomes = [list(_check(sub, value, path)) for sub in schema["anyOf"]]
        if all(outcomes):
            yield invalid_value(path, "", f"{place} must validate at least one schema (anyOf)")
            yield from min(outcomes, key=len)
    if schema.get("oneOf"):
        outcomes = [list(_check(sub, value, path)) for sub in schema["oneOf"]]
        valid = sum(not outcome for outcome in outcomes)
        if valid != 1:
            found = "Found none valid" if valid == 0 else f"Found {valid} valid alternatives"
            yield invalid_value(path, "", f"{place} must validate one and only one schema (oneOf). {found}")
            if valid == 0:
                yield from min(outcomes, key=len)
    for sub in schema.get("allOf") or ():
        faults = list(_check(sub, value, path))
        if faults:
            yield from faults
            yield invalid_value(path, "", f"{place} must validate all the schemas (allOf)")
            break
    if schema.get("not") is not None and not list(_check(schema["not"], value, path)):
        yield invalid_value(path, "", f"{place} must not validate the schema (not)")


def _list_faults(schema: JsonObject, value: JsonValue, path: str) -> Iterator[FieldError]:
    """Elements that a set or a map must not hold twice."""
    if isinstance(value, dict):
        properties, others = schema.get("properties") or {}, schema.get("additionalProperties")
        for name, item in value.items():
            sub = properties.get(name, others)
            if isinstance(sub, dict):
                yield from _list_faults(sub, item, _child(path, name))
    elif isinstance(value, list):
        kind, keys = schema.get("x-kubernetes-list-type"), schema.get("x-kubernetes-list-map-keys") or ()
        items = schema.get("items")
        seen: list[JsonValue] = []
        for index, item in enumerate(value):
            at = f"{path}[{index}]"
            identity: JsonValue = None
            if kind == "set":
                identity = item
            elif kind == "map" and isinstance(item, dict):
                identity = {key: item[key] for key in keys if key in item}
            if identity is not None:
                if identity in seen:
                    yield duplicate(at, identity)
                seen.append(identity)
            if isinstance(items, dict):
                yield from _list_faults(items, item, at)


def _parses(parse: Callable[[str], object]) -> Callable[[str], bool]:
    def check(value: str) -> bool:
        try:
            parse(value)
        except ValueError:
            return False
        return True

    return check


def _date_time(value: str) -> datetime:
    parsed = datetime.fromisoformat(value)
    if "T" not in value.upper() or parsed.tzinfo is None:
        raise ValueError(value)
    return parsed


_FORMATS: dict[str, Callable[[str], bool]] = {
    "date": _parses(date.fromisoformat),
    "date-time": _parses(_date_time),
    "ipv4": _parses(ipaddress.IPv4Address),
    "ipv6": _parses(ipaddress.IPv6Address),
    "uuid": _parses(uuid.UUID),
}
"""Format → whether a text has it. Other formats are not checked."""
