"""One document's text and where it stands in its file."""

from __future__ import annotations

import re
from typing import Any

from kadm.errors import Location

_SECRET = re.compile(rb"\bSecret(?:List)?\b")


class Source:
    """The UTF-8 text of one document, which begins on ``line`` (from 0) and ``column`` (from 0) of file ``path``."""

    __slots__ = ("_decoded", "column", "escapes_slash", "line", "path", "text")

    def __init__(self, path: str, text: bytes, *, line: int = 0, column: int = 0) -> None:
        self.path = path
        self.text = text
        self.line = line
        self.column = column
        self.escapes_slash = b"\\/" in text
        self._decoded: str | None = None

    @property
    def may_hold_secrets(self) -> bool:
        """Whether this may be a Secret, or hold one: then no message may quote its values."""
        return _SECRET.search(self.text) is not None

    @property
    def start(self) -> Location:
        return self.at(0, 0)

    def at(self, line: int, column: int) -> Location:
        """The place in the file of a line and column of this text, both counted from 0, in characters."""
        return Location(self.path, self.line + line + 1, column + 1 + (self.column if line == 0 else 0))

    def at_mark(self, mark: Any) -> Location:
        """The place in the file of one of libyaml's marks."""
        return self.at(mark.line, mark.column)

    def between(self, begin: Any, end: Any) -> str:
        """The text from one of libyaml's marks to another, as written."""
        if self._decoded is None:
            self._decoded = self.text.decode().removeprefix("\ufeff")
        return self._decoded[begin.index : end.index]

    def at_byte(self, offset: int) -> Location:
        """The place in the file of byte ``offset`` of this text. A byte order mark takes no column."""
        before = self.text[:offset].decode(errors="replace").removeprefix("\ufeff")
        return self.at(before.count("\n"), len(before) - (before.rfind("\n") + 1))
