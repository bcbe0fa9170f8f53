"""Durations that options take."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from kadm.cli.command_line import app
from kadm.cli.durations import Duration, at_least


@pytest.mark.parametrize(
    ("text", "want"), [("30s", 30), ("1m30s", 90), ("500ms", 0.5), ("7", 7), ("1.5", 1.5), (".5", 0.5), ("0", 0)]
)
def test_with_a_unit_or_in_seconds(text: str, want: float) -> None:
    assert at_least(0)(text) == want


def test_a_default_is_shown_as_it_was_written_and_counts_as_a_number() -> None:
    assert (str(Duration("5m")), Duration("5m") + 1, repr(at_least(0)(Duration("5m")))) == ("5m", 301, "300.0")
    assert "[default: 5m]" in CliRunner().invoke(app, ["apply", "--help"]).output
