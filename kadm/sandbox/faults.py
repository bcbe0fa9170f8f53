"""Faults that a test makes a member have: no connection, no answer, slow answers, refusals.

Wire form, as the control endpoint takes it: ``[{"mode": "status", "status": 403, "path": "/secrets", "times": 2}]``.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Sequence
from typing import Literal

import msgspec
from aiohttp import web

from kadm.errors import UsageError

Mode = Literal["refuse", "reset", "hang", "slow", "status", "garble"]

REASONS = {
    400: "BadRequest",
    401: "Unauthorized",
    403: "Forbidden",
    404: "NotFound",
    409: "Conflict",
    410: "Expired",
    422: "Invalid",
    429: "TooManyRequests",
    500: "InternalError",
    503: "ServiceUnavailable",
    504: "Timeout",
}


class Fault(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One fault.

    ``mode``: ``refuse`` closes the member's port, for all requests; ``reset`` drops the connection of a request;
    ``hang`` answers it only once the fault is taken away; ``slow`` answers it after ``delay_s``; ``status`` answers it
    with ``status`` and a Status object; ``garble`` answers it with success and JSON that breaks off. ``methods``
    (empty: all) and ``path`` (a regular expression, searched in the path with its query) choose the requests. ``times``
    is how many are hit, 0 means all.
    """

    mode: Mode
    status: int = 500
    delay_s: float = 1.0
    methods: tuple[str, ...] = ()
    path: str = ""
    times: int = 0
    message: str = "injected by the sandbox"

    def hits(self, method: str, path: str) -> bool:
        """Whether the fault is about such a request."""
        return (not self.methods or method in self.methods) and re.search(self.path, path) is not None


Handler = Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]


class Gate:
    """Stands before a member's request handler and applies the faults that are set."""

    def __init__(self, handler: Handler) -> None:
        self._handler = handler
        self._faults: list[tuple[Fault, int]] = []  # with how many more requests it hits; 0: no end
        self._changed = asyncio.Event()

    @property
    def faults(self) -> tuple[Fault, ...]:
        """The faults that are still in force."""
        return tuple(fault for fault, _ in self._faults)

    def set(self, faults: Sequence[Fault]) -> None:
        """Put ``faults`` in place of those in force; requests that hang go on."""
        self._faults = [(fault, fault.times) for fault in faults]
        self._changed.set()
        self._changed = asyncio.Event()

    async def __call__(self, request: web.BaseRequest) -> web.StreamResponse:
        while (fault := self._take(request)) is not None:
            match fault.mode:
                case "slow":
                    await asyncio.sleep(fault.delay_s)
                    break
                case "hang":
                    await self._changed.wait()
                case "status":
                    return refusal(fault)
                case "garble":
                    return web.Response(body=b'{"kind": "List", "items": [{', content_type="application/json")
                case "reset" | "refuse":
                    if request.transport is not None:
                        request.transport.abort()
                    return web.Response(status=503)  # nobody is left to read it
        return await self._handler(request)

    def _take(self, request: web.BaseRequest) -> Fault | None:
        for index, (fault, left) in enumerate(self._faults):
            if fault.hits(request.method, request.path_qs):
                if left == 1:
                    del self._faults[index]
                elif left:
                    self._faults[index] = (fault, left - 1)
                return fault
        return None


def refusal(fault: Fault) -> web.Response:
    """The answer of mode ``status``."""
    status = {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": fault.message,
        "reason": REASONS.get(fault.status, ""),
        "code": fault.status,
    }
    headers = {"Retry-After": "1"} if fault.status == 429 else {}
    return web.Response(
        status=fault.status, body=msgspec.json.encode(status), content_type="application/json", headers=headers
    )


def parse_fault(mode: str, *, delay_s: float = 1.0, path: str = "", times: int = 0) -> Fault:
    """The fault that a person names: a mode, or a status code. Raises UsageError when there is no such one."""
    if re.fullmatch(r"[45]\d\d", mode):
        return Fault(mode="status", status=int(mode), path=path, times=times)
    try:
        re.compile(path)
        return msgspec.convert({"mode": mode, "delay_s": delay_s, "path": path, "times": times}, Fault)
    except msgspec.ValidationError as fault:
        why = "there are refuse, reset, hang, slow, garble, a status such as 503, and none"
        raise UsageError(f"there is no fault {mode}", why=why) from fault
    except re.error as fault:
        raise UsageError(f"--path {path} is no regular expression", why=str(fault)) from fault


def decode_faults(data: bytes) -> list[Fault]:
    """The faults in a request's body. Raises msgspec.ValidationError, or re.error for a bad ``path``."""
    faults = msgspec.json.decode(data, type=list[Fault])
    for fault in faults:
        re.compile(fault.path)
    return faults
