"""Asking a person while other things go on: Leases are renewed, and Ctrl-C is heeded at once."""

from __future__ import annotations

import asyncio
import sys

from kadm.cli.console import Console


async def confirmed(console: Console, question: str) -> bool:
    """Whether the person at the terminal says yes. Only to be asked where ``console.interactive``."""
    console.rich("err").print(f"{question} [y/N] ", end="", style="bold")
    console.err.flush()
    loop = asyncio.get_running_loop()
    typed = asyncio.Event()
    loop.add_reader(sys.stdin, typed.set)
    try:
        await typed.wait()
    finally:
        loop.remove_reader(sys.stdin)
    return sys.stdin.readline().strip().lower() in ("y", "yes")
