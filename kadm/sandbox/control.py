"""The control endpoint of a running sandbox: faults of its members, on a loopback port of its own, behind a token.

GET     /members/NAME/faults    the faults in force
PUT     /members/NAME/faults    a JSON list of faults, in place of those in force
DELETE  /members/NAME/faults    none any more
"""

from __future__ import annotations

import hmac
import re
from collections.abc import Mapping
from typing import Protocol

import msgspec
from aiohttp import web

from kadm.sandbox.faults import Fault, decode_faults


class Faulty(Protocol):
    """A member that can be given faults."""

    @property
    def faults(self) -> tuple[Fault, ...]:
        """The faults in force."""

    async def set_faults(self, faults: list[Fault]) -> None:
        """Put ``faults`` in place of those in force."""


class Control:
    """Answers control requests; ``members`` by name."""

    def __init__(self, members: Mapping[str, Faulty], token: str) -> None:
        self._members = members
        self._token = token

    async def __call__(self, request: web.BaseRequest) -> web.StreamResponse:
        given = request.headers.get("Authorization", "").removeprefix("Bearer ")
        if not hmac.compare_digest(given.encode(), self._token.encode()):
            return web.Response(status=401, text="the control token is missing or wrong")
        matched = re.fullmatch(r"/members/([^/]+)/faults", request.path)
        member = self._members.get(matched[1]) if matched else None
        if member is None:
            return web.Response(status=404, text=f"there is no {request.path}")
        match request.method:
            case "GET":
                pass
            case "PUT":
                try:
                    faults = decode_faults(await request.read())
                except (msgspec.DecodeError, re.error) as fault:
                    return web.Response(status=400, text=str(fault))
                await member.set_faults(faults)
            case "DELETE":
                await member.set_faults([])
            case _:
                return web.Response(status=405, text=f"{request.method} is not possible")
        return web.Response(body=msgspec.json.encode(member.faults), content_type="application/json")
