"""The status of PodDisruptionBudgets. Source: pkg/controller/disruption of Kubernetes 1.36."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from kadm.sandbox.api import ApiServer, Event, Object
from kadm.sandbox.controllers.actions import Update, perform
from kadm.sandbox.controllers.loop import Key
from kadm.sandbox.controllers.objects import (
    condition,
    controller_of,
    labels_of,
    scaled,
    timestamp,
    without_zeros,
)
from kadm.sandbox.controllers.pods import active, finished, ready
from kadm.sandbox.label_selectors import selects

RESOURCE = "poddisruptionbudgets.policy"
OWNERS = {
    "ReplicaSet": "replicasets.apps",
    "Deployment": "deployments.apps",
    "StatefulSet": "statefulsets.apps",
    "ReplicationController": "replicationcontrollers",
}


def status(budget: Object, pods: Sequence[Object], expected: int, now: datetime) -> Object:
    """The status from the selected ``pods``; ``expected`` is how many their owners want."""
    spec = budget["spec"]
    if "maxUnavailable" in spec:
        desired = max(0, expected - scaled(spec["maxUnavailable"], expected, up=True))
    else:
        desired = scaled(spec.get("minAvailable", 1), expected, up=True)
    healthy = sum(1 for pod in pods if active(pod) and ready(pod))
    allowed = max(0, healthy - desired) if expected else 0
    state = ("True", "SufficientPods") if allowed else ("False", "InsufficientPods")
    before = condition(budget, "DisruptionAllowed")
    since = before["lastTransitionTime"] if before and before["status"] == state[0] else timestamp(now)
    others = [
        entry for entry in budget.get("status", {}).get("conditions") or () if entry["type"] != "DisruptionAllowed"
    ]
    entry = {
        "type": "DisruptionAllowed",
        "status": state[0],
        "observedGeneration": budget["metadata"]["generation"],
        "lastTransitionTime": since,
        "reason": state[1],
        "message": "",
    }
    kept = {"disruptedPods": budget.get("status", {}).get("disruptedPods")}
    return {
        **without_zeros({"observedGeneration": budget["metadata"]["generation"], **kept}),
        "disruptionsAllowed": allowed,
        "currentHealthy": healthy,
        "desiredHealthy": desired,
        "expectedPods": expected,
        "conditions": [*others, entry],
    }


@dataclass(frozen=True)
class DisruptionBudgets:
    """The disruption controller."""

    api: ApiServer

    def wakes(self, event: Event) -> Iterable[Key]:
        metadata = event.object["metadata"]
        if event.resource == RESOURCE:
            yield metadata["namespace"], metadata["name"]
        elif event.resource == "pods":
            for budget in self.api.list(RESOURCE, metadata["namespace"]):
                if selects(budget["spec"].get("selector"), labels_of(event.object)):
                    yield metadata["namespace"], budget["metadata"]["name"]

    def sync(self, namespace: str, name: str) -> float | None:
        budget = self.api.find(RESOURCE, namespace, name)
        if budget is None:
            return None
        selector = budget["spec"].get("selector")
        pods = [
            pod for pod in self.api.list("pods", namespace) if selects(selector, labels_of(pod)) and not finished(pod)
        ]
        fresh = status(budget, pods, self._expected(budget, pods), self.api.clock())
        if fresh != budget.get("status"):
            perform(self.api, [Update(RESOURCE, {**budget, "status": fresh}, "status")])
        return None

    def _expected(self, budget: Object, pods: Sequence[Object]) -> int:
        """How many pods there should be: what the owners want; for a plain number the pods themselves count."""
        spec = budget["spec"]
        if isinstance(spec.get("minAvailable"), int) and "maxUnavailable" not in spec:
            return len(pods)
        wanted: dict[str, int] = {}
        for pod in pods:
            owner = self._owner(pod)
            if owner is not None:
                wanted[owner["metadata"]["uid"]] = owner["spec"].get("replicas", 1)
        return sum(wanted.values())

    def _owner(self, pod: Object) -> Object | None:
        """The topmost controller of a pod that has replicas."""
        namespace = pod["metadata"]["namespace"]
        found: Object | None = None
        reference = controller_of(pod)
        while reference and (resource := OWNERS.get(reference["kind"])):
            owner = self.api.find(resource, namespace, reference["name"])
            if owner is None:
                break
            found, reference = owner, controller_of(owner)
        return found
