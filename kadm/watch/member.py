"""Watching one member: everything read once, then kept current by watches; lost and found again.

One task group per member, with time-outs of its own, so that a dead member costs nobody else (design, section 9):

    observe   who it is, what it serves, what kadm recorded there
    list      each type in use, by the ApplySet's label; the member is synced when all of them are read
    watch     with bookmarks, from where the list stands; a full list again where the member forgot the place (410),
              and at least every ten minutes, whatever the watch says
    pulse     a read of the Lease, so that a silent death is found within seconds: a watch would be silent, too. One
              that was lost while the next is answered makes the watches begin anew: connections that are half open
              bring nothing any more, and say nothing of it

What fails is tried again with growing pauses. A stream that fails again and again, or a pulse that is missed twice,
ends the whole group: the member is lost, and nothing but one request at a time, ever more seldom, is spent on it.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Mapping
from datetime import UTC, datetime
from typing import Protocol

from msgspec import Raw
from msgspec.structs import replace

from kadm.errors import KadmError, MemberError, MemberRefused, MemberSilent, MemberUnreachable, Problem
from kadm.members.connection import Connection
from kadm.members.lease import read_lease
from kadm.members.observe import observe_member
from kadm.members.resources import CONFIG_MAPS, PODS, key_in
from kadm.members.watching import Notice, Selection, Watches, WatchExpired, WatchSilent, open_watches, pages
from kadm.model.applyset import PART_OF
from kadm.model.objects import JsonObject, ObjectKey
from kadm.model.observation import ApiResource, MemberState
from kadm.model.repository import RECORD_NAMESPACE
from kadm.watch.pausing import Failures, jittered
from kadm.watch.seen import Seen, seen, slim_pod
from kadm.watch.state import WatchCounts

_log = logging.getLogger(__name__)

PULSE_S = 10.0
PULSE_TIMEOUT_S = 5.0
MISSED_PULSES = 2
STREAM_FAILURES = 3
"""So many failures in a row of one stream, and the member is taken for lost."""

RELIST_S = (420.0, 600.0)
"""From one full list to the next: at random between these, so that members and types do not all come at once."""
WATCH_S = (180.0, 300.0)
SHORTEST_WATCH_S = 1.0
MOST_PODS = 2000
"""Waiting pods that are kept of one member; a member where more wait has enough to tell."""

_CANNOT_WATCH = (403, 404, 405)
_PENDING = Selection(fields="status.phase=Pending")


class Told(Protocol):
    """Who hears of what happens in members. Called from within the event loop; must not wait."""

    def changed(self, member: str, key: ObjectKey, before: Seen | None, now: Seen | None) -> None:
        """An object is new, different, or gone (None)."""

    def record_changed(self, member: str) -> None:
        """Somebody wrote kadm's record there."""

    def pods_changed(self, member: str) -> None:
        """A pod began to wait, waits for another reason, or waits no more."""

    def synced(self, member: str) -> None:
        """Everything in it was read."""

    def lost(self, member: str, problem: Problem) -> None:
        """It is not reachable any more, or could not be reached the first time; again for each other reason that it is
        not reachable for since."""


