"""The objects of one member, with the versions a watch or a page may still ask for.

A store is a plain in-memory table with one counter, like etcd's revision: every write of any kind of object raises it
by one and becomes the object's ``metadata.resourceVersion``. Objects are JSON values as ``json.loads`` gives them. A
stored object is never changed: a write puts a new one in its place, so readers share references and must not change
them.

A *resource* is named as in RBAC and CRD names: ``pods``, ``deployments.apps``, ``widgets.example.com``; it does not
carry a version, an object is stored once however many versions serve it. Cluster-scoped objects have the namespace "".
"""

from __future__ import annotations

import asyncio
from bisect import bisect_left, bisect_right, insort
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

Object = dict[str, Any]
EventType = Literal["ADDED", "MODIFIED", "DELETED"]

HISTORY_PER_RESOURCE = 5_000


class Expired(Exception):
    """The version asked for is older than what the store remembers of that resource."""


@dataclass(frozen=True, slots=True)
class Event:
    """One write. ``object`` is what came out of it; of a deletion the last state, with the deletion's resourceVersion.

    ``previous`` is the state before, None for ADDED. ``revision`` is the counter's value after the write.
    """

    type: EventType
    resource: str
    object: Object
    previous: Object | None
    revision: int


class Watch:
    """The events of some resources from one point on, in order, as an async iterator. ``close`` ends the iteration."""

    def __init__(self, store: Store, resources: frozenset[str] | None, backlog: Iterable[Event]) -> None:
        self._store = store
        self._resources = resources
        self._events: deque[Event] = deque(backlog)
        self._arrived = asyncio.Event()
        self._closed = False

    def offer(self, event: Event) -> None:
        """Queue ``event`` if it is of a watched resource. Called by the store."""
        if self._resources is None or event.resource in self._resources:
            self._events.append(event)
            self._arrived.set()

    def take(self) -> Event | None:
        """The next event that is already here, or None."""
        return self._events.popleft() if self._events else None

    async def wait(self) -> bool:
        """Return True once an event is here, False once the watch is closed."""
        while not self._events:
            if self._closed:
                return False
            self._arrived.clear()
            await self._arrived.wait()
        return True

    def close(self) -> None:
        """End the watch; what has not been read is dropped."""
        self._closed = True
        self._events.clear()
        self._store.forget(self)
        self._arrived.set()

    def __aiter__(self) -> Watch:
        return self

    async def __anext__(self) -> Event:
        if not await self.wait():
            raise StopAsyncIteration
        return self._events.popleft()


class _Table:
    """The objects of one resource by storage key, the keys in order, and what happened lately."""

    __slots__ = ("forgotten", "history", "keys", "objects")

    def __init__(self) -> None:
        self.objects: dict[str, Object] = {}
        self.keys: list[str] = []
        self.history: deque[Event] = deque()
        self.forgotten = 0  # versions below this cannot be reconstructed


def storage_key(namespace: str, name: str) -> str:
    """The key that orders lists: ``namespace/name``, or the bare name of a cluster-scoped object."""
    return f"{namespace}/{name}" if namespace else name


