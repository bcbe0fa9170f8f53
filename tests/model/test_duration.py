"""Go's durations."""

from __future__ import annotations

import pytest

from kadm.model.duration import duration_s


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("0", 0.0),
        ("1h2m3s", 3723.0),
        ("1.5h", 5400.0),
        (".5s", 0.5),
        ("1.s", 1.0),
        ("-1m", -60.0),
        ("+1m", 60.0),
        ("100us", 0.0001),
        ("100µs", 0.0001),
        ("100μs", 0.0001),
        ("5ns", 5e-9),
    ],
)
def test_duration(text: str, want: float) -> None:
    assert duration_s(text) == want


def test_go_knows_no_longer_one_than_292_years() -> None:
    assert duration_s("2562047h") == 2562047 * 3600
    for text in ("2562048h", f"{'9' * 400}s"):
        with pytest.raises(ValueError, match="is longer than a duration can be"):
            duration_s(text)


@pytest.mark.parametrize("text", ["", "5", "s", "1 s", "1d", "1s1", "--1s", "1,5s", "٣s"])
def test_no_duration(text: str) -> None:
    with pytest.raises(ValueError, match="is no duration"):
        duration_s(text)
