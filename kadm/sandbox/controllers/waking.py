"""Which objects an event wakes, for controllers that keep pods."""

from __future__ import annotations

from collections.abc import Iterable

from kadm.sandbox.api import ApiServer, Event
from kadm.sandbox.controllers.loop import Key
from kadm.sandbox.controllers.objects import controller_of, labels_of
from kadm.sandbox.label_selectors import selects


def itself_or_pod_owner(api: ApiServer, event: Event, kind: str, resource: str) -> Iterable[Key]:
    """The key of the object of ``resource`` that the event is about, or of those that its pod is or may become part of.

    ``kind`` is the kind of ``resource``.
    """
    if event.resource == resource:
        yield event.object["metadata"]["namespace"], event.object["metadata"]["name"]
    elif event.resource == "pods":
        yield from _pod_owner(api, event, kind, resource)


def _pod_owner(api: ApiServer, event: Event, kind: str, resource: str) -> Iterable[Key]:
    """The keys of the ``kind`` that controls the event's pod, or of those that could adopt it."""
    pod = event.object
    namespace = pod["metadata"]["namespace"]
    owners = [ref for state in (pod, event.previous) if state and (ref := controller_of(state))]
    for ref in owners:
        if ref["kind"] == kind:
            yield namespace, ref["name"]
    if not owners and event.type != "DELETED":
        for candidate in api.list(resource, namespace):
            if selects(candidate["spec"].get("selector"), labels_of(pod)):
                yield namespace, candidate["metadata"]["name"]
