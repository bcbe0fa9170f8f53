"""The way in: Ctrl-C is taken care of before anything heavy is imported."""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType
from typing import NoReturn

INTERRUPTED = 128 + signal.SIGINT
"""What shells call the end by Ctrl-C."""

WORD = "interrupted\n"


def run() -> None:
    """Entry point: parse, run, and end with the documented exit code."""
    former = signal.getsignal(signal.SIGINT)
    heeded = former is signal.default_int_handler  # else it is ignored, as under nohup, and stays so
    if heeded:
        signal.signal(signal.SIGINT, _leave)
    from kadm.cli import command_line

    try:
        if heeded:
            signal.signal(signal.SIGINT, former)
        command_line.run()
    except KeyboardInterrupt:  # just before or after what the command line itself takes care of
        sys.stderr.write(WORD)
        sys.exit(INTERRUPTED)


def main(arguments: list[str]) -> int:
    """Run one command line in this process and give its exit code."""
    from kadm.cli import command_line

    return command_line.main(arguments)


def _leave(_number: int, _frame: FrameType | None) -> NoReturn:
    """Ctrl-C while modules are imported: nothing has begun that would have to be put in order.

    An exception would come up anywhere in the imports, and some of what runs there can only print it.
    """
    os.write(2, WORD.encode())
    os._exit(INTERRUPTED)
