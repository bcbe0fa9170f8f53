"""Which functions find the faults of which kind."""

from __future__ import annotations

from kadm.model.objects import JsonObject
from kadm.sandbox.kinds.field_errors import FieldError
from kadm.sandbox.kinds.registry import ResourceKind


def validate_create(kind: ResourceKind, obj: JsonObject) -> list[FieldError]:
    """The faults of a new object, metadata included."""
    return []


def validate_update(kind: ResourceKind, new: JsonObject, old: JsonObject, *, subresource: str = "") -> list[FieldError]:
    """The faults of a replacement, immutable fields included."""
    return []
