"""What is told of an apply while it goes on."""

from __future__ import annotations

import io

import pytest

from kadm.cli.console import Console
from kadm.cli.progress import progress
from kadm.execute import Event
from tests.cli.builders import a_key
from tests.cli.test_console import Terminal

EVENTS = [
    Event(member="eu", stage="recording", finished=0, total=2),
    Event(member="eu", stage="waiting", finished=1, total=2, key=a_key(), text="1 of 3 replicas ready"),
    Event(member="eu", stage="done", finished=2, total=2),
]

LINES = """\
eu: 0/2 recording
eu: 1/2 waiting Deployment shop/web 1 of 3 replicas ready
eu: 2/2 done
"""


@pytest.mark.parametrize(
    ("verbosity", "want"),
    [pytest.param(0, "", id="nothing in a log"), pytest.param(1, LINES, id="a line per event where it is asked for")],
)
def test_without_a_terminal(verbosity: int, want: str) -> None:
    err = io.StringIO()
    with progress(Console(err=err, verbosity=verbosity)) as listener:
        for event in EVENTS:
            listener(event)
    assert err.getvalue() == want


def test_on_a_terminal_a_line_per_member_that_is_taken_away_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    err = Terminal()
    with progress(Console(err=err)) as listener:
        assert err.getvalue() == "", "nothing before the first event"
        for event in EVENTS[:2]:
            listener(event)
    assert "eu" in err.getvalue()
    assert "waiting Deployment shop/web 1 of 3 replicas ready" in err.getvalue()
    assert err.getvalue().endswith("\x1b[?25h\r\x1b[1A\x1b[2K"), "the cursor is back, the line is cleared"


def test_on_a_terminal_quiet_is_quiet() -> None:
    err = Terminal()
    with progress(Console(err=err, verbosity=-1)) as listener:
        for event in EVENTS:
            listener(event)
    assert err.getvalue() == ""
