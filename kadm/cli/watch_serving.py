"""Where ``kadm watch`` serves what it knows."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from kadm.errors import UsageError
from kadm.watch.serving import DEFAULT_LISTEN, CannotListen, Listening, Serving, listening
from kadm.watch.state import Board

_log = logging.getLogger(__name__)

NOWHERE = "none"


def where_to_listen(text: str | None, token_file: Path | None) -> Listening | None:
    """What ``--listen`` and ``--token-file`` say; None: nothing is to be served. Raises UsageError."""
    if text == NOWHERE:
        if token_file is not None:
            raise UsageError(f"--token-file makes no sense with --listen {NOWHERE}")
        return None
    return listening(text or DEFAULT_LISTEN, token_file=token_file)


@asynccontextmanager
async def served(board: Board, where: Listening | None, *, asked: bool) -> AsyncIterator[Serving | None]:
    """Serve for the time of the block; None where nothing is.

    A port that nobody ``asked`` for may be taken, by another daemon: that is told, and the daemon does its work unseen.
    """
    if where is None:
        yield None
        return
    found = Serving(board, where)
    try:
        await found.start()
    except CannotListen as error:
        if asked:
            raise
        _log.warning("not served: %s: %s (--listen HOST:PORT says where else)", error.problem.what, error.problem.why)
        yield None
        return
    try:
        yield found
    finally:
        await found.stop()
