"""Reading ``status.conditions``."""

from __future__ import annotations

from typing import Any

from kadm.model.objects import JsonObject


def condition(live: JsonObject, kind: str) -> dict[str, Any] | None:
    """The condition of this type, or None."""
    conditions = (live.get("status") or {}).get("conditions") or []
    return next((one for one in conditions if one.get("type") == kind), None)


def is_condition(live: JsonObject, kind: str, status: str) -> bool:
    """Whether the condition of this type is there and has this status."""
    found = condition(live, kind)
    return found is not None and found.get("status") == status


def explained(found: dict[str, Any]) -> str:
    """The condition's reason and message as one text."""
    reason, message = found.get("reason") or found.get("type") or "", found.get("message") or ""
    return f"{reason}: {message}" if message else str(reason)
