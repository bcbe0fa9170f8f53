"""Watches over HTTP: which events of the store a client sees, and as what.

An object that enters the selection is ADDED, one that leaves it is DELETED, with the state it had inside and the
resourceVersion of the write that took it out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kadm.sandbox.kinds.registry import ResourceKind
from kadm.sandbox.listing import parse_version, selector_of
from kadm.sandbox.requests import ListOptions
from kadm.sandbox.responses import ApiError, expired
from kadm.sandbox.selectors import EVERYTHING, FieldRequirement, Selector
from kadm.sandbox.served import resource_name
from kadm.sandbox.store import Event, Expired, Object, Store, Watch

Notice = dict[str, Any]
"""What a client reads: ``{"type": "ADDED", "object": {...}}``."""


class ClientWatch:
    """One client's watch: ``initial`` comes first, then what ``events`` brings, each through ``notice``.

    ``events`` None means that nothing follows.
    """

    def __init__(
        self,
        events: Watch | None,
        initial: list[Notice],
        selector: Selector,
        namespace: str,
        convert: Callable[[Object], Object],
    ) -> None:
        self.events = events
        self.initial = initial
        self._selector = selector
        self._namespace = namespace
        self._convert = convert

    def notice(self, event: Event) -> Notice | None:
        """What the client sees of an event; None if it concerns nothing that the client selected."""
        if self._namespace and event.object["metadata"].get("namespace") != self._namespace:
            return None
        was = None
        if event.previous is not None:
            before = self._convert(event.previous)
            was = before if self._selector.matches(before) else None
        now = self._convert(event.object)
        if event.type == "DELETED":
            return None if was is None else {"type": "DELETED", "object": now}
        if self._selector.matches(now):
            return {"type": "ADDED" if was is None else "MODIFIED", "object": now}
        if was is None:
            return None
        version = event.object["metadata"]["resourceVersion"]
        left = {**was, "metadata": {**was["metadata"], "resourceVersion": version}}
        return {"type": "DELETED", "object": left}


def start(
    store: Store,
    kind: ResourceKind,
    namespace: str,
    name: str,
    options: ListOptions,
    convert: Callable[[Object], Object],
) -> ClientWatch | ApiError:
    """Open a watch. An ApiError that is *returned* is an ERROR event in a stream that answers 200. Raises ApiError."""
    resource = resource_name(kind)
    selector = selector_of(kind, options)
    if name:
        selector = Selector(selector.labels, (*selector.fields, FieldRequirement("metadata.name", name, equal=True)))
    try:
        since = parse_version(options.resource_version)
    except ValueError:
        why = f'strconv.ParseUint: parsing "{options.resource_version}": invalid syntax'
        raise ApiError(500, "", f'resourceVersion: Invalid value: "{options.resource_version}": {why}') from None
    wants_initial = since == 0 or options.send_initial_events
    try:
        events = store.watch([resource], since=None if wants_initial else since)
    except Expired:
        return expired(f"too old resource version: {since} ({store.revision})")
    watch = ClientWatch(events, [], selector, namespace, convert)
    if wants_initial:
        for item in store.list(resource, namespace or None):
            shown = convert(item)
            if selector.matches(shown):
                watch.initial.append({"type": "ADDED", "object": shown})
        if options.send_initial_events and options.bookmarks:
            mark = bookmark(kind, store.revision)
            mark["object"]["metadata"]["annotations"] = {"k8s.io/initial-events-end": "true"}
            watch.initial.append(mark)
    return watch


def ended(notices: list[Notice]) -> ClientWatch:
    """A watch that shows these notices and ends."""
    return ClientWatch(None, notices, EVERYTHING, "", lambda obj: obj)


def bookmark(kind: ResourceKind, revision: int) -> Notice:
    """The event that says: everything up to ``revision`` has been sent."""
    return {
        "type": "BOOKMARK",
        "object": {
            "kind": kind.kind,
            "apiVersion": kind.api_version,
            "metadata": {"resourceVersion": str(revision)},
        },
    }
