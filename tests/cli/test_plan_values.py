"""Values in a plan: on one line, bounded, and never so short that the change is not seen."""

from __future__ import annotations

from typing import Any

import pytest

from kadm.cli.plan_values import shown, shown_change


@pytest.mark.parametrize(
    ("value", "want"),
    [
        pytest.param(None, "(none)", id="absent"),
        pytest.param("", '""', id="empty text"),
        pytest.param("a b", "a b", id="text"),
        pytest.param("a\nb", '"a\\nb"', id="text of several lines is on one"),
        pytest.param(True, "true", id="as JSON, not as Python"),
        pytest.param({"a": [1, None]}, '{"a":[1,null]}', id="a structure"),
        pytest.param("x" * 200, "x" * 159 + "…", id="too long"),
    ],
)
def test_shown(value: Any, want: str) -> None:
    assert shown(value) == want


LINES = "".join(f"line {number}\n" for number in range(100))


@pytest.mark.parametrize(
    ("before", "after", "want"),
    [
        pytest.param(1, 2, ("1", "2"), id="short"),
        pytest.param(None, "x" * 200, ("(none)", "x" * 159 + "…"), id="from nothing: its beginning"),
        pytest.param("3", 3, ('"3"', "3"), id="another type"),
        pytest.param(
            "a" * 200 + "bcd", "a" * 200 + "bXd", ("…" + "a" * 38 + "bcd", "…" + "a" * 38 + "bXd"), id="its end"
        ),
        pytest.param(
            "b" + "a" * 200, "c" + "a" * 200, ("b" + "a" * 39 + "…", "c" + "a" * 39 + "…"), id="its beginning"
        ),
        pytest.param(
            LINES,
            LINES.replace("line 50\n", "line fifty\n"),
            (
                r"…ne 46\nline 47\nline 48\nline 49\nline 50\nline 51\nline 52\nline 53\nline 54\nl…",
                r"…ne 46\nline 47\nline 48\nline 49\nline fifty\nline 51\nline 52\nline 53\nline 54\nl…",
            ),
            id="a line of many",
        ),
        pytest.param("a" * 200, "a" * 100, ("…" + "a" * 139, "…" + "a" * 39), id="shorter"),
        pytest.param("a" * 500, "b" * 500, ("a" * 159 + "…", "b" * 159 + "…"), id="all of it"),
    ],
)
def test_shown_change(before: Any, after: Any, want: tuple[str, str]) -> None:
    assert shown_change(before, after) == want
