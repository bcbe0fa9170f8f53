"""The one owner of streams, width and colour: data to stdout, everything else to stderr."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TextIO

if TYPE_CHECKING:
    from rich.console import Console as RichConsole

from kadm.errors import Problem

Color = Literal["auto", "always", "never"]
UNLIMITED = 100_000
"""Width where nobody looks: a file or a pipe gets whole lines."""


@dataclass
class Console:
    """Where a command prints to. ``verbosity``: -1 quiet, 0 normal, 1 and more tell more."""

    color: Color = "auto"
    verbosity: int = 0
    out: TextIO = field(default_factory=lambda: sys.stdout)
    err: TextIO = field(default_factory=lambda: sys.stderr)
    _rich: dict[str, RichConsole] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for stream in (self.out, self.err):
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors="replace")  # a locale without our characters must not end the command

    @property
    def interactive(self) -> bool:
        """Whether a person can answer: both ends are a terminal."""
        return sys.stdin.isatty() and self.err.isatty()

    @property
    def shows_progress(self) -> bool:
        """Whether progress may move on the terminal."""
        return self.err.isatty() and self.verbosity >= 0

    def rich(self, name: Literal["out", "err"] = "out") -> RichConsole:
        """The rich console of a stream, made when it is first needed."""
        if name not in self._rich:
            from rich.console import Console as RichConsole

            stream = self.out if name == "out" else self.err
            terminal = stream.isatty()
            self._rich[name] = RichConsole(
                file=stream,
                force_terminal=True if self.color == "always" else None,
                no_color=True if self.color == "never" or (self.color == "auto" and "NO_COLOR" in os.environ) else None,
                color_system=None if self.color == "never" else "auto",
                width=None if terminal else UNLIMITED,
                highlight=False,
                soft_wrap=False,
                emoji=False,
                markup=False,
            )
        return self._rich[name]

    def data(self, text: str) -> None:
        """Text for stdout, as it is."""
        self.out.write(text if text.endswith("\n") or not text else text + "\n")

    def print(self, *parts: Any) -> None:
        """Styled text for stdout."""
        self.rich("out").print(*parts, soft_wrap=True)

    def info(self, text: str) -> None:
        """What a person may like to know, on stderr; not with ``--quiet``."""
        if self.verbosity >= 0:
            self.rich("err").print(text, soft_wrap=True)

    def detail(self, text: str) -> None:
        """What only ``-v`` asks for, on stderr."""
        if self.verbosity > 0:
            self.rich("err").print(text, soft_wrap=True, style="dim")

    def problems(self, problems: Iterable[Problem]) -> None:
        """One line per problem on stderr; each once, warnings not with ``--quiet``."""
        from rich.text import Text

        for problem in dict.fromkeys(problems):
            if problem.severity == "warning" and self.verbosity < 0:
                continue
            style = "bold red" if problem.severity == "error" else "yellow"
            line = Text.assemble((f"{problem.severity}: ", style), one_line(str(problem)))
            self.rich("err").print(line, soft_wrap=True)

    def table(self, columns: Sequence[str], rows: Iterable[Sequence[Any]], *, numbers: Sequence[str] = ()) -> None:
        """A table on stdout: fitted to a terminal, whole lines elsewhere. ``numbers`` names right-aligned columns."""
        from rich.table import Table

        table = Table(box=None, pad_edge=False, header_style="bold")
        for index, column in enumerate(columns):
            last = index == len(columns) - 1
            table.add_column(
                column,
                justify="right" if column in numbers else "left",
                overflow="fold" if last else "ellipsis",
                no_wrap=not last,
            )
        for row in rows:
            table.add_row(*row)
        console = self.rich("out")
        with console.capture() as capture:
            console.print(table)
        self.data("\n".join(line.rstrip() for line in capture.get().splitlines()))

    def confirm(self, question: str) -> bool:
        """Whether the person at the terminal says yes. Only to be asked where ``interactive``."""
        self.rich("err").print(f"{question} [y/N] ", end="", style="bold")
        self.err.flush()
        return sys.stdin.readline().strip().lower() in ("y", "yes")


def one_line(text: str) -> str:
    """The text on one line: errors are read by the line."""
    return " ".join(text.split("\n"))
