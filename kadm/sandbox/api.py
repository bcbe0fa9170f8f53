"""One member's API as functions: what HTTP requests and the controllers of the sandbox both go through.

Every write takes the same way whoever makes it: defaults, validation, managedFields, then the store. Nothing here
waits, so a call is atomic on the event loop; only watches are asynchronous.

Resources are named ``plural`` or ``plural.group`` (``pods``, ``deployments.apps``). Objects go in and come out in the
resource's storage version. Objects that come out belong to the store: copy before changing. Refusals raise
``ApiError``.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Literal

from kadm.sandbox.deletion import CLEANUP_FINALIZER, DEFINITIONS, Deletions
from kadm.sandbox.kinds import crds
from kadm.sandbox.label_selectors import selects
from kadm.sandbox.patches import merge_patch
from kadm.sandbox.requests import DeleteOptions, WriteOptions
from kadm.sandbox.responses import ApiError, conflict, not_found
from kadm.sandbox.served import ServedKinds, resource_name
from kadm.sandbox.store import Event, Object, Store, Watch
from kadm.sandbox.writes import Writes, is_gone, rfc3339

Propagation = Literal["Background", "Foreground", "Orphan"]
Clock = Callable[[], datetime]

__all__ = ["ApiError", "ApiServer", "Clock", "Event", "Object", "Propagation", "Watch"]

logger = logging.getLogger(__name__)

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
        self.store.on_write(self._follow_definition)
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
        if live.get("status", {}).get("phase") not in ("Succeeded", "Failed", "Pending"):
            self._take_from_budget(live, dry_run=dry_run)
        if not dry_run:
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

    def _take_from_budget(self, pod: Object, *, dry_run: bool) -> None:
        """Use up one disruption of the budget that covers the pod. Raises ApiError 429 if it has none left."""
        labels = pod["metadata"].get("labels") or {}
        budgets = [
            budget
            for budget in self.list("poddisruptionbudgets.policy", pod["metadata"]["namespace"])
            if selects(budget["spec"].get("selector"), labels)
        ]
        if not budgets:
            return
        if len(budgets) > 1:
            raise ApiError(
                500, "InternalError", "Internal error occurred: This pod has more than one PodDisruptionBudget, which "
                "the eviction subresource does not support.",
            )  # fmt: skip
        budget = budgets[0]
        name, status = budget["metadata"]["name"], budget.get("status", {})
        allowed = status.get("disruptionsAllowed", 0)
        if allowed <= 0:
            needed, healthy = status.get("desiredHealthy", 0), status.get("currentHealthy", 0)
            message = f"The disruption budget {name} needs {needed} healthy pods and has {healthy} currently"
            details: Object = {"causes": [{"reason": "DisruptionBudget", "message": message}]}
            raise ApiError(
                429,
                "TooManyRequests",
                "Cannot evict pod as it would violate the pod's disruption budget.",
                details,
            )
        if not dry_run:
            taken = {**status, "disruptionsAllowed": allowed - 1}
            taken["disruptedPods"] = {**(status.get("disruptedPods") or {}), pod["metadata"]["name"]: self.now()}
            self.store.update("poddisruptionbudgets.policy", {**budget, "status": taken})

    def _follow_definition(self, event: Event) -> None:
        """Keep the served kinds in step with the CRDs: accept names, serve versions, remove objects with their CRD."""
        if event.resource != DEFINITIONS:
            if event.type == "DELETED" and (kind := self.kinds.find(event.resource)) and kind.custom:
                definition = self.store.get(DEFINITIONS, "", kind.custom.crd_name)
                if definition is not None and "deletionTimestamp" in definition["metadata"]:
                    self._remove_instances(definition)
            return
        crd = event.object
        name = crd["metadata"]["name"]
        if event.type == "DELETED":
            self.kinds.set_custom(name, ())
            return
        if "deletionTimestamp" in crd["metadata"]:
            self._remove_instances(crd)
            return
        others = [other for other in self.store.list(DEFINITIONS) if other["metadata"]["name"] != name]
        accepted = crds.accepted(crd, others, self.now())
        if accepted is not crd:
            self.store.update(DEFINITIONS, accepted)  # comes back here as an event of its own
            return
        was_served = any(kind.custom and kind.custom.crd_name == name for kind in self.kinds.all())
        self.kinds.set_custom(name, crds.kinds_of(crd))
        if not was_served:
            for kind in crds.kinds_of(crd):
                self.store.forget_history(resource_name(kind))

    def _remove_instances(self, crd: Object) -> None:
        """Delete the objects of a CRD that is being deleted, then let it go."""
        name = crd["metadata"]["name"]
        resource = next(
            (resource_name(kind) for kind in self.kinds.all() if kind.custom and kind.custom.crd_name == name), None
        )
        if resource is not None:
            for obj in self.store.list(resource):
                place = obj["metadata"].get("namespace", ""), obj["metadata"]["name"]
                live = self.store.get(resource, *place)  # the end of one brings us here again, which may end this one
                if live is not None and "deletionTimestamp" not in live["metadata"]:
                    self.delete(resource, *place)
            if self.store.list(resource):
                return  # finalizers hold some; the end of the last one brings us back here
            if self.store.get(DEFINITIONS, "", name) is None:
                return  # the end of one of these objects has done it already
        finalizers = [item for item in crd["metadata"].get("finalizers") or () if item != CLEANUP_FINALIZER]
        if finalizers != (crd["metadata"].get("finalizers") or []):
            metadata = {key: value for key, value in crd["metadata"].items() if key != "finalizers"}
            if finalizers:
                metadata["finalizers"] = finalizers
            left = {**crd, "metadata": metadata}
            if is_gone(left):
                self.store.delete(DEFINITIONS, "", name)
            else:
                self.store.update(DEFINITIONS, left)


def _by(manager: str) -> WriteOptions:
    return WriteOptions(manager=manager, username=f"system:{manager}", field_validation="Ignore")
