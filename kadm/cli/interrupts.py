"""Ctrl-C and SIGTERM while something has to be taken back: heeded where that is safe, and kept in mind elsewhere."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interrupts:
    """The signals that end a run, as exceptions: KeyboardInterrupt for Ctrl-C, else SystemExit with the shell's code.

    After one was raised, no other interrupts the way out.
    """

    def __init__(self) -> None:
        self._heeding = False
        self._waiting: int | None = None

    def arrived(self, number: int, _frame: FrameType | None) -> None:
        """The handler."""
        self._waiting = number
        if self._heeding:
            self.end_if_asked()

    def end_if_asked(self) -> None:
        """End the run if a signal is kept in mind."""
        number, self._waiting = self._waiting, None
        if number is not None:
            self.end(number)

    def end(self, number: int) -> NoReturn:
        """End the run as this signal does."""
        self._heeding = False
        if number == signal.SIGINT:
            raise KeyboardInterrupt
        raise SystemExit(128 + number)

    @contextmanager
    def heeded(self) -> Iterator[None]:
        """A block that a signal ends at once."""
        self._heeding = True
        try:
            self.end_if_asked()
            yield
        finally:
            self._heeding = False

    @contextmanager
    def held(self) -> Iterator[None]:
        """A part of a heeded block that is not to be left half done: a signal ends the run after it."""
        self._heeding = False
        try:
            yield
        finally:
            self._heeding = True
            self.end_if_asked()


@contextmanager
def interrupts() -> Iterator[Interrupts]:
    """Take the ending signals for the time of the block; what is kept in mind at its end ends the run then.

    A signal that is ignored stays ignored: whoever started kadm under nohup means it to go on.
    """
    taken = Interrupts()
    heard = [number for number in ENDING if signal.getsignal(number) is not signal.SIG_IGN]
    former = {number: signal.signal(number, taken.arrived) for number in heard}
    try:
        yield taken
    finally:
        for number, handler in former.items():
            signal.signal(number, handler)
    taken.end_if_asked()
