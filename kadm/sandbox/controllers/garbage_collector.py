"""Deletes what has lost its owners, and carries out foreground and orphaning deletions.

Source: pkg/controller/garbagecollector of Kubernetes 1.36. One graph by uid, kept up to date from the event stream, of
any kind of object: custom objects own built-in ones and the other way round.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from kadm.sandbox.api import ApiServer, Event, Object, Propagation
from kadm.sandbox.controllers.actions import Delete, Update, perform
from kadm.sandbox.controllers.loop import Key
from kadm.sandbox.controllers.objects import being_deleted

FOREGROUND = "foregroundDeletion"
ORPHAN = "orphan"


class Place(NamedTuple):
    """Where an object is stored."""

    resource: str
    namespace: str
    name: str


@dataclass
class GarbageCollector:
    """The garbage collector. A key is ("", uid)."""

    api: ApiServer
    _places: dict[str, Place] = field(default_factory=dict)  # uid → where the object is
    _owners: dict[str, frozenset[str]] = field(default_factory=dict)  # uid → the uids it refers to
    _dependents: dict[str, set[str]] = field(default_factory=dict)  # uid → the uids that refer to it

    def wakes(self, event: Event) -> Iterable[Key]:
        metadata = event.object["metadata"]
        uid = metadata["uid"]
        references = metadata.get("ownerReferences") or ()
        if event.type == "DELETED":
            self._places.pop(uid, None)
            owners = self._connect(uid, frozenset())
            yield from (("", other) for other in sorted(self._dependents.get(uid, ())))
            yield from (("", owner) for owner in sorted(owners))
            return
        self._places[uid] = Place(event.resource, metadata.get("namespace", ""), metadata["name"])
        left = self._connect(uid, frozenset(ref["uid"] for ref in references))
        if references or being_deleted(event.object):
            yield "", uid
        if being_deleted(event.object):
            yield from (("", owner) for owner in sorted(self._owners.get(uid, ())))
        yield from (("", owner) for owner in sorted(left))

    def sync(self, namespace: str, name: str) -> float | None:
        obj = self._find(name)
        if obj is None:
            return None
        finalizers = obj["metadata"].get("finalizers") or ()
        if being_deleted(obj) and ORPHAN in finalizers:
            self._orphan(obj)
        elif being_deleted(obj) and FOREGROUND in finalizers:
            self._foreground(obj)
        elif not being_deleted(obj) and obj["metadata"].get("ownerReferences"):
            self._collect(obj)
        return None

    def _connect(self, uid: str, owners: frozenset[str]) -> frozenset[str]:
        """Note the owners of ``uid``; returns those that it no longer has."""
        before = self._owners.pop(uid, frozenset())
        for owner in before - owners:
            self._dependents[owner].discard(uid)
            if not self._dependents[owner]:
                del self._dependents[owner]
        for owner in owners:
            self._dependents.setdefault(owner, set()).add(uid)
        if owners:
            self._owners[uid] = owners
        return before - owners

    def _find(self, uid: str) -> Object | None:
        place = self._places.get(uid)
        obj = self.api.store.get(*place) if place else None
        return obj if obj is not None and obj["metadata"]["uid"] == uid else None

    def _resource(self, obj: Object) -> str:
        return self._places[obj["metadata"]["uid"]].resource

    def _dependents_of(self, obj: Object) -> list[Object]:
        uids = sorted(self._dependents.get(obj["metadata"]["uid"], ()))
        return [found for uid in uids if (found := self._find(uid)) is not None]

    def _owner(self, obj: Object, reference: Object) -> Object | None:
        """The object that ``reference`` of ``obj`` names, or None: gone, of another kind, name or namespace."""
        owner = self._find(reference["uid"])
        if owner is None:
            return None
        named = (owner["kind"], owner["metadata"]["name"]) == (reference["kind"], reference["name"])
        space = owner["metadata"].get("namespace", "")
        return owner if named and space in ("", obj["metadata"].get("namespace", "")) else None

    def _collect(self, obj: Object) -> None:
        """Delete ``obj`` if no owner is left; otherwise drop the references to those that are gone."""
        solid: list[Object] = []
        waiting: list[Object] = []
        for reference in obj["metadata"]["ownerReferences"]:
            owner = self._owner(obj, reference)
            if owner is None:
                continue
            leaving = being_deleted(owner) and FOREGROUND in (owner["metadata"].get("finalizers") or ())
            (waiting if leaving else solid).append(reference)
        if solid:
            if len(solid) < len(obj["metadata"]["ownerReferences"]):
                metadata = {**obj["metadata"], "ownerReferences": solid}
                perform(self.api, [Update(self._resource(obj), {**obj, "metadata": metadata})])
            return
        propagation: Propagation = "Foreground" if waiting and self._dependents_of(obj) else "Background"
        perform(self.api, [Delete(self._resource(obj), obj, propagation)])

    def _foreground(self, obj: Object) -> None:
        """Let ``obj`` go once no dependent blocks its deletion; its dependents are collected meanwhile."""
        uid = obj["metadata"]["uid"]
        blocking = False
        for dependent in self._dependents_of(obj):
            if not being_deleted(dependent):
                self._collect(dependent)
        for dependent in self._dependents_of(obj):
            references = dependent["metadata"].get("ownerReferences") or ()
            blocking |= any(ref["uid"] == uid and ref.get("blockOwnerDeletion") for ref in references)
        if not blocking:
            self._without_finalizer(obj, FOREGROUND)

    def _orphan(self, obj: Object) -> None:
        """Make the dependents of ``obj`` independent of it, then let it go."""
        uid = obj["metadata"]["uid"]
        for dependent in self._dependents_of(obj):
            references = [ref for ref in dependent["metadata"]["ownerReferences"] if ref["uid"] != uid]
            metadata = {key: value for key, value in dependent["metadata"].items() if key != "ownerReferences"}
            if references:
                metadata["ownerReferences"] = references
            perform(self.api, [Update(self._resource(dependent), {**dependent, "metadata": metadata})])
        self._without_finalizer(obj, ORPHAN)

    def _without_finalizer(self, obj: Object, finalizer: str) -> None:
        metadata = {key: value for key, value in obj["metadata"].items() if key != "finalizers"}
        if kept := [entry for entry in obj["metadata"]["finalizers"] if entry != finalizer]:
            metadata["finalizers"] = kept
        perform(self.api, [Update(self._resource(obj), {**obj, "metadata": metadata})])
