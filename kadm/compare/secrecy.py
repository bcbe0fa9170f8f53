"""Values that must never be shown: those of Secrets, wherever they stand in the object.

A reader may learn that a value changed, never from what or to what (design, section 11).
"""

from __future__ import annotations

from kadm.model.objects import JsonObject, JsonValue, ObjectKey, Path

MASK = "(secret)"
"""Stands in the place of every value of a Secret."""

_HOLDERS = ("data", "stringData")
_COPIES = ("kubectl.kubernetes.io/last-applied-configuration",)


def is_secret(key: ObjectKey) -> bool:
    """Whether values of this object must be masked."""
    return key.group == "" and key.kind == "Secret"


def masked(key: ObjectKey, path: Path, value: JsonValue) -> JsonValue:
    """The value as it may be shown at this path of this object. None (absent) stays None."""
    if value is None or not is_secret(key):
        return value
    if path and path[0] in _HOLDERS:
        return dict.fromkeys(sorted(value), MASK) if isinstance(value, dict) and len(path) == 1 else MASK
    if path[:2] == ("metadata", "annotations"):
        if len(path) == 2 and isinstance(value, dict):
            return masked_annotations(value)
        if len(path) > 2 and path[2] in _COPIES:
            return MASK
    return value


def shown_secret(obj: JsonObject) -> JsonObject:
    """A Secret as it may be shown: every value masked, its keys and everything else as they are."""
    annotations = masked_annotations(obj["metadata"].get("annotations"))
    metadata = {**obj["metadata"], **({"annotations": annotations} if annotations else {})}
    values = {field: dict.fromkeys(sorted(obj[field]), MASK) for field in _HOLDERS if obj.get(field)}
    return {**obj, "metadata": metadata, **values}


def masked_annotations(annotations: dict[str, str] | None) -> dict[str, str]:
    """Annotations without copies of the Secret's values."""
    return {name: MASK if name in _COPIES else text for name, text in (annotations or {}).items()}
