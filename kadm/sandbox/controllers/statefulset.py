"""StatefulSets keep named pods, one ordinal after the other. Source: pkg/controller/statefulset of Kubernetes 1.36."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from kadm.sandbox.api import ApiServer, Event, Object
from kadm.sandbox.controllers.actions import Action, Create, Delete, Update, perform
from kadm.sandbox.controllers.loop import Key
from kadm.sandbox.controllers.objects import being_deleted, labels_of, owned_by, without_zeros
from kadm.sandbox.controllers.pods import available, finished, next_available_in, phase, pod_from_template, ready
from kadm.sandbox.controllers.replicaset import adoptions
from kadm.sandbox.controllers.revisions import HASH_LABEL, History, excess, history
from kadm.sandbox.controllers.revisions import RESOURCE as REVISIONS
from kadm.sandbox.controllers.waking import itself_or_pod_owner

RESOURCE = "statefulsets.apps"
CLAIMS = "persistentvolumeclaims"
POD_NAME = "statefulset.kubernetes.io/pod-name"
POD_INDEX = "apps.kubernetes.io/pod-index"


def ordinal(statefulset: Object, pod: Object) -> int | None:
    """The ordinal in the pod's name, None where the name is not one of this set's."""
    matched = re.fullmatch(re.escape(statefulset["metadata"]["name"]) + r"-(\d+)", pod["metadata"]["name"])
    return int(matched[1]) if matched else None


@dataclass(frozen=True, slots=True)
class Decision:
    """What to do, and the status that the pods as they were seen make."""

    actions: tuple[Action, ...]
    status: Object


def decide(statefulset: Object, pods: Sequence[Object], found: History, claims: set[str], now: datetime) -> Decision:
    """What to do about a StatefulSet now. ``pods`` are those it owns, ``claims`` names of PVCs that exist."""
    current = _current_revision(statefulset, found)
    status = _status(statefulset, pods, found, current, now)
    if being_deleted(statefulset):
        return Decision((), status)
    actions = _pod_actions(statefulset, pods, found, current, claims, now)
    return Decision(tuple(actions), status)


@dataclass(frozen=True)
class StatefulSets:
    """The StatefulSet controller."""

    api: ApiServer

    def wakes(self, event: Event) -> Iterable[Key]:
        return itself_or_pod_owner(self.api, event, "StatefulSet", RESOURCE)

    def sync(self, namespace: str, name: str) -> float | None:
        statefulset = self.api.find(RESOURCE, namespace, name)
        if statefulset is None:
            return None
        orphans = [pod for pod in self.api.list("pods", namespace) if ordinal(statefulset, pod) is not None]
        perform(self.api, adoptions(statefulset, statefulset["spec"]["selector"], orphans, "pods"))
        pods = owned_by(self.api.list("pods", namespace), statefulset)
        found = history(statefulset, owned_by(self.api.list(REVISIONS, namespace), statefulset))
        claims = {claim["metadata"]["name"] for claim in self.api.list(CLAIMS, namespace)}
        now = self.api.clock()
        decision = decide(statefulset, pods, found, claims, now)
        if not being_deleted(statefulset):
            perform(self.api, found.actions)
        if decision.status != statefulset.get("status"):
            perform(self.api, [Update(RESOURCE, {**statefulset, "status": decision.status}, "status")])
        perform(self.api, decision.actions)
        in_use = [labels_of(pod).get(HASH_LABEL, "") for pod in pods] + [decision.status["currentRevision"]]
        if not being_deleted(statefulset):
            perform(self.api, excess(found, in_use, statefulset["spec"].get("revisionHistoryLimit", 10)))
        return next_available_in(pods, statefulset["spec"].get("minReadySeconds", 0), now)


def _ordinals(statefulset: Object) -> range:
    spec = statefulset["spec"]
    start = (spec.get("ordinals") or {}).get("start", 0)
    return range(start, start + spec.get("replicas", 1))


def _current_revision(statefulset: Object, found: History) -> str:
    """The name of the revision that pods had before the update, the update's own if there is no other."""
    names = {entry["metadata"]["name"] for entry in found.revisions}
    recorded: str = statefulset.get("status", {}).get("currentRevision", "")
    latest: str = found.update["metadata"]["name"]
    return recorded if recorded in names else latest


def _rolls(statefulset: Object) -> bool:
    strategy = statefulset["spec"].get("updateStrategy") or {}
    return bool(strategy.get("type", "RollingUpdate") == "RollingUpdate")


def _partition(statefulset: Object) -> int:
    rolling = (statefulset["spec"].get("updateStrategy") or {}).get("rollingUpdate") or {}
    value: int = rolling.get("partition", 0)
    return value


def _status(statefulset: Object, pods: Sequence[Object], found: History, current: str, now: datetime) -> Object:
    spec = statefulset["spec"]
    min_ready = spec.get("minReadySeconds", 0)
    update = found.update["metadata"]["name"]
    staying = [pod for pod in pods if not being_deleted(pod)]
    counts = {
        "replicas": len(pods),
        "readyReplicas": sum(1 for pod in pods if phase(pod) == "Running" and ready(pod)),
        "currentReplicas": sum(1 for pod in staying if labels_of(pod).get(HASH_LABEL) == current),
        "updatedReplicas": sum(1 for pod in staying if labels_of(pod).get(HASH_LABEL) == update),
        "availableReplicas": sum(1 for pod in pods if phase(pod) == "Running" and available(pod, min_ready, now)),
    }
    want = spec.get("replicas", 1)
    if _rolls(statefulset) and counts["updatedReplicas"] == counts["readyReplicas"] == counts["replicas"] == want:
        current, counts["currentReplicas"] = update, counts["updatedReplicas"]
    return {
        **without_zeros({"observedGeneration": statefulset["metadata"]["generation"], **counts}),
        "replicas": counts["replicas"],
        "availableReplicas": counts["availableReplicas"],
        "currentRevision": current,
        "updateRevision": update,
        "collisionCount": statefulset.get("status", {}).get("collisionCount") or 0,
    }


