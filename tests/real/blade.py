"""Kills a run of kadm at one of its requests: what stands between them is found by letting a run through first."""

from __future__ import annotations

import os
import signal
import threading
from collections import Counter
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from tests.e2e.audit import Request

DRY_RUN = "dry-run PATCH"
DIES_WITHIN_S = 60.0


class Boundary(NamedTuple):
    """The ``number``-th request of its sort is about to be forwarded, or was answered and nobody was told yet."""

    member: str
    verb: str
    path: str
    number: int
    side: Literal["before", "after"]

    def __str__(self) -> str:
        return f"{self.side} {self.verb} {self.path} ({self.number}) in {self.member}"

    @property
    def reads(self) -> bool:
        return self.verb in ("GET", DRY_RUN)

    @property
    def kind(self) -> tuple[str, ...]:
        """What is alike: the verb, the resource, and the side."""
        return self.verb, "/".join(self.path.split("/namespaces/")[-1].split("/")[1:2]), self.side

    @property
    def always_comes(self) -> bool:
        """Whether every run comes to it. How often it asks, and for whose pods, hangs on how soon things are ready."""
        return self.number == 1 and not self.path.endswith("/pods")


@dataclass
class Blade:
    """Notes the boundaries that a run comes to, and kills it at one of them. A hook of the audit.

    Killed before a request, the run has sent nothing more: what it sends at the same time is stopped, too. Killed after
    one, what is under way still gets through.
    """

    fleet: str
    at: Boundary | None = None
    pid: Future[int] = field(default_factory=Future)
    dead: threading.Event = field(default_factory=threading.Event)
    struck: bool = False
    wrote: bool = False
    """Whether a request that writes was let through."""
    boundaries: list[Boundary] = field(default_factory=list)
    deleted: Counter[tuple[str, str]] = field(default_factory=Counter)
    """How often a member said that it deletes an object."""
    _seen: Counter[tuple[str, ...]] = field(default_factory=Counter)

    def __call__(self, request: Request, status: int | None) -> bool:
        path = request.path.replace(self.fleet, "$NS")
        if request.method == "DELETE" and status in (200, 202):
            self.deleted[request.member, path] += 1
        if self.at is not None and self.struck:
            return self.at.side == "after"
        boundary = self._boundary(request, path, status)
        if boundary is not None:
            self.boundaries.append(boundary)
        if boundary is None or boundary != self.at:
            self.wrote |= request.writes
            return True
        self.struck = True
        os.kill(self.pid.result(DIES_WITHIN_S), signal.SIGKILL)
        self.dead.wait(DIES_WITHIN_S)
        return False

    def sheathe(self) -> None:
        """From now on all is let through."""
        self.at = None

    def _boundary(self, request: Request, path: str, status: int | None) -> Boundary | None:
        """None after a read: it left nothing, and what the run does next can be seen before its next request."""
        verb = request.method if request.query.get("dryRun") != "All" else DRY_RUN
        side: Literal["before", "after"] = "before" if status is None else "after"
        self._seen[request.member, verb, path, side] += 1
        boundary = Boundary(request.member, verb, path, self._seen[request.member, verb, path, side], side)
        return None if boundary.reads and side == "after" else boundary
