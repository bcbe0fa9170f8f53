"""Ctrl-C and SIGTERM during an apply: before the first write it ends at once, after it what was sent is waited for."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from kadm.cli.console import Console
from kadm.cli.exit_code import ExitCode

if TYPE_CHECKING:
    from kadm.execute import Stop

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
INTERRUPTED_BY_A_PERSON = 130
"""What a shell expects after Ctrl-C."""


class Ending:
    """Which signal asked the run to end."""

    def __init__(self) -> None:
        self.number: int | None = None

    @property
    def code(self) -> int:
        """The exit code of a run that was ended."""
        return INTERRUPTED_BY_A_PERSON if self.number == signal.SIGINT else ExitCode.ERROR


@contextmanager
def ending(stop: Stop, console: Console) -> Iterator[Ending]:
    """Take the ending signals for the time of the block; a second one does not wait for anything.

    What ends at once ends by cancellation of the running task. A signal that is ignored stays ignored: whoever started
    kadm under nohup means it to go on.
    """
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    assert task is not None, "a coroutine runs in a task"
    found = Ending()

    def heard(number: int) -> None:
        first = found.number is None
        found.number = number
        if first and stop.working:
            console.info("ending: what was sent is waited for; once more to leave at once")
            stop.ask()
        else:
            task.cancel()

    taken = [number for number in ENDING if signal.getsignal(number) is not signal.SIG_IGN]
    for number in taken:
        loop.add_signal_handler(number, heard, number)
    try:
        yield found
    finally:
        for number in taken:
            loop.remove_signal_handler(number)
