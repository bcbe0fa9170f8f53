"""One member's API as functions: what HTTP requests and the controllers of the sandbox both go through.

Every write takes the same way whoever makes it: defaults, validation, managedFields, then the store. Nothing here
waits, so a call is atomic on the event loop; only watches are asynchronous.

Resources are named ``plural`` or ``plural.group`` (``pods``, ``deployments.apps``). Objects go in and come out in the
resource's storage version. Objects that come out belong to the store: copy before changing. Refusals raise
``ApiError``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Literal

from kadm.sandbox import budgets
from kadm.sandbox.definitions import Definitions
from kadm.sandbox.deletion import Deletions
from kadm.sandbox.patches import merge_patch
from kadm.sandbox.requests import DeleteOptions, WriteOptions
from kadm.sandbox.responses import ApiError, conflict, not_found
from kadm.sandbox.served import ServedKinds
from kadm.sandbox.store import Event, Object, Store, Watch
from kadm.sandbox.writes import Writes, rfc3339

Propagation = Literal["Background", "Foreground", "Orphan"]
Clock = Callable[[], datetime]

__all__ = ["ApiError", "ApiServer", "Clock", "Event", "Object", "Propagation", "Watch"]

SYSTEM = "kube-apiserver"
SYSTEM_NAMESPACES = ("default", "kube-node-lease", "kube-public", "kube-system")


class ApiServer:
    """The API of one member. ``clock`` gives the current time, aware and in UTC."""

    version = "v1.36.2"
    """The Kubernetes version whose behaviour it has."""

    def __init__(self, name: str, *, clock: Clock) -> None:
        self.name = name
        self.store = Store()
        self.clock = clock
        self.kinds = ServedKinds()
        self.writes = Writes(self.store, self.kinds, self, clock=clock)
        self.deletions = Deletions(self.store, clock=clock)
        self.store.on_write(Definitions(self.store, self.kinds, self.deletions, clock=clock).follow)
        for namespace in SYSTEM_NAMESPACES:
            metadata = {"name": namespace}
            self.create("namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}, manager=SYSTEM)

    def now(self) -> str:
        """The current time as objects carry it."""
        return rfc3339(self.clock())

    def find(self, resource: str, namespace: str, name: str) -> Object | None:
        """The object, or None if there is none. ``namespace`` is "" for cluster-scoped resources."""
        return self.store.get(resource, namespace, name)

    def get(self, resource: str, namespace: str, name: str) -> Object:
        """The object. Raises ApiError 404."""
        found = self.store.get(resource, namespace, name)
        if found is None:
            plural, _, group = resource.partition(".")
            raise not_found(plural, group, name)
        return found

    def list(
        self, resource: str, namespace: str | None = None, *, labels: Mapping[str, str] | None = None
    ) -> list[Object]:
        """The objects in name order; ``namespace`` None means all, ``labels`` keeps those that carry all of them."""
        found = self.store.list(resource, namespace)
        if not labels:
            return found
        wanted = labels.items()
        return [obj for obj in found if wanted <= (obj["metadata"].get("labels") or {}).items()]

    def watch(self, resources: Iterable[str] | None, since: int | None = None) -> Watch:
        """Events of these resources (None: of all), after revision ``since``, or from now on.

        For "what is there and what follows": open the watch first, then list.
        """
        return self.store.watch(resources, since)

    def create(self, resource: str, obj: Object, *, manager: str) -> Object:
        """Store a new object, named and placed by its metadata (``generateName`` works). Raises ApiError 409, 422, …"""
        namespace = obj["metadata"].get("namespace", "")
        return self.writes.create(self.kinds.of(resource), obj, namespace, _by(manager))

    def update(self, resource: str, obj: Object, *, manager: str, subresource: str = "") -> Object:
        """Replace an object, or with ``subresource="status"`` its status only.

        A ``metadata.resourceVersion`` in ``obj`` must be the live one (ApiError 409 otherwise). A replacement that
        changes nothing is not written. Removing the last finalizer of an object that is being deleted removes it.
        """
        metadata = obj["metadata"]
        return self.writes.update(
            self.kinds.of(resource),
            metadata.get("namespace", ""),
            metadata["name"],
            lambda _: obj,
            _by(manager),
            subresource=subresource,
        )

    def merge_patch(
        self, resource: str, namespace: str, name: str, patch: Object, *, manager: str, subresource: str = ""
    ) -> Object:
        """Apply an RFC 7386 patch and return what came out. The patch may carry ``metadata.resourceVersion``."""
        return self.writes.update(
            self.kinds.of(resource),
            namespace,
            name,
            lambda live: merge_patch(live, patch),
            _by(manager),
            subresource=subresource,
        )

    def apply(self, resource: str, obj: Object, *, manager: str, force: bool = False, subresource: str = "") -> Object:
        """Server-side apply of ``obj`` for ``manager``. Raises ApiError 409 with the conflicts unless ``force``."""
        metadata = obj["metadata"]
        options = WriteOptions(manager=manager, field_validation="Ignore", force=force)
        result, _ = self.writes.apply(
            self.kinds.of(resource),
            metadata.get("namespace", ""),
            metadata["name"],
            obj,
            options,
            subresource=subresource,
        )
        return result

    def delete(
        self,
        resource: str,
        namespace: str,
        name: str,
        *,
        propagation: Propagation | None = None,
        grace_period_s: int | None = None,
        uid: str | None = None,
        resource_version: str | None = None,
    ) -> Object:
        """Delete an object: at once, or mark it where finalizers or a grace period hold it. Returns its last state.

        ``uid`` and ``resource_version`` are preconditions (ApiError 409).
        """
        options = DeleteOptions(
            grace_period_s=grace_period_s, propagation=propagation, uid=uid, resource_version=resource_version
        )
        last, _ = self.deletions.delete(self.kinds.of(resource), namespace, name, options)
        return last

    def bind(self, namespace: str, pod: str, node: str, *, dry_run: bool = False) -> None:
        """Put a pod on a node (the ``binding`` subresource). Raises ApiError 404, or 409 if it is on one already."""
        live = self.get("pods", namespace, pod)
        if bound := live["spec"].get("nodeName"):
            why = f'pod {pod} is already assigned to node "{bound}"'
            raise conflict("pods/binding", "", pod, why)
        if "deletionTimestamp" in live["metadata"]:
            raise conflict("pods/binding", "", pod, f"pod {pod} is being deleted, cannot be assigned to a host")
        if dry_run:
            return
        scheduled = {"type": "PodScheduled", "status": "True", "lastProbeTime": None, "lastTransitionTime": self.now()}
        status = live.get("status", {})
        others = [item for item in status.get("conditions") or () if item["type"] != "PodScheduled"]
        self.store.update(
            "pods",
            {
                **live,
                "spec": {**live["spec"], "nodeName": node},
                "status": {**status, "conditions": [*others, scheduled]},
            },
        )

    def evict(self, namespace: str, pod: str, options: DeleteOptions, *, dry_run: bool = False) -> None:
        """Delete a pod unless a PodDisruptionBudget holds it. Raises ApiError 404, or 429 where one does."""
        live = self.get("pods", namespace, pod)
        budget = budgets.with_disruption(live, self.list(budgets.BUDGETS, namespace), self.now())
        if dry_run:
            return
        if budget is not None:
            self.store.update(budgets.BUDGETS, budget)
        self.deletions.delete(self.kinds.of("pods"), namespace, pod, options)

    def finalize_namespace(self, name: str, finalizers: tuple[str, ...]) -> Object:
        """Set ``spec.finalizers`` of a namespace; one that is being deleted goes with the last of them."""

        def change(live: Object) -> Object:
            spec = {key: value for key, value in live.get("spec", {}).items() if key != "finalizers"}
            return {**live, "spec": {**spec, "finalizers": list(finalizers)} if finalizers else spec}

        return self.writes.update(self.kinds.of("namespaces"), "", name, change, _by(SYSTEM), subresource="finalize")

    def resources(self) -> tuple[str, ...]:
        """All served resources that can be listed and deleted, custom ones included, in name order."""
        return tuple(sorted(name for name, kind in self.kinds.stored() if {"list", "delete"} <= set(kind.verbs)))


def _by(manager: str) -> WriteOptions:
    return WriteOptions(manager=manager, username=f"system:{manager}", field_validation="Ignore")
