"""Deletions: preconditions, grace periods, finalizers by propagation policy, and what is answered.

The rules are those of the generic registry of a Kubernetes API server, with the strategies of pods and namespaces.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

from kadm.sandbox.kinds import strategy
from kadm.sandbox.kinds.registry import ResourceKind
from kadm.sandbox.requests import DeleteOptions
from kadm.sandbox.responses import conflict, forbidden, not_found, success
from kadm.sandbox.served import resource_name
from kadm.sandbox.store import Object, Store
from kadm.sandbox.writes import is_gone, rfc3339

Clock = Callable[[], datetime]

# Source: the NamespaceLifecycle admission plugin.
PROTECTED_NAMESPACES = frozenset({"default", "kube-system", "kube-public"})

# These answer a finished deletion with the object, the rest with a Status. Source: ReturnDeletedObject of the registry.
ANSWERED_BY_OBJECT = frozenset(
    {
        "persistentvolumeclaims",
        "persistentvolumes",
        "pods",
        "podtemplates",
        "resourcequotas",
        "serviceaccounts",
        "services",
    }
)

DEFAULT_POD_GRACE_S = 30

DEFINITIONS = "customresourcedefinitions.apiextensions.k8s.io"
CLEANUP_FINALIZER = "customresourcecleanup.apiextensions.k8s.io"
"""Holds a CRD that is being deleted until its objects are gone."""


class Deletions:
    """Deletes objects in one member."""

    def __init__(self, store: Store, *, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    def delete(self, kind: ResourceKind, namespace: str, name: str, options: DeleteOptions) -> tuple[Object, bool]:
        """Delete an object, or mark it where something holds it. Returns its last state and whether it is gone.

        Raises ApiError 403 (a protected namespace), 404, or 409 (preconditions).
        """
        resource = resource_name(kind)
        if resource == "namespaces" and name in PROTECTED_NAMESPACES:
            raise forbidden(kind.plural, kind.group, name, "this namespace may not be deleted")
        live = self._store.get(resource, namespace, name)
        if live is None:
            raise not_found(kind.plural, kind.group, name)
        _check_preconditions(kind, live, options)
        if resource == "namespaces":
            marked = self._marked_namespace(live, options)
            finished = marked is live and is_gone(live)
        else:
            finalizers = _finalizers(live["metadata"].get("finalizers") or [], options.propagation)
            if resource == DEFINITIONS and CLEANUP_FINALIZER not in finalizers:
                finalizers = [*finalizers, CLEANUP_FINALIZER]
            grace_s = _grace_s(resource, live, options)
            finished = not finalizers and grace_s == 0
            # Only a graceful deletion shows in the last state: an object of another kind is gone before it could.
            marked = live if finished and resource != "pods" else self._marked(live, finalizers, grace_s)
        if finished:
            gone = marked if options.dry_run else self._store.delete(resource, namespace, name, last=marked)
            return strategy.convert(kind, gone), True
        if options.dry_run or marked is live:
            return strategy.convert(kind, marked), False
        return strategy.convert(kind, self._store.update(resource, marked)), False

    def _marked_namespace(self, live: Object, options: DeleteOptions) -> Object:
        present = live["metadata"].get("finalizers") or []
        finalizers = _finalizers(present, options.propagation)
        being_deleted = "deletionTimestamp" in live["metadata"]
        if being_deleted and finalizers == present:
            return live
        marked = _with_finalizers(live, finalizers)
        if not being_deleted:
            marked["metadata"]["deletionTimestamp"] = rfc3339(self._clock())
            marked["status"] = {**live.get("status", {}), "phase": "Terminating"}
        return marked

    def _marked(self, live: Object, finalizers: list[str], grace_s: int) -> Object:
        """The object with what a deletion sets on it; ``live`` itself where that is nothing new."""
        metadata = live["metadata"]
        being_deleted = "deletionTimestamp" in metadata
        present_s = metadata.get("deletionGracePeriodSeconds", 0)
        if being_deleted and grace_s >= present_s and finalizers == (metadata.get("finalizers") or []):
            return live
        marked = _with_finalizers(live, finalizers)
        changed = marked["metadata"]
        if not being_deleted or grace_s < present_s:
            began = self._clock()
            if being_deleted:  # the new end counts from when the deletion began
                began = datetime.fromisoformat(metadata["deletionTimestamp"]) - timedelta(seconds=present_s)
            changed["deletionTimestamp"] = rfc3339(began + timedelta(seconds=grace_s))
            changed["deletionGracePeriodSeconds"] = grace_s
        if not being_deleted and metadata.get("generation"):
            changed["generation"] = metadata["generation"] + 1
        return marked


def _grace_s(resource: str, live: Object, options: DeleteOptions) -> int:
    if resource != "pods":
        return 0
    spec, status = live.get("spec", {}), live.get("status", {})
    asked = options.grace_period_s
    if asked is None:
        asked = live["metadata"].get("deletionGracePeriodSeconds")
    if asked is None:
        asked = spec.get("terminationGracePeriodSeconds", DEFAULT_POD_GRACE_S)
    if not spec.get("nodeName") or status.get("phase") in ("Succeeded", "Failed"):
        return 0  # nothing runs that would need the time
    return 1 if asked < 0 else int(asked)


def _finalizers(present: list[str], propagation: str | None) -> list[str]:
    """The finalizers with those that the garbage collector acts on as the policy wants them."""
    if propagation is None:
        return present
    rest = [item for item in present if item not in ("foregroundDeletion", "orphan")]
    match propagation:
        case "Foreground":
            return [*rest, "foregroundDeletion"]
        case "Orphan":
            return [*rest, "orphan"]
        case _:
            return rest


def _with_finalizers(obj: Object, finalizers: list[str]) -> Object:
    metadata = {key: value for key, value in obj["metadata"].items() if key != "finalizers"}
    if finalizers:
        metadata["finalizers"] = finalizers
    return {**obj, "metadata": metadata}


def _check_preconditions(kind: ResourceKind, live: Object, options: DeleteOptions) -> None:
    metadata = live["metadata"]
    if options.uid is not None and options.uid != metadata["uid"]:
        why = (
            f"the UID in the precondition ({options.uid}) does not match the UID in record ({metadata['uid']}). "
            "The object might have been deleted and then recreated"
        )
        raise conflict(kind.kind, kind.group, metadata["name"], why)
    if options.resource_version is not None and options.resource_version != metadata["resourceVersion"]:
        why = (
            f"the ResourceVersion in the precondition ({options.resource_version}) does not match the ResourceVersion "
            f"in record ({metadata['resourceVersion']}). The object might have been modified"
        )
        raise conflict(kind.kind, kind.group, metadata["name"], why)


def answer(kind: ResourceKind, last: Object, *, gone: bool) -> Object:
    """What a DELETE of one object is answered with."""
    if not gone or resource_name(kind) in ANSWERED_BY_OBJECT:
        return last
    metadata = last["metadata"]
    details: Object = {"name": metadata["name"]}
    if kind.group:
        details["group"] = kind.group
    return success({**details, "kind": kind.plural, "uid": metadata["uid"]})
