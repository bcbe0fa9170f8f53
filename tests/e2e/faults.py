"""Faults that stand between kadm and a member, so that any member shows them, embedded or real."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Literal

Mode = Literal["refuse", "reset", "hang", "slow", "status", "garble", "stall"]

REASONS = {
    401: "Unauthorized",
    403: "Forbidden",
    429: "TooManyRequests",
    500: "InternalError",
    503: "ServiceUnavailable",
    504: "Timeout",
}


@dataclass(frozen=True)
class Fault:
    """What becomes of some requests to a member.

    ``refuse``: the member's port is closed. ``reset``: the connection is dropped. ``hang``: nothing is answered.
    ``slow``: it is passed on after ``delay_s``. ``status``: it is answered with ``status``, and ``body`` in place of a
    Status object. ``garble``: it is passed on, and half of the answer comes as if it were all. ``stall``: it is passed
    on, and the answer stops half-way without an end.

    ``methods`` (empty: all), ``path`` (searched in the path with its query) and ``writes`` (only what could change the
    member) choose the requests; ``times`` is how many are hit, 0: all. Nothing that hits is passed on, unless said.
    """

    mode: Mode
    status: int = 500
    body: str = ""
    delay_s: float = 1.0
    methods: tuple[str, ...] = ()
    path: str = ""
    writes: bool = False
    times: int = 0

    def hits(self, method: str, target: str, *, writes: bool) -> bool:
        """Whether the fault is about such a request."""
        chosen = not self.methods or method in self.methods
        return chosen and (writes or not self.writes) and re.search(self.path, target) is not None

    @property
    def answer(self) -> str:
        """The body of mode ``status``."""
        status = {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": "injected by the test",
            "reason": REASONS.get(self.status, ""),
            "code": self.status,
        }
        return self.body or json.dumps(status)
