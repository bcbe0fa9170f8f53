"""What aiohttp's server has to say, made fit for the daemon's log.

It logs a request that it cannot read with a traceback, and with the bytes that it stumbled over: whoever reaches the
port could fill the log, and a header that is a little wrong would leave its token there. Of these one line is left,
which holds nothing of the request. What our own handlers fail at is logged as it is.
"""

from __future__ import annotations

import logging
from typing import Any

from aiohttp import web
from aiohttp.http import HttpProcessingError

UNREADABLE = (HttpProcessingError, web.RequestPayloadError)
"""What aiohttp raises where a request, or its body, is not HTTP."""


class ServerLog(logging.LoggerAdapter[logging.Logger]):
    """Given to aiohttp as its logger."""

    def log(self, level: int, msg: object, *args: object, **rest: Any) -> None:
        error = rest.get("exc_info")
        if isinstance(error, UNREADABLE):
            peer = args[0] if args else "somebody"  # aiohttp does not always say
            self.logger.info("a request from %s cannot be read: %s", peer, type(error).__name__)
        else:
            super().log(level, msg, *args, **rest)
