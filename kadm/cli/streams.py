"""stdout and stderr that outlive their readers: ``kadm apply | head -1`` must not stop an apply half-way.

What is written after the reader has gone is dropped, the command goes on, and its exit code says what became of it.
"""

from __future__ import annotations

import io
import os
import sys
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


class _Outliving(io.FileIO):
    """A file descriptor that takes what nobody reads any more."""

    def write(self, data: ReadableBuffer, /) -> int:
        try:
            return super().write(data)
        except BrokenPipeError:
            return memoryview(data).nbytes


def take_over() -> None:
    """Put such streams in place of the process's own. One that is closed is replaced by one that drops everything."""
    sys.stdout = _stream(sys.stdout, 1)
    sys.stderr = _stream(sys.stderr, 2)


def give_up(stream: TextIO) -> None:
    """Let a stream that cannot be written (a full disk) drop what it still holds, so that ending raises nothing."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
    stream.flush()


def _stream(former: TextIO | None, descriptor: int) -> TextIO:
    if former is None:
        return open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123  # open as long as the process
    former.flush()
    return io.TextIOWrapper(
        io.BufferedWriter(_Outliving(descriptor, "w", closefd=False)),
        encoding=former.encoding,
        errors="replace",  # a locale without our characters must not end the command
        line_buffering=descriptor == 2 or former.isatty(),
    )
