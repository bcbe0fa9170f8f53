"""When a CronJob's schedule is due: the five fields of cron, and ``@hourly`` and its like.

Source: robfig/cron v3, ParseStandard. If both day fields are restricted, either of them is enough.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

MACROS = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
SEARCH_YEARS = 5


@dataclass(frozen=True, slots=True)
class Schedule:
    """The numbers each field allows; ``any_day`` and ``any_weekday`` tell whether the field is a star."""

    minutes: frozenset[int]
    hours: frozenset[int]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]
    any_day: bool
    any_weekday: bool

    def next_after(self, moment: datetime) -> datetime | None:
        """The first minute after ``moment`` that the schedule names, in its zone; None if none is in five years."""
        when = moment.replace(second=0, microsecond=0) + timedelta(minutes=1)
        last = when + timedelta(days=366 * SEARCH_YEARS)
        while when < last:
            if when.month not in self.months or not self._allows_day(when):
                when = when.replace(hour=0, minute=0) + timedelta(days=1)
            elif when.hour not in self.hours:
                when = when.replace(minute=0) + timedelta(hours=1)
            elif when.minute not in self.minutes:
                when += timedelta(minutes=1)
            else:
                return when
        return None

    def _allows_day(self, when: datetime) -> bool:
        day, weekday = when.day in self.days, (when.weekday() + 1) % 7 in self.weekdays
        return (day and weekday) if self.any_day or self.any_weekday else (day or weekday)


def parse_schedule(text: str) -> Schedule:
    """The schedule that ``text`` states. Raises ValueError for one that is none."""
    fields = MACROS.get(text.strip().lower(), text).split()
    if len(fields) != 5:
        raise ValueError(f"expected 5 fields, found {len(fields)}: {text!r}")
    minute, hour, day, month, weekday = fields
    return Schedule(
        minutes=_field(minute, 0, 59),
        hours=_field(hour, 0, 23),
        days=_field(day, 1, 31),
        months=_field(month, 1, 12, MONTHS, 1),
        weekdays=frozenset(number % 7 for number in _field(weekday, 0, 7, DAYS)),
        any_day=day.startswith(("*", "?")),
        any_weekday=weekday.startswith(("*", "?")),
    )


def _field(text: str, first: int, last: int, names: tuple[str, ...] = (), offset: int = 0) -> frozenset[int]:
    allowed: set[int] = set()
    for part in text.split(","):
        span, _, step_text = part.partition("/")
        step = int(step_text) if step_text else 1
        if span in ("*", "?"):
            low, high = first, last
        else:
            start, _, end = span.partition("-")
            low = _number(start, names, offset)
            high = _number(end, names, offset) if end else (last if step_text else low)
        if not (first <= low <= high <= last and step > 0):
            raise ValueError(f"{part!r} is not within {first}-{last}")
        allowed.update(range(low, high + 1, step))
    return frozenset(allowed)


def _number(text: str, names: tuple[str, ...], offset: int) -> int:
    lowered = text.lower()
    return names.index(lowered) + offset if lowered in names else int(text)
