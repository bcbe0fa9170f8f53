"""What workload controllers know about pods: which count, which are ready, and how one is made from a template."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from kadm.sandbox.api import Object
from kadm.sandbox.controllers.objects import (
    annotations_of,
    being_deleted,
    condition,
    controller_reference,
    parse_time,
    seconds_until,
)

DELETION_COST = "controller.kubernetes.io/pod-deletion-cost"


def phase(pod: Object) -> str:
    """The pod's phase; one without a status is Pending."""
    value: str = pod.get("status", {}).get("phase", "Pending")
    return value


def finished(pod: Object) -> bool:
    """Whether the pod has run to its end."""
    return phase(pod) in ("Succeeded", "Failed")


def active(pod: Object) -> bool:
    """Whether the pod counts as a replica: neither finished nor being deleted."""
    return not finished(pod) and not being_deleted(pod)


def ready(pod: Object) -> bool:
    """Whether the pod's Ready condition is True."""
    entry = condition(pod, "Ready")
    return entry is not None and entry["status"] == "True"


def available_in(pod: Object, min_ready_s: int, now: datetime) -> float | None:
    """Seconds until the pod is available: 0 when it is, None when it is not even ready."""
    entry = condition(pod, "Ready")
    if entry is None or entry["status"] != "True":
        return None
    if not min_ready_s or not entry.get("lastTransitionTime"):
        return 0.0
    return max(0.0, seconds_until(entry["lastTransitionTime"], min_ready_s, now))


def available(pod: Object, min_ready_s: int, now: datetime) -> bool:
    """Whether the pod has been ready for ``min_ready_s``."""
    return available_in(pod, min_ready_s, now) == 0.0


def next_available_in(pods: Sequence[Object], min_ready_s: int, now: datetime) -> float | None:
    """Seconds until the next ready pod becomes available by the mere passing of time, None if there is none."""
    waits = [wait for pod in pods if (wait := available_in(pod, min_ready_s, now))]
    return min(waits, default=None)


def pod_from_template(template: Object, owner: Object) -> Object:
    """A new pod for ``owner``, named by the server after the owner's name."""
    source = template.get("metadata") or {}
    metadata: Object = {
        "generateName": f"{owner['metadata']['name']}-",
        "namespace": owner["metadata"]["namespace"],
        "ownerReferences": [controller_reference(owner)],
    }
    for field in ("labels", "annotations"):
        if source.get(field):
            metadata[field] = dict(source[field])
    if source.get("finalizers"):
        metadata["finalizers"] = list(source["finalizers"])
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": template["spec"]}


def by_deletion_order(pods: Sequence[Object]) -> list[Object]:
    """The pods, the one to delete first at the front.

    Source: pkg/controller ActivePodsWithRanks: not on a node, then Pending, then not ready, then the lower deletion
    cost, then the node with more of them, then the one ready for a shorter time, then more restarts, then the younger.
    """
    on_node: dict[str, int] = {}
    for pod in pods:
        node = pod["spec"].get("nodeName", "")
        on_node[node] = on_node.get(node, 0) + 1

    def rank(pod: Object) -> tuple[int, int, int, int, int, float, int, float, str]:
        node = pod["spec"].get("nodeName", "")
        statuses = pod.get("status", {}).get("containerStatuses") or ()
        return (
            1 if node else 0,
            {"Pending": 0, "Unknown": 1}.get(phase(pod), 2),
            1 if ready(pod) else 0,
            _deletion_cost(pod),
            -on_node[node],
            -_ready_since(pod),
            -sum(entry.get("restartCount", 0) for entry in statuses),
            -parse_time(pod["metadata"]["creationTimestamp"]).timestamp(),
            pod["metadata"]["name"],
        )

    return sorted(pods, key=rank)


def _deletion_cost(pod: Object) -> int:
    try:
        return int(annotations_of(pod).get(DELETION_COST, "0"))
    except ValueError:  # the API server refuses it; an old object may still carry it
        return 0


def _ready_since(pod: Object) -> float:
    entry = condition(pod, "Ready")
    if entry is None or entry["status"] != "True" or not entry.get("lastTransitionTime"):
        return 0.0
    return parse_time(entry["lastTransitionTime"]).timestamp()