def _pod_actions(
    statefulset: Object, pods: Sequence[Object], found: History, current: str, claims: set[str], now: datetime
) -> list[Action]:
    """Fill the ordinals upwards, clear what is above them downwards, then update downwards; one pod at a time in order
    unless podManagementPolicy is Parallel.
    """
    spec = statefulset["spec"]
    in_order = spec.get("podManagementPolicy", "OrderedReady") != "Parallel"
    by_ordinal = {number: pod for pod in pods if (number := ordinal(statefulset, pod)) is not None}
    wanted = _ordinals(statefulset)
    actions: list[Action] = []
    for number in wanted:
        pod = by_ordinal.get(number)
        if pod is None:
            actions += _creation(statefulset, number, found, current, claims)
            if in_order:
                return actions
        elif finished(pod) and not being_deleted(pod):
            actions.append(Delete("pods", pod))
            if in_order:
                return actions
        elif in_order and not _healthy(statefulset, pod, now):
            return actions
    condemned = [pod for number, pod in sorted(by_ordinal.items(), reverse=True) if number not in wanted]
    for pod in condemned:
        if not being_deleted(pod):
            actions.append(Delete("pods", pod))
        if in_order:
            return actions
    if actions or not _rolls(statefulset):
        return actions
    return _next_update(statefulset, by_ordinal, found, now)


def _next_update(statefulset: Object, by_ordinal: dict[int, Object], found: History, now: datetime) -> list[Action]:
    """The next pod to replace by one of the update revision: from the highest ordinal down to the partition."""
    update = found.update["metadata"]["name"]
    for number in reversed(_ordinals(statefulset)[_partition(statefulset) :]):
        pod = by_ordinal[number]
        if labels_of(pod).get(HASH_LABEL) != update and not being_deleted(pod):
            return [Delete("pods", pod)]
        if not _healthy(statefulset, pod, now):
            return []
    return []


def _healthy(statefulset: Object, pod: Object, now: datetime) -> bool:
    if being_deleted(pod) or phase(pod) != "Running":
        return False
    return available(pod, statefulset["spec"].get("minReadySeconds", 0), now)


def _creation(statefulset: Object, number: int, found: History, current: str, claims: set[str]) -> list[Action]:
    """A pod for an ordinal, with the claims it lacks. Below the partition it is of the current revision."""
    revision, template = found.update["metadata"]["name"], statefulset["spec"]["template"]
    if current != revision and _of_current_revision(statefulset, number):
        old = next(entry for entry in found.revisions if entry["metadata"]["name"] == current)
        recorded = old["data"]["spec"]["template"]
        revision, template = current, {key: value for key, value in recorded.items() if key != "$patch"}
    metadata, spec = statefulset["metadata"], statefulset["spec"]
    name = f"{metadata['name']}-{number}"
    pod = pod_from_template(template, statefulset)
    pod["metadata"]["name"] = name
    pod["metadata"]["labels"] = {
        **(pod["metadata"].get("labels") or {}),
        HASH_LABEL: revision,
        POD_NAME: name,
        POD_INDEX: str(number),
    }
    templates = spec.get("volumeClaimTemplates") or ()
    claimed = {claim["metadata"]["name"]: f"{claim['metadata']['name']}-{name}" for claim in templates}
    others = [volume for volume in pod["spec"].get("volumes") or () if volume["name"] not in claimed]
    volumes = [
        *({"name": volume, "persistentVolumeClaim": {"claimName": claim}} for volume, claim in claimed.items()),
        *others,
    ]
    pod["spec"] = {**pod["spec"], "hostname": name}
    if spec.get("serviceName"):
        pod["spec"]["subdomain"] = spec["serviceName"]
    if volumes:
        pod["spec"]["volumes"] = volumes
    made: list[Action] = [
        Create(CLAIMS, _claim(statefulset, claim, claimed[claim["metadata"]["name"]]))
        for claim in templates
        if claimed[claim["metadata"]["name"]] not in claims
    ]
    return [*made, Create("pods", pod)]


def _of_current_revision(statefulset: Object, number: int) -> bool:
    """Whether a missing pod comes back as it was, because the update has not come down to its ordinal."""
    if not _rolls(statefulset):
        return False
    start = _ordinals(statefulset).start
    rolling = (statefulset["spec"].get("updateStrategy") or {}).get("rollingUpdate")
    if rolling is None:
        return number < start + int(statefulset.get("status", {}).get("currentReplicas", 0))
    return number < start + _partition(statefulset)


def _claim(statefulset: Object, template: Object, name: str) -> Object:
    metadata = template["metadata"]
    made = {
        "name": name,
        "namespace": statefulset["metadata"]["namespace"],
        "labels": {**(metadata.get("labels") or {}), **(statefulset["spec"]["selector"].get("matchLabels") or {})},
    }
    if metadata.get("annotations"):
        made["annotations"] = metadata["annotations"]
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": made, "spec": template["spec"]}
