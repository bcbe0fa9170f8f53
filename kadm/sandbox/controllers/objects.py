"""What controllers read from any object: owners, labels, times, conditions."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from kadm.sandbox.api import Object
from kadm.sandbox.writes import rfc3339


def timestamp(now: datetime) -> str:
    """``now`` as metav1.Time writes it: RFC 3339 in UTC, whole seconds."""
    return rfc3339(now.astimezone(UTC))


def parse_time(text: str) -> datetime:
    """The moment that a metav1.Time or MicroTime names."""
    return datetime.fromisoformat(text)


def seconds_until(text: str, after_s: float, now: datetime) -> float:
    """Seconds from ``now`` until ``after_s`` seconds past the moment ``text``; zero or less when that is over."""
    return (parse_time(text) - now).total_seconds() + after_s


def labels_of(obj: Object) -> dict[str, str]:
    """The labels, {} where there are none."""
    labels: dict[str, str] | None = obj["metadata"].get("labels")
    return labels or {}


def annotations_of(obj: Object) -> dict[str, str]:
    """The annotations, {} where there are none."""
    annotations: dict[str, str] | None = obj["metadata"].get("annotations")
    return annotations or {}


def being_deleted(obj: Object) -> bool:
    """Whether a deletion has begun."""
    return bool(obj["metadata"].get("deletionTimestamp"))


def controller_of(obj: Object) -> Object | None:
    """The owner reference that is the controller, or None."""
    return next((ref for ref in obj["metadata"].get("ownerReferences", ()) if ref.get("controller")), None)


def owned_by(objects: Sequence[Object], owner: Object) -> list[Object]:
    """Those of ``objects`` that ``owner`` controls."""
    uid = owner["metadata"]["uid"]
    return [obj for obj in objects if (ref := controller_of(obj)) and ref["uid"] == uid]


def controller_reference(owner: Object) -> Object:
    """The owner reference that a controller puts on what it makes for ``owner``."""
    return {
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": owner["metadata"]["name"],
        "uid": owner["metadata"]["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }


def condition(obj: Object, kind: str) -> Object | None:
    """The status condition of that type, or None."""
    conditions = obj.get("status", {}).get("conditions") or ()
    return next((entry for entry in conditions if entry["type"] == kind), None)


def without_zeros(status: Object) -> Object:
    """``status`` without the entries that are 0, "", None or empty: Go's omitempty."""
    return {key: value for key, value in status.items() if value or value is False}


def scaled(value: int | str | None, total: int, *, up: bool) -> int:
    """An IntOrString as a number: "25%" of ``total`` rounded up or down, an integer as it is, None as 0."""
    if isinstance(value, str) and value.endswith("%"):
        product = int(value[:-1]) * total
        return -(-product // 100) if up else product // 100
    return int(value or 0)
