"""Cron schedules."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from kadm.sandbox.controllers.schedule_times import parse_schedule

UTC = "UTC"


@pytest.mark.parametrize(
    ("text", "zone", "after", "want"),
    [
        pytest.param("* * * * *", UTC, "2026-01-01T12:00:30", "2026-01-01T12:01:00+00:00", id="every minute"),
        pytest.param("*/15 * * * *", UTC, "2026-01-01T12:45:00", "2026-01-01T13:00:00+00:00", id="steps"),
        pytest.param("30 2 * * *", UTC, "2026-01-01T12:00:00", "2026-01-02T02:30:00+00:00", id="the next day"),
        pytest.param("0 0 1 * *", UTC, "2026-01-31T12:00:00", "2026-02-01T00:00:00+00:00", id="the next month"),
        pytest.param("0 0 * * mon-fri", UTC, "2026-01-02T12:00:00", "2026-01-05T00:00:00+00:00", id="weekdays by name"),
        pytest.param("0 0 * * 7", UTC, "2026-01-01T00:00:00", "2026-01-04T00:00:00+00:00", id="7 is Sunday"),
        pytest.param("0 0 13 * 5", UTC, "2026-01-01T12:00:00", "2026-01-02T00:00:00+00:00", id="either day field"),
        pytest.param("0 0 29 2 *", UTC, "2026-03-01T00:00:00", "2028-02-29T00:00:00+00:00", id="a leap day"),
        pytest.param("@hourly", UTC, "2026-01-01T12:10:00", "2026-01-01T13:00:00+00:00", id="a word"),
        pytest.param(
            "0 9 * * *", "Europe/Berlin", "2026-03-28T12:00:00", "2026-03-29T09:00:00+02:00", id="over a clock change"
        ),
    ],
)
def test_next(text: str, zone: str, after: str, want: str) -> None:
    found = parse_schedule(text).next_after(datetime.fromisoformat(after).replace(tzinfo=ZoneInfo(zone)))
    assert found is not None
    assert found.isoformat() == want


def test_a_day_that_never_comes() -> None:
    assert parse_schedule("0 0 31 2 *").next_after(datetime(2026, 1, 1, tzinfo=ZoneInfo(UTC))) is None


@pytest.mark.parametrize("text", ["", "* * * *", "60 * * * *", "* * * * x", "*/0 * * * *", "5-1 * * * *"])
def test_no_schedule(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse_schedule(text)
