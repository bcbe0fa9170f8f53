"""Streams, width and colour: data to stdout, the rest to stderr, fitted to a terminal only."""

from __future__ import annotations

import io
from typing import Any

import pytest
from rich.text import Text

from kadm.cli.console import Console
from kadm.errors import Location, Problem

RED = "\x1b[31m"


class Terminal(io.StringIO):
    """A stream that says that it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")


@pytest.mark.parametrize(
    ("stream", "color", "no_color", "colored"),
    [
        pytest.param(Terminal, "auto", False, True, id="a terminal"),
        pytest.param(io.StringIO, "auto", False, False, id="a file"),
        pytest.param(io.StringIO, "always", False, True, id="a file, always"),
        pytest.param(Terminal, "never", False, False, id="a terminal, never"),
        pytest.param(Terminal, "auto", True, False, id="a terminal, NO_COLOR"),
        pytest.param(Terminal, "always", True, True, id="a flag wins over NO_COLOR"),
    ],
)
def test_color(
    stream: type[io.StringIO], color: Any, *, no_color: bool, colored: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if no_color:
        monkeypatch.setenv("NO_COLOR", "1")
    console = Console(color=color, out=stream())
    console.print(Text("down", style="red"))
    assert isinstance(console.out, io.StringIO)
    assert (RED in console.out.getvalue(), "down" in console.out.getvalue()) == (colored, True)


ROWS = [("web", "3/3", "eu 1/1, us 1/1, asia 1/1"), ("orders-service", "12/12", "eu 12/12")]

WHOLE = """\
NAME            READY  MEMBERS
web               3/3  eu 1/1, us 1/1, asia 1/1
orders-service  12/12  eu 12/12
"""

NARROW = """\
NAME            READY  MEMBERS
web               3/3  eu 1/1, us 1/1,…
orders-service  12/12  eu 12/12
"""

NARROWEST = """\
NAME            READY  MEMBERS
web               3/3  eu 1/1, us …
orders-service  12/12  eu 12/12
"""


@pytest.mark.parametrize(
    ("stream", "columns", "want"),
    [
        pytest.param(io.StringIO, "40", WHOLE, id="whole lines where nobody looks"),
        pytest.param(Terminal, "80", WHOLE, id="a terminal that is wide enough"),
        pytest.param(Terminal, "39", NARROW, id="one column gives way"),
        pytest.param(Terminal, "20", NARROWEST, id="the others never do"),
    ],
)
def test_table(stream: type[io.StringIO], columns: str, want: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    out = stream()
    Console(out=out, color="never").table(("NAME", "READY", "MEMBERS"), ROWS, numbers=("READY",), gives_way="MEMBERS")
    assert out.getvalue() == want


def test_table_leaves_out_a_column_that_says_nothing_and_puts_notes_below() -> None:
    out = io.StringIO()
    Console(out=out).table(("NAME", "REASON", "N"), [("a", "", "1"), ("b", "", "2")], notes=["", "it is\nill"])
    assert out.getvalue() == "NAME  N\na     1\nb     2\n  it is ill\n"


def test_table_without_rows_is_its_header() -> None:
    out = io.StringIO()
    Console(out=out).table(("NAME", "READY"), [])
    assert out.getvalue() == "NAME  READY\n"


@pytest.mark.parametrize(
    ("verbosity", "want"),
    [
        pytest.param(-1, "error: a.yaml:3:5: broken (mend it)\n", id="quiet tells errors only"),
        pytest.param(0, "error: a.yaml:3:5: broken (mend it)\nwarning: eu: it creaks\n", id="each once, on one line"),
    ],
)
def test_problems(verbosity: int, want: str) -> None:
    err = io.StringIO()
    error = Problem(what="broken", where=Location("a.yaml", 3, 5), hint="mend\nit")
    warning = Problem(what="it creaks", severity="warning", member="eu")
    Console(err=err, verbosity=verbosity).problems([error, warning, error])
    assert err.getvalue() == want


@pytest.mark.parametrize(
    ("verbosity", "want"),
    [
        pytest.param(-1, "", id="quiet"),
        pytest.param(0, "by the way\n", id="normal"),
        pytest.param(1, "by the way\nin detail\n", id="verbose"),
    ],
)
def test_verbosity(verbosity: int, want: str) -> None:
    out, err = io.StringIO(), io.StringIO()
    console = Console(out=out, err=err, verbosity=verbosity)
    console.info("by the way")
    console.detail("in detail")
    console.data("data")
    assert (out.getvalue(), err.getvalue()) == ("data\n", want)


def test_text_of_users_is_no_markup() -> None:
    out = io.StringIO()
    console = Console(out=out)
    console.print("containers[name=app] [red]:smile:")
    console.table(("[b]A",), [("[link]x",)])
    assert out.getvalue() == "containers[name=app] [red]:smile:\n[b]A\n[link]x\n"
