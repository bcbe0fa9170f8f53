"""CRDs at work: their names are accepted, their versions served, and their objects go with them.

A real API server has controllers for this; here it happens within the write that asks for it.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from kadm.sandbox.deletion import CLEANUP_FINALIZER, DEFINITIONS, Deletions
from kadm.sandbox.kinds import crds
from kadm.sandbox.requests import DeleteOptions
from kadm.sandbox.served import ServedKinds, resource_name
from kadm.sandbox.store import Event, Object, Store
from kadm.sandbox.writes import is_gone, rfc3339


class Definitions:
    """Follows the CRDs of one member."""

    def __init__(
        self, store: Store, kinds: ServedKinds, deletions: Deletions, *, clock: Callable[[], datetime]
    ) -> None:
        self._store = store
        self._kinds = kinds
        self._deletions = deletions
        self._clock = clock

    def follow(self, event: Event) -> None:
        """Keep the served kinds in step with the CRDs: accept names, serve versions, remove objects with their CRD."""
        if event.resource != DEFINITIONS:
            if event.type == "DELETED" and (kind := self._kinds.find(event.resource)) and kind.custom:
                definition = self._store.get(DEFINITIONS, "", kind.custom.crd_name)
                if definition is not None and "deletionTimestamp" in definition["metadata"]:
                    self._remove_instances(definition)
            return
        crd = event.object
        name = crd["metadata"]["name"]
        if event.type == "DELETED":
            self._kinds.set_custom(name, ())
            return
        if "deletionTimestamp" in crd["metadata"]:
            self._remove_instances(crd)
            return
        others = [other for other in self._store.list(DEFINITIONS) if other["metadata"]["name"] != name]
        accepted = crds.accepted(crd, others, rfc3339(self._clock()))
        if accepted is not crd:
            self._store.update(DEFINITIONS, accepted)  # comes back here as an event of its own
            return
        was_served = any(kind.custom and kind.custom.crd_name == name for kind in self._kinds.all())
        self._kinds.set_custom(name, crds.kinds_of(crd))
        if not was_served:
            for kind in crds.kinds_of(crd):
                self._store.forget_history(resource_name(kind))

    def _remove_instances(self, crd: Object) -> None:
        """Delete the objects of a CRD that is being deleted, then let it go."""
        name = crd["metadata"]["name"]
        resource = next(
            (resource_name(kind) for kind in self._kinds.all() if kind.custom and kind.custom.crd_name == name), None
        )
        if resource is not None:
            for obj in self._store.list(resource):
                place = obj["metadata"].get("namespace", ""), obj["metadata"]["name"]
                live = self._store.get(resource, *place)  # the end of one brings us here again, which may end this one
                if live is not None and "deletionTimestamp" not in live["metadata"]:
                    self._deletions.delete(self._kinds.of(resource), *place, DeleteOptions())
            if self._store.list(resource):
                return  # finalizers hold some; the end of the last one brings us back here
            if self._store.get(DEFINITIONS, "", name) is None:
                return  # the end of one of these objects has done it already
        finalizers = [item for item in crd["metadata"].get("finalizers") or () if item != CLEANUP_FINALIZER]
        if finalizers != (crd["metadata"].get("finalizers") or []):
            metadata = {key: value for key, value in crd["metadata"].items() if key != "finalizers"}
            if finalizers:
                metadata["finalizers"] = finalizers
            left = {**crd, "metadata": metadata}
            if is_gone(left):
                self._store.delete(DEFINITIONS, "", name)
            else:
                self._store.update(DEFINITIONS, left)
