"""Where ``kadm watch`` serves what it knows."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from kadm.errors import UsageError
from kadm.watch.serving import DEFAULT_LISTEN, CannotListen, Listening, Serving, listening
from kadm.watch.state import Board

_log = logging.getLogger(__name__)

NOWHERE = "none"


def where_to_listen(
    text: str | None, token_file: Path | None, hook_file: Path | None, *, once: bool
) -> Listening | None:
    """What ``--listen`` and the files beside it say; None: nothing is to be served. Raises UsageError."""
    files = (("--token-file", token_file), ("--hook-secret-file", hook_file))
    given = [flag for flag, file in files if file is not None]
    if once:
        given = [*(["--listen"] if text not in (None, NOWHERE) else []), *given]
        if given:
            raise UsageError(f"--once serves nothing: {given[0]} makes no sense with it", hint=f"leave {given[0]} out")
        return None
    if text == NOWHERE:
        if given:
            raise UsageError(f"{given[0]} makes no sense with --listen {NOWHERE}")
        return None
    return listening(text or DEFAULT_LISTEN, token_file=token_file, hook_file=hook_file)


@asynccontextmanager
async def served(
    board: Board, where: Listening | None, pushed: Callable[[], None], *, needed: bool
) -> AsyncIterator[Serving | None]:
    """Serve for the time of the block; None where nothing is. ``pushed`` hears of a push to git.

    A port that is not ``needed`` may be taken, by another daemon: that is told, and the daemon does its work unseen.
    """
    if where is None:
        yield None
        return
    found = Serving(board, where, pushed)
    try:
        await found.start()
    except CannotListen as error:
        if needed:
            raise
        _log.warning("not served: %s: %s (--listen HOST:PORT says where else)", error.problem.what, error.problem.why)
        yield None
        return
    try:
        yield found
    finally:
        await found.stop()
