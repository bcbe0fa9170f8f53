"""Times in objects: RFC 3339 texts, as the API server writes them."""

from __future__ import annotations

from datetime import UTC, datetime


def utc(text: str | None) -> str | None:
    """``text`` in UTC and whole seconds, as metav1.Time is written; None where there is none.

    A text that is no time stays as it is: it is a member's, and only shown.
    """
    if not text:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return text
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
