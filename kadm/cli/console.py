"""The one owner of streams, width and colour: data to stdout, everything else to stderr."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TextIO

if TYPE_CHECKING:
    from rich.console import Console as RichConsole

from kadm.cli.merging import merged
from kadm.errors import Problem

Color = Literal["auto", "always", "never"]
UNLIMITED = 100_000
"""Width where nobody looks: a file or a pipe gets whole lines."""

GAP = 2
"""Between the columns of a table."""

NARROWEST = 12
"""A column that gives way keeps so much."""


@dataclass
class Console:
    """Where a command prints to. ``verbosity``: -1 quiet, 0 normal, 1 and more tell more."""

    color: Color = "auto"
    verbosity: int = 0
    out: TextIO = field(default_factory=lambda: sys.stdout)
    err: TextIO = field(default_factory=lambda: sys.stderr)
    _rich: dict[str, RichConsole] = field(default_factory=dict)

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
                no_color=self.color == "never" or (self.color == "auto" and bool(os.environ.get("NO_COLOR"))),
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
        """One line per problem on stderr; the same one of several members once, warnings not with ``--quiet``."""
        from rich.text import Text

        for problem in merged(problems):
            if problem.severity == "warning" and self.verbosity < 0:
                continue
            style = "bold red" if problem.severity == "error" else "yellow"
            line = Text.assemble((f"{problem.severity}: ", style), one_line(str(problem)))
            self.rich("err").print(line, soft_wrap=True)

    def table(
        self,
        columns: Sequence[str],
        rows: Iterable[Sequence[Any]],
        *,
        numbers: Sequence[str] = (),
        gives_way: str = "",
        notes: Sequence[str] = (),
    ) -> None:
        """A table on stdout, a line per row: what people look at, and grep.

        ``numbers`` names right-aligned columns; ``gives_way`` is the one column that is cut where a terminal is too
        narrow; the rest stays whole, whatever the width. A column that says nothing in any row is left out. ``notes``
        has a text per row: what is not empty stands below its row.
        """
        from rich.table import Table
        from rich.text import Text

        cells = [[cell if isinstance(cell, Text) else Text(str(cell)) for cell in row] for row in rows]
        said = [index for index in range(len(columns)) if not cells or any(row[index].plain for row in cells)]
        table = Table(box=None, pad_edge=False, header_style="bold")
        whole = -GAP
        for index in said:
            width = max(len(columns[index]), *(row[index].cell_len for row in cells), 0)
            cut = columns[index] == gives_way
            whole += (min(width, NARROWEST) if cut else width) + GAP
            table.add_column(
                columns[index],
                justify="right" if columns[index] in numbers else "left",
                min_width=None if cut else width,
                no_wrap=not cut,
            )
            for row in cells:
                row[index].no_wrap = True
                row[index].overflow = "ellipsis"
        for row in cells:
            table.add_row(*(row[index] for index in said))
        console = self.rich("out")
        console.width = max(console.width, whole)
        with console.capture() as capture:
            console.print(table)
        header, *lines = capture.get().splitlines()
        self.data(header.rstrip())
        for index, line in enumerate(lines):
            self.data(line.rstrip())
            if index < len(notes) and notes[index]:
                self.print(Text(f"  {one_line(notes[index])}", style="yellow"))

    def confirm(self, question: str) -> bool:
        """Whether the person at the terminal says yes. Only to be asked where ``interactive``."""
        self.rich("err").print(f"{question} [y/N] ", end="", style="bold")
        self.err.flush()
        return sys.stdin.readline().strip().lower() in ("y", "yes")


def one_line(text: str) -> str:
    """The text on one line: errors are read by the line."""
    return " ".join(text.split("\n"))
