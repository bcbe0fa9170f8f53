"""What differs between any two readings of an object without meaning anything (design, section 6)."""

from __future__ import annotations

from kadm.model.objects import JsonObject

SERVER_OWNED_METADATA = frozenset(
    {"managedFields", "resourceVersion", "generation", "uid", "creationTimestamp", "deletionTimestamp", "selfLink"}
)
"""Metadata that only the server writes. generation too: a repeated apply may bump it (NetworkPolicy
``ingress: []``)."""


def without_noise(obj: JsonObject) -> JsonObject:
    """The object without status and without the metadata that only the server writes."""
    metadata = {name: value for name, value in obj["metadata"].items() if name not in SERVER_OWNED_METADATA}
    return {name: value for name, value in obj.items() if name not in ("status", "metadata")} | {"metadata": metadata}
