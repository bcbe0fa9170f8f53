"""The trail of events: what an operator wants to have read the next day; in memory, in the log, in the state file."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Literal

from kadm.errors import Severity
from kadm.watch.state import EventKind, WatchEvent

_log = logging.getLogger("kadm.watch")

MOST_EVENTS = 500
_LEVELS: dict[str, int] = {"info": logging.INFO, "warning": logging.WARNING, "error": logging.ERROR}


def time_text(time: datetime) -> str:
    """A time as snapshots and documents spell it: RFC 3339 in UTC, with seconds."""
    return time.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


class Trail:
    """The latest events, oldest first; older ones fall out. ``before`` are those of earlier runs."""

    def __init__(self, before: Iterable[WatchEvent] = ()) -> None:
        self._events = deque(before, maxlen=MOST_EVENTS)
        self._number = max((event.number for event in self._events), default=0)

    @property
    def events(self) -> tuple[WatchEvent, ...]:
        return tuple(self._events)

    @property
    def number(self) -> int:
        """The number of the latest event, 0 before the first."""
        return self._number

    def add(
        self,
        kind: EventKind,
        text: str,
        *,
        severity: Severity | Literal["info"] = "info",
        member: str = "",
        about: str = "",
    ) -> None:
        """Note something; it is logged, too. ``about`` names an object."""
        self._number += 1
        event = WatchEvent(
            number=self._number,
            at=time_text(datetime.now(UTC)),
            kind=kind,
            text=text,
            severity=severity,
            member=member,
            object=about,
        )
        self._events.append(event)
        fields = {"event": kind, "member": member, "object": about}
        place = " ".join(part for part in (member, about) if part)
        _log.log(_LEVELS[severity], "%s%s", f"{place}: " if place else "", text, extra={"fields": fields})
