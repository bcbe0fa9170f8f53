"""What stands before a member's request handler and makes it have faults."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

import msgspec
from aiohttp import web

from kadm.sandbox.faults import Fault

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