class MemberWatch:
    """What is known of one member. Everything is replaced as a whole, so that readers see it consistent.

    ``state`` is what was observed last, None before the first answer; the record in it is without what it lists.
    ``objects`` is what is kept of the objects that bear kadm's label, ``pods`` the waiting pods while ``want`` asks for
    them. ``problem`` None: it is reachable.
    """

    def __init__(
        self,
        fleet: str,
        name: str,
        connect: Callable[[], Awaitable[Connection]],
        told: Told,
        *,
        set_id: str,
        lists: asyncio.Semaphore,
        pulse_s: float = PULSE_S,
        pulse_timeout_s: float = PULSE_TIMEOUT_S,
        relist_s: tuple[float, float] = RELIST_S,
    ) -> None:
        self.name = name
        self.state: MemberState | None = None
        self.objects: dict[ObjectKey, Seen] = {}
        self.pods: dict[ObjectKey, JsonObject] = {}
        self.problem: Problem | None = None
        self._reasons: set[str] = set()
        self.synced = False
        self.since = datetime.now(UTC)
        self.heard: datetime | None = None
        self.pulse_took_s: float | None = None
        """How long the last answered pulse took; None before the first, and while the member is lost."""
        self.silent_since_s: float | None = None
        """Since when nothing was answered, as far as was tried, by the loop's clock: this machine's may jump. None
        while there are answers, be they refusals."""
        self.first_try = asyncio.Event()
        """Set once it was read in full, or could not be reached."""
        self._fleet = fleet
        self._connect = connect
        self._told = told
        self._selection = Selection(labels=f"{PART_OF}={set_id}")
        self._lists = lists
        self._pulse_s = pulse_s
        self._pulse_timeout_s = pulse_timeout_s
        self._relist_s = relist_s
        self._counts: Counter[str] = Counter()
        self._failures: Counter[str] = Counter()
        self._kinds: frozenset[tuple[str, str, str]] = frozenset()
        self._recorded: frozenset[tuple[str, str, str]] = frozenset()
        self._pods_wanted = False
        self._missing = False
        self._wanted = asyncio.Event()
        self._pending: set[str] = set()
        self._again = asyncio.Event()

    @property
    def reachable(self) -> bool:
        return self.problem is None and self.state is not None

    @property
    def counts(self) -> WatchCounts:
        return WatchCounts(
            lists=self._counts["lists"],
            restarts=self._counts["restarts"],
            expired=self._counts["expired"],
            silent=self._counts["silent"],
            failures=dict(sorted(self._failures.items())),
        )

    def want(self, kinds: Collection[tuple[str, str, str]], *, pods: bool) -> None:
        """Watch these types (group, version, kind) beside those of the record, and waiting pods if asked.

        A member that does not serve one of them is asked again each time: a CRD may have come.
        """
        if self._missing or (frozenset(kinds), pods) != (self._kinds, self._pods_wanted):
            self._kinds, self._pods_wanted = frozenset(kinds), pods
            self._wanted.set()

    def try_now(self) -> None:
        """Do not wait any longer before a lost member is tried again."""
        self._again.set()

    async def run(self) -> None:
        """Watch for ever. Ends by cancellation alone."""
        failures = Failures()
        while True:
            try:
                await self._watched(failures)
            except MemberError as error:
                self._lose(error)
            except BaseExceptionGroup as group:
                errors, others = group.split(MemberError)
                if others is not None or errors is None:
                    raise
                self._lose(_first(errors))
            self._again.clear()
            try:
                async with asyncio.timeout(failures.another()):
                    await self._again.wait()
            except TimeoutError:
                continue

    async def _watched(self, failures: Failures) -> None:
        connection = await self._connect()
        self._failures = connection.failures
        await self._observe(connection)
        self._hear()
        self.synced = False
        async with open_watches(connection) as watches, asyncio.TaskGroup() as group:
            group.create_task(self._pulse(connection, watches), name=f"pulse of {self.name}")
            group.create_task(self._streams(connection, watches, group, failures), name=f"streams of {self.name}")

    async def _observe(self, connection: Connection) -> None:
        """Read who it is, what it serves, and of what types kadm placed objects there; the record itself is not kept:
        plans read it anew, and it may be large."""
        state = await observe_member(connection, self._fleet)
        record = state.record
        if record is not None:
            self._recorded = frozenset((entry.group, entry.version, entry.kind) for entry in record.objects)
            record = replace(record, objects=(), workloads=())
        self.state = replace(state, record=record)

    async def _streams(
        self, connection: Connection, watches: Watches, group: asyncio.TaskGroup, failures: Failures
    ) -> None:
        """Begin and end streams as what is wanted changes."""
        running: dict[str, asyncio.Task[None]] = {}
        while True:
            self._wanted.clear()
            if self._not_served():
                await self._observe(connection)
            self._missing = bool(self._not_served())
            wanted = self._resources()
            for name in running.keys() - wanted.keys():
                running.pop(name).cancel()
                self._pending.discard(name)
            new = wanted.keys() - running.keys()
            self._pending |= new
            for name in sorted(new):
                resource, selection = wanted[name]
                stream = self._stream(connection, watches, name, resource, selection, failures)
                running[name] = group.create_task(stream, name=f"watch of {name} in {self.name}")
            self._is_synced(failures)
            await self._wanted.wait()

    def _not_served(self) -> frozenset[tuple[str, str, str]]:
        """The wanted types that the member did not serve when it was asked."""
        assert self.state is not None, "it was observed"
        return self._kinds - {(one.group, one.version, one.kind) for one in self.state.api_resources}

    def _resources(self) -> dict[str, tuple[ApiResource, Selection]]:
        """Stream name → what it reads: the types in use that the member serves, the record, and waiting pods."""
        assert self.state is not None, "it was observed"
        kinds = self._kinds | self._recorded
        found = {
            f"{one.plural}.{one.version}.{one.group}": (one, self._selection)
            for one in self.state.api_resources
            if (one.group, one.version, one.kind) in kinds
        }
        found["record"] = (
            CONFIG_MAPS,
            Selection(namespace=RECORD_NAMESPACE, fields=f"metadata.name=kadm-{self._fleet}"),
        )
        if self._pods_wanted:
            found["pods"] = (PODS, _PENDING)
        elif self.pods:
            self.pods = {}
        return found

    async def _stream(
        self,
        connection: Connection,
        watches: Watches,
        name: str,
        resource: ApiResource,
        selection: Selection,
        session_failures: Failures,
    ) -> None:
        """List, then watch, for ever. Raises MemberError where it fails again and again."""
        failures = Failures()
        version, relist_at = "", 0.0
        loop = asyncio.get_running_loop()
        while True:
            began = loop.time()
            try:
                if not version or began >= relist_at:
                    version = await self._list(connection, name, resource, selection)
                    relist_at = began + jittered(*self._relist_s)
                    self._pending.discard(name)
                    self._is_synced(session_failures)
                timeout_s = max(SHORTEST_WATCH_S, min(jittered(*WATCH_S), relist_at - loop.time()))
                with contextlib.suppress(TimeoutError):  # not every server ends a watch when it is asked to
                    async with asyncio.timeout_at(max(relist_at, loop.time() + timeout_s)):
                        async for notice in watches.events(resource, selection, since=version, timeout_s=timeout_s):
                            version = notice.version or version
                            failures.none()
                            self._hear()
                            self._notice(name, notice, resource)
                self._counts["restarts"] += 1
                if loop.time() - began < SHORTEST_WATCH_S:  # it ends watches at once: do not ask it all the time
                    await asyncio.sleep(SHORTEST_WATCH_S)
            except WatchExpired:
                version = ""
                self._counts["expired"] += 1
                if loop.time() - began < SHORTEST_WATCH_S:
                    await asyncio.sleep(jittered(SHORTEST_WATCH_S / 2, SHORTEST_WATCH_S))
            except WatchSilent as error:
                self._counts["silent"] += 1
                _log.info("%s: the watch of %s begins anew: %s", self.name, name, error.problem.what)
            except MemberError as error:
                pause = failures.another()
                if isinstance(error, MemberRefused) and error.status in _CANNOT_WATCH:
                    _log.warning("%s: %s cannot be watched: %s", self.name, name, error.problem.what)
                    self._pending.discard(name)
                    self._is_synced(session_failures)
                    version = ""  # what cannot be watched may still be listed
                    await asyncio.sleep(jittered(*self._relist_s))
                    continue
                if failures.count >= STREAM_FAILURES:
                    raise
                _log.debug("%s: the watch of %s failed: %s", self.name, name, error.problem.what)
                await asyncio.sleep(pause)

    async def _list(self, connection: Connection, name: str, resource: ApiResource, selection: Selection) -> str:
        """Read a whole type and tell what differs from what was known; gives the version to watch from."""
        version = ""
        found: dict[ObjectKey, Seen] = {}
        pods: dict[ObjectKey, JsonObject] = {}
        async with self._lists:
            async for page in pages(connection, resource, dict[str, Raw], selection):
                version = page.version
                for fields in page.items:
                    if name == "pods":
                        self._take_pod(pods, fields)
                    else:
                        key, one = seen(fields, resource)
                        found[key] = one
        self._hear()
        self._counts["lists"] += 1
        if name == "pods":
            self.pods = pods
            self._told.pods_changed(self.name)
        elif name != "record":
            self._replace(resource, found)
        return version

    def _replace(self, resource: ApiResource, found: Mapping[ObjectKey, Seen]) -> None:
        """Put a whole type in place of what was known of it."""
        known = {key: one for key, one in self.objects.items() if (key.group, key.kind) == _type(resource)}
        kept = {key: one for key, one in self.objects.items() if key not in known}
        self.objects = {**kept, **found}
        for key in sorted(known.keys() | found.keys()):
            if known.get(key) != found.get(key):
                self._told.changed(self.name, key, known.get(key), found.get(key))

    def _notice(self, name: str, notice: Notice, resource: ApiResource) -> None:
        if notice.type == "BOOKMARK":
            return
        if name == "record":
            self._told.record_changed(self.name)
            return
        if name == "pods":
            if notice.type == "DELETED":
                pod = slim_pod(notice.object)["metadata"]
                self.pods.pop(key_in(PODS, pod["namespace"], pod["name"]), None)
            else:
                self._take_pod(self.pods, notice.object)
            self._told.pods_changed(self.name)
            return
        key, one = seen(notice.object, resource)
        before = self.objects.get(key)
        now = None if notice.type == "DELETED" else one
        if now is None:
            self.objects.pop(key, None)
        else:
            self.objects[key] = now
        if before != now:
            self._told.changed(self.name, key, before, now)

    def _take_pod(self, pods: dict[ObjectKey, JsonObject], fields: dict[str, Raw]) -> None:
        pod = slim_pod(fields)
        key = key_in(PODS, pod["metadata"]["namespace"], pod["metadata"]["name"])
        if key in pods or len(pods) < MOST_PODS:
            pods[key] = pod

    async def _pulse(self, connection: Connection, watches: Watches) -> None:
        """Ask for the Lease again and again. Raises MemberError where it does not answer twice in a row."""
        missed, lost = 0, False
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(jittered(self._pulse_s * 0.8, self._pulse_s))
            began = loop.time()
            try:
                await read_lease(connection, self._fleet, timeout_s=self._pulse_timeout_s)
            except MemberError as error:
                if not isinstance(error, MemberRefused) or error.status == 401 or error.status >= 500:
                    missed, lost = missed + 1, lost or isinstance(error, MemberUnreachable)
                    if missed >= MISSED_PULSES:
                        raise
                    continue
            if lost:
                watches.doubt()
            missed, lost = 0, False
            self.pulse_took_s = loop.time() - began
            self._hear()

    def _is_synced(self, failures: Failures) -> None:
        """Note that everything is read, the first time that it is."""
        if self._pending or self.synced:
            return
        failures.none()
        back = self.problem is not None
        if back or not self.first_try.is_set():
            self.since = datetime.now(UTC)
        self.problem, self.synced = None, True
        self.first_try.set()
        self._told.synced(self.name)

    def _lose(self, error: KadmError) -> None:
        first = self.problem is None
        if not isinstance(error, MemberSilent):
            self.silent_since_s = None
        elif self.silent_since_s is None:
            self.silent_since_s = asyncio.get_running_loop().time()
        self.problem = error.problem
        self.pulse_took_s = None
        self.synced = False
        self._pending.clear()
        if first:
            self.since = datetime.now(UTC)
            self._reasons.clear()
        if error.problem.what not in self._reasons:  # one that falls back and forth between two is not told each time
            self._reasons.add(error.problem.what)
            self._told.lost(self.name, error.problem)
        self.first_try.set()

    def _hear(self) -> None:
        self.heard = datetime.now(UTC)
        self.silent_since_s = None


def _type(resource: ApiResource) -> tuple[str, str]:
    return resource.group, resource.kind


def _first(group: BaseExceptionGroup[MemberError]) -> MemberError:
    """The first error of a group of groups."""
    found: BaseException = group
    while isinstance(found, BaseExceptionGroup):
        found = found.exceptions[0]
    assert isinstance(found, MemberError), "the group was split by this type"
    return found
