"""Of several daemons one writes: who holds the Lease ``kadm-<fleet>.watch`` in most of the electors.

There is no place that always answers, so up to three members elect, the first by name: whoever holds the Lease in more
than half of those that can be reached writes. They are taken in the order of their names, and never past one that
somebody else holds, so two daemons do not share them. What this keeps apart is work done twice; that no write harms
another is seen to by the Leases that each apply takes, and by the records.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from kadm.errors import MemberError, MemberRefused
from kadm.execute.locking import now_s
from kadm.members.connection import Connection
from kadm.members.lease import DURATION_S, Lease, LeaseTaken, read_lease, write_lease
from kadm.members.process import Holder, has_died, this_run
from kadm.watch.links import Links
from kadm.watch.state import WriterView

_log = logging.getLogger(__name__)

ELECTORS = 3
EVERY_S = DURATION_S / 3
REQUEST_TIMEOUT_S = 4.0
_NO_LEASES = (403, 404, 405)


@dataclass
class Election:
    """One daemon's part in it. ``electors`` are members by name; ``changed`` hears when who writes changes."""

    fleet: str
    links: Links
    changed: Callable[[], None]
    electors: Sequence[str] = ()
    clock: Callable[[], float] = now_s
    me: Holder = field(default_factory=this_run)
    view: WriterView = field(default_factory=WriterView)
    _held: dict[str, Lease] = field(default_factory=dict)
    _seen: dict[str, tuple[str, float]] = field(default_factory=dict)

    @property
    def subject(self) -> str:
        """What the Lease is about, as ``read_lease`` names it. No fleet's name holds a dot."""
        return f"{self.fleet}.watch"

    async def round(self) -> None:
        """Take or renew what can be had, once."""
        reachable = held = without = 0
        other: Lease | None = None
        for name in sorted(self.electors)[:ELECTORS]:
            try:
                connection = await self.links.writer(name)
                lease = await self._elect(name, connection, looks_only=other is not None)
            except MemberRefused as error:
                self._held.pop(name, None)
                if error.status in _NO_LEASES:
                    without += 1
                continue
            except MemberError:
                self._held.pop(name, None)
                continue
            reachable += 1
            if lease.holder == self.me.identity:
                held += 1
            else:
                other = other or lease
        if other is not None and not held:
            await self.resign()
        alone = not reachable and without > 0  # no member knows Leases, or lets us have them: nobody can be kept out
        here = alone or held * 2 > reachable
        holder = self.me.identity.rpartition("/")[0] if here else (other.held_by if other else "")
        before, since = self.view, datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        if (before.here, before.holder) != (here, holder):
            self.view = WriterView(here=here, holder=holder, since=since)
            self.changed()

    async def resign(self) -> None:
        """Give back what is held, so that another need not wait until it expires."""
        held, self._held = self._held, {}
        for name, lease in held.items():
            try:
                await self._write(await self.links.writer(name), lease, None)
            except MemberError as error:
                _log.debug("%s: the Lease could not be given back, it expires: %s", name, error.problem.what)

    async def _elect(self, name: str, connection: Connection, *, looks_only: bool) -> Lease:
        """The elector's Lease, taken or renewed where that is possible.

        ``looks_only``: it is not taken, but how long it was not renewed is known from now on.
        """
        lease = self._held.get(name)
        if lease is not None:
            try:
                self._held[name] = await self._write(connection, lease, self.me)
                return self._held[name]
            except LeaseTaken:
                self._held.pop(name, None)
        lease = await read_lease(connection, self.subject, timeout_s=REQUEST_TIMEOUT_S)
        version, since_s = self._seen.get(name, ("", 0.0))
        if version != lease.version:
            since_s = self.clock()
            self._seen[name] = lease.version, since_s
        if looks_only:
            return lease
        mine = lease.holder == self.me.identity
        if mine or not lease.holder or self.clock() - since_s >= lease.duration_s or has_died(lease.mark):
            try:
                lease = await self._write(connection, lease, self.me)
            except LeaseTaken:
                return await read_lease(connection, self.subject, timeout_s=REQUEST_TIMEOUT_S)
            self._held[name] = lease
        return lease

    async def _write(self, connection: Connection, lease: Lease, holder: Holder | None) -> Lease:
        return await write_lease(
            connection, self.subject, lease, holder, now=datetime.now(UTC), timeout_s=REQUEST_TIMEOUT_S
        )