class Store:
    """Objects by resource and name, the revision counter, and the watches on them. Not thread-safe: one event loop."""

    def __init__(self, *, history: int = HISTORY_PER_RESOURCE) -> None:
        self._revision = 1
        self._limit = history
        self._tables: dict[str, _Table] = {}
        self._watches: set[Watch] = set()
        self._followers: list[Callable[[Event], None]] = []

    @property
    def revision(self) -> int:
        """The counter's value: the resourceVersion of the latest write."""
        return self._revision

    def get(self, resource: str, namespace: str, name: str) -> Object | None:
        """The stored object, or None."""
        table = self._tables.get(resource)
        return table.objects.get(storage_key(namespace, name)) if table else None

    def list(self, resource: str, namespace: str | None = None) -> list[Object]:
        """The objects of a resource in the order of their storage keys; ``namespace`` None means all of them."""
        table = self._tables.get(resource)
        if table is None:
            return []
        return [table.objects[key] for key in _within(table.keys, namespace)]

    def list_at(self, resource: str, revision: int, namespace: str | None = None) -> Sequence[Object]:
        """As ``list``, as it was at ``revision``. Raises Expired when that is no longer known."""
        table = self._tables.get(resource)
        if table is None:
            return []
        if revision < table.forgotten:
            raise Expired
        objects = dict(table.objects)
        for event in reversed(table.history):
            if event.revision <= revision:
                break
            key = object_key(event.object)
            if event.previous is None:
                objects.pop(key, None)
            else:
                objects[key] = event.previous
        return [objects[key] for key in _within(sorted(objects), namespace)]

    def create(self, resource: str, obj: Object) -> Object:
        """Store a new object and return it with its resourceVersion. The name must be free."""
        table = self._table(resource)
        key = object_key(obj)
        assert key not in table.objects, f"{resource} {key} exists"
        stored = self._stamped(obj)
        table.objects[key] = stored
        insort(table.keys, key)
        self._record(table, Event("ADDED", resource, stored, None, self._revision))
        return stored

    def update(self, resource: str, obj: Object) -> Object:
        """Replace the stored object of that name and return it with its new resourceVersion. The name must exist."""
        table = self._table(resource)
        key = object_key(obj)
        previous = table.objects[key]
        stored = self._stamped(obj)
        table.objects[key] = stored
        self._record(table, Event("MODIFIED", resource, stored, previous, self._revision))
        return stored

    def delete(self, resource: str, namespace: str, name: str, *, last: Object | None = None) -> Object:
        """Remove an object and return its last state, with the resourceVersion of the deletion. The name must exist.

        ``last`` is that state where the deletion itself still changes it; None means that it does not.
        """
        table = self._table(resource)
        key = storage_key(namespace, name)
        previous = table.objects.pop(key)
        del table.keys[bisect_left(table.keys, key)]
        gone = self._stamped(previous if last is None else last)
        self._record(table, Event("DELETED", resource, gone, previous, self._revision))
        return gone

    def watch(self, resources: Iterable[str] | None, since: int | None = None) -> Watch:
        """Events of ``resources`` (None: of all) after revision ``since``; None means from now on.

        Raises Expired when events after ``since`` are no longer known.
        """
        names = None if resources is None else frozenset(resources)
        backlog: list[Event] = []
        if since is not None:
            for resource in self._tables if names is None else names:
                table = self._tables.get(resource)
                if table is None:
                    continue
                if since < table.forgotten:
                    raise Expired
                backlog.extend(_after(table.history, since))
            backlog.sort(key=lambda event: event.revision)
        watch = Watch(self, names, backlog)
        self._watches.add(watch)
        return watch

    def on_write(self, follow: Callable[[Event], None]) -> None:
        """Call ``follow`` with every event, once the watches have it and before the write returns; it may write."""
        self._followers.append(follow)

    def forget(self, watch: Watch) -> None:
        """Stop delivering to ``watch``."""
        self._watches.discard(watch)

    def forget_history(self, resource: str) -> None:
        """Drop what is remembered of a resource: older versions are expired from here on."""
        table = self._table(resource)
        table.history.clear()
        table.forgotten = self._revision

    def resources(self) -> tuple[str, ...]:
        """The resources that hold at least one object, in name order."""
        return tuple(sorted(resource for resource, table in self._tables.items() if table.objects))

    def _table(self, resource: str) -> _Table:
        table = self._tables.get(resource)
        if table is None:
            table = self._tables[resource] = _Table()
        return table

    def _stamped(self, obj: Object) -> Object:
        self._revision += 1
        return {**obj, "metadata": {**obj["metadata"], "resourceVersion": str(self._revision)}}

    def _record(self, table: _Table, event: Event) -> None:
        table.history.append(event)
        if len(table.history) > self._limit:
            table.forgotten = table.history.popleft().revision
        for watch in tuple(self._watches):
            watch.offer(event)
        for follow in self._followers:
            follow(event)


def object_key(obj: Object) -> str:
    """The storage key of an object by its metadata."""
    metadata = obj["metadata"]
    return storage_key(metadata.get("namespace", ""), metadata["name"])


def _within(keys: list[str], namespace: str | None) -> list[str]:
    if not namespace:
        return keys
    return keys[bisect_left(keys, f"{namespace}/") : bisect_right(keys, f"{namespace}/\U0010ffff")]


def _after(history: deque[Event], revision: int) -> list[Event]:
    newest_first: list[Event] = []
    for event in reversed(history):
        if event.revision <= revision:
            break
        newest_first.append(event)
    return newest_first[::-1]
