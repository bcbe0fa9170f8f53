"""Faults of single fields, and the 422 that lists them.

Source: apimachinery ``field.Error`` and ``errors.NewInvalid``, as clients see them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from enum import StrEnum

import msgspec

from kadm.model.objects import JsonObject, JsonValue
from kadm.sandbox.responses import ApiError


class FieldErrorType(StrEnum):
    """The ``reason`` of one cause."""

    REQUIRED = "FieldValueRequired"
    DUPLICATE = "FieldValueDuplicate"
    INVALID = "FieldValueInvalid"
    TYPE_INVALID = "FieldValueTypeInvalid"
    NOT_SUPPORTED = "FieldValueNotSupported"
    FORBIDDEN = "FieldValueForbidden"
    NOT_FOUND = "FieldValueNotFound"
    TOO_LONG = "FieldValueTooLong"
    TOO_MANY = "FieldValueTooMany"
    INTERNAL = "InternalError"


class FieldError(msgspec.Struct, frozen=True):
    """One fault. ``message`` is the whole text of the cause (``Invalid value: -1: must be …``), without the field."""

    type: FieldErrorType
    field: str
    message: str

    def __str__(self) -> str:
        return f"{self.field}: {self.message}"

    def cause(self) -> JsonObject:
        """The entry of ``details.causes``."""
        return {"reason": self.type.value, "message": self.message, "field": self.field}


def shown(value: JsonValue) -> str:
    """A value as messages quote it: JSON without spaces, keys sorted."""
    return json.dumps(value, separators=(",", ":"), sort_keys=True, ensure_ascii=False)


def invalid_value(field: str, value: JsonValue, why: str) -> FieldError:
    return FieldError(FieldErrorType.INVALID, field, f"Invalid value: {shown(value)}: {why}")


def type_invalid(field: str, value: JsonValue, why: str) -> FieldError:
    return FieldError(FieldErrorType.TYPE_INVALID, field, f"Invalid value: {shown(value)}: {why}")


def required(field: str, why: str = "") -> FieldError:
    return FieldError(FieldErrorType.REQUIRED, field, f"Required value: {why}" if why else "Required value")


def forbidden(field: str, why: str) -> FieldError:
    return FieldError(FieldErrorType.FORBIDDEN, field, f"Forbidden: {why}" if why else "Forbidden")


def duplicate(field: str, value: JsonValue) -> FieldError:
    return FieldError(FieldErrorType.DUPLICATE, field, f"Duplicate value: {shown(value)}")


def not_found(field: str, value: JsonValue) -> FieldError:
    return FieldError(FieldErrorType.NOT_FOUND, field, f"Not found: {shown(value)}")


def not_supported(field: str, value: JsonValue, supported: Iterable[str]) -> FieldError:
    """A value that is none of ``supported``, which are told in the order given."""
    names = ", ".join(shown(name) for name in supported)
    return FieldError(
        FieldErrorType.NOT_SUPPORTED, field, f"Unsupported value: {shown(value)}: supported values: {names}"
    )


def too_long(field: str, limit: int) -> FieldError:
    """A text or map that is too long. Since 1.31 the value itself is not quoted."""
    return FieldError(
        FieldErrorType.TOO_LONG, field, f"Too long: may not be more than {limit} {_counted(limit, 'byte')}"
    )


def too_many(field: str, actual: int, limit: int) -> FieldError:
    return FieldError(
        FieldErrorType.TOO_MANY, field, f"Too many: {actual}: must have at most {limit} {_counted(limit, 'item')}"
    )


def _counted(number: int, noun: str) -> str:
    return noun if number == 1 else f"{noun}s"


def internal_error(field: str, why: str) -> FieldError:
    return FieldError(FieldErrorType.INTERNAL, field, f"Internal error: {why}")


def invalid(group: str, kind: str, name: str, errors: Sequence[FieldError]) -> ApiError:
    """The 422 for an object whose fields are at fault: all distinct faults in its message, one cause for each fault."""
    texts = list(dict.fromkeys(str(error) for error in errors))
    joined = texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
    details: JsonObject = {"name": name} if name else {}
    if group:
        details["group"] = group
    details["kind"] = kind
    details["causes"] = [error.cause() for error in errors]
    qualified = f"{kind}.{group}" if group else kind
    return ApiError(422, "Invalid", f'{qualified} "{name}" is invalid: {joined}', details)
