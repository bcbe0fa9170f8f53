"""What happens to an object on its way into the store: defaults, server-set fields, admission, validation.

A write goes: ``defaults`` (the body as the server decodes it) → managedFields (not here) → ``create`` or ``update``, which
run admission, set what the server sets, validate, and allocate. So what ``create`` and ``update`` change belongs to no
field manager, as in a real API server.

No function changes an object that it was given; each returns a new one, or the same where nothing changes.
Refusals are raised as ``ApiError``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from kadm.model.objects import JsonObject
from kadm.sandbox.kinds.allocation import ServiceRanges
from kadm.sandbox.kinds.field_errors import FieldError, invalid
from kadm.sandbox.kinds.registry import ResourceKind
from kadm.sandbox.names import new_suffix, new_uid


class Reader(Protocol):
    """What admission may look up; ``ApiServer`` is one."""

    def find(self, resource: str, namespace: str, name: str) -> JsonObject | None:
        """The object, or None if there is none. ``namespace`` is "" for cluster-scoped resources."""

    def list(self, resource: str, namespace: str | None = None) -> list[JsonObject]:
        """The objects in name order; ``namespace`` None means all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """What a write needs to know beside its object. ``now`` is RFC 3339 in seconds; ``username`` who asks."""

    reader: Reader
    now: str
    username: str = "kubernetes-admin"
    services: ServiceRanges = ServiceRanges()
    uid: Callable[[], str] = new_uid
    suffix: Callable[[], str] = new_suffix


def defaults(kind: ResourceKind, obj: JsonObject) -> JsonObject:
    """The object as the server decodes it: zero values dropped, quantities in canonical form, defaults filled in.

    For a custom kind: unknown fields pruned, the schema's defaults filled in. ``obj`` has the kind's apiVersion and kind.
    """
    raise NotImplementedError


def create(kind: ResourceKind, obj: JsonObject, ctx: Context) -> JsonObject:
    """The object as it is stored: named, with uid, creationTimestamp and generation, status as at birth, addresses allocated.

    ``obj`` comes from ``defaults``; its namespace is set. Raises ApiError 403 or 422.
    """
    errors: list[FieldError] = []
    raise invalid(kind.group, kind.kind, obj["metadata"]["name"], errors)


def update(kind: ResourceKind, new: JsonObject, old: JsonObject, ctx: Context, *, subresource: str = "") -> JsonObject:
    """The object as it replaces ``old``: what this (sub)resource may not touch is kept from ``old``, generation counted.

    ``subresource`` is "" or "status", "scale", "finalize", …: a status write keeps all but status, an ordinary one keeps
    status where it is a subresource. ``new`` comes from ``defaults`` and carries the new managedFields. Returns an object
    equal to ``old`` where nothing changes. Raises ApiError 403 or 422.
    """
    raise NotImplementedError


def validate_create(kind: ResourceKind, obj: JsonObject) -> list[FieldError]:
    """The faults of a new object, metadata included."""
    raise NotImplementedError


def validate_update(kind: ResourceKind, new: JsonObject, old: JsonObject, *, subresource: str = "") -> list[FieldError]:
    """The faults of a replacement, immutable fields included."""
    raise NotImplementedError


def convert(kind: ResourceKind, obj: JsonObject) -> JsonObject:
    """The object in the version of ``kind``: ``obj`` may be in any version that shares its storage."""
    raise NotImplementedError
