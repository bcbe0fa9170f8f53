"""ReplicaSets keep their number of pods. Source: pkg/controller/replicaset of Kubernetes 1.36."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from kadm.sandbox.api import ApiError, ApiServer, Event, Object
from kadm.sandbox.controllers.actions import Action, Create, Delete, Update, perform
from kadm.sandbox.controllers.loop import Key
from kadm.sandbox.controllers.objects import (
    being_deleted,
    controller_of,
    controller_reference,
    labels_of,
    owned_by,
    timestamp,
    without_zeros,
)
from kadm.sandbox.controllers.pods import (
    active,
    available,
    by_deletion_order,
    finished,
    next_available_in,
    pod_from_template,
    ready,
)
from kadm.sandbox.controllers.waking import itself_or_pod_owner
from kadm.sandbox.label_selectors import selects

RESOURCE = "replicasets.apps"
AT_A_TIME = 100


def adoptions(owner: Object, selector: Object | None, orphans: Sequence[Object], resource: str) -> list[Action]:
    """Updates that make ``owner`` the controller of matching objects that have none."""
    if being_deleted(owner):
        return []
    actions: list[Action] = []
    for orphan in orphans:
        if controller_of(orphan) or being_deleted(orphan) or not selects(selector, labels_of(orphan)):
            continue
        references = [*orphan["metadata"].get("ownerReferences", ()), controller_reference(owner)]
        adopted = {**orphan, "metadata": {**orphan["metadata"], "ownerReferences": references}}
        actions.append(Update(resource, adopted))
    return actions


def releases(owner: Object, selector: Object | None, owned: Sequence[Object], resource: str) -> list[Action]:
    """Updates that let go of owned objects whose labels the selector no longer matches."""
    uid = owner["metadata"]["uid"]
    actions: list[Action] = []
    for obj in owned:
        if selects(selector, labels_of(obj)):
            continue
        references = [ref for ref in obj["metadata"]["ownerReferences"] if ref["uid"] != uid]
        actions.append(Update(resource, {**obj, "metadata": {**obj["metadata"], "ownerReferences": references}}))
    return actions


def scaling(replicaset: Object, pods: Sequence[Object]) -> list[Action]:
    """The pods to create or delete so that the active ones among the owned ``pods`` come nearer to the wanted number.

    Only so many at a time: what they do wakes the controller again, and requests are answered in between.
    """
    if being_deleted(replicaset):
        return []
    spec = replicaset["spec"]
    replicas = [pod for pod in pods if active(pod)]
    missing = spec.get("replicas", 1) - len(replicas)
    if missing >= 0:
        made = min(missing, AT_A_TIME)
        return [Create("pods", pod_from_template(spec["template"], replicaset)) for _ in range(made)]
    return [Delete("pods", pod) for pod in by_deletion_order(replicas)[: min(-missing, AT_A_TIME)]]


def status(replicaset: Object, pods: Sequence[Object], failure: Object | None, now: datetime) -> Object:
    """The status from the owned ``pods``; ``failure`` is the ReplicaFailure condition to show, if any."""
    spec = replicaset["spec"]
    replicas = [pod for pod in pods if active(pod)]
    wanted = (spec["template"].get("metadata") or {}).get("labels") or {}
    min_ready = spec.get("minReadySeconds", 0)
    others = [
        entry for entry in replicaset.get("status", {}).get("conditions") or () if entry["type"] != "ReplicaFailure"
    ]
    counts: Object = {
        "fullyLabeledReplicas": sum(1 for pod in replicas if wanted.items() <= labels_of(pod).items()),
        "readyReplicas": sum(1 for pod in replicas if ready(pod)),
        "availableReplicas": sum(1 for pod in replicas if available(pod, min_ready, now)),
        "observedGeneration": replicaset["metadata"]["generation"],
        "conditions": [*others, failure] if failure else others,
    }
    terminating = sum(1 for pod in pods if being_deleted(pod) and not finished(pod))
    return {"replicas": len(replicas), "terminatingReplicas": terminating, **without_zeros(counts)}


@dataclass(frozen=True)
class ReplicaSets:
    """The ReplicaSet controller."""

    api: ApiServer

    def wakes(self, event: Event) -> Iterable[Key]:
        return itself_or_pod_owner(self.api, event, "ReplicaSet", RESOURCE)

    def sync(self, namespace: str, name: str) -> float | None:
        replicaset = self.api.find(RESOURCE, namespace, name)
        if replicaset is None:
            return None
        selector = replicaset["spec"]["selector"]
        pods = self.api.list("pods", namespace)
        perform(self.api, adoptions(replicaset, selector, pods, "pods"))
        owned = owned_by(self.api.list("pods", namespace), replicaset)
        perform(self.api, releases(replicaset, selector, owned, "pods"))
        owned = owned_by(self.api.list("pods", namespace), replicaset)
        refusal: ApiError | None = None
        try:
            perform(self.api, scaling(replicaset, owned))
        except ApiError as error:
            refusal = error
        now = self.api.clock()
        owned = owned_by(self.api.list("pods", namespace), replicaset)
        fresh = status(replicaset, owned, _failure(replicaset, refusal, now), now)
        if fresh != replicaset.get("status"):
            perform(self.api, [Update(RESOURCE, {**replicaset, "status": fresh}, "status")])
        if refusal:
            raise refusal
        return next_available_in(owned, replicaset["spec"].get("minReadySeconds", 0), now)


def _failure(replicaset: Object, refusal: ApiError | None, now: datetime) -> Object | None:
    if refusal is None:
        return None
    known = replicaset.get("status", {}).get("conditions") or ()
    for entry in known:
        if entry["type"] == "ReplicaFailure":  # the first one stays: each names another pod (replica_set_utils.go)
            found: Object = entry
            return found
    return {
        "type": "ReplicaFailure",
        "status": "True",
        "lastTransitionTime": timestamp(now),
        "reason": "FailedCreate",
        "message": refusal.message,
    }
