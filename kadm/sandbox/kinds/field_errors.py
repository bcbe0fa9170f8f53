"""Faults of single fields, and the 422 that lists them.

Source: apimachinery ``field.Error`` and ``errors.NewInvalid``, as clients see them.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

import msgspec

from kadm.model.objects import JsonObject
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


def invalid(group: str, kind: str, name: str, errors: Sequence[FieldError]) -> ApiError:
    """The 422 for an object whose fields are at fault: all faults in its message, one cause for each distinct one."""
    texts = [str(error) for error in errors]
    distinct = list(dict.fromkeys(texts))
    joined = distinct[0] if len(distinct) == 1 else f"[{', '.join(distinct)}]"
    details: JsonObject = {"name": name} if name else {}
    if group:
        details["group"] = group
    details["kind"] = kind
    details["causes"] = [error.cause() for error in errors]
    qualified = f"{kind}.{group}" if group else kind
    return ApiError(422, "Invalid", f'{qualified} "{name}" is invalid: {joined}', details)
