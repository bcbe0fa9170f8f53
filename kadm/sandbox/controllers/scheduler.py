"""Puts waiting pods on nodes. Source: kube-scheduler 1.36; the rules are those of ``placement``.

A pod that fits nowhere stays Pending with PodScheduled=False, reason Unschedulable, and the reasons counted over the
nodes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime

from kadm.sandbox.api import ApiServer, Event, Object
from kadm.sandbox.controllers.actions import Update, perform
from kadm.sandbox.controllers.loop import Key
from kadm.sandbox.controllers.objects import being_deleted, condition, parse_time, timestamp
from kadm.sandbox.controllers.placement import NodeState, choose
from kadm.sandbox.controllers.pods import finished

MANAGER = "kube-scheduler"
SCHEDULER_NAME = "default-scheduler"
UNBOUND_CLAIMS = "pod has unbound immediate PersistentVolumeClaims"
QUEUE: Key = ("", "queue")
AT_A_TIME = 100  # requests must not wait for a long queue


@dataclass
class Scheduler:
    """Places waiting pods, the most important and then the oldest first; all again when there may be more room."""

    api: ApiServer
    _waiting: dict[Key, bool] = field(default_factory=dict)  # pod → whether it is to be tried

    def wakes(self, event: Event) -> Iterable[Key]:
        if event.resource == "pods":
            metadata = event.object["metadata"]
            key = (metadata["namespace"], metadata["name"])
            if event.type != "DELETED" and _waits(event.object):
                if event.previous is None or event.previous["spec"] != event.object["spec"]:
                    self._waiting[key] = True
                    yield QUEUE
                return
            self._waiting.pop(key, None)
            makes_room = event.type == "DELETED" or finished(event.object)
        else:
            makes_room = event.resource in ("nodes", "persistentvolumeclaims")
        if makes_room and self._waiting:
            self._waiting = dict.fromkeys(self._waiting, True)
            yield QUEUE

    def sync(self, namespace: str, name: str) -> float | None:
        found = [self.api.find("pods", *key) for key, due in self._waiting.items() if due]
        queue = sorted((pod for pod in found if pod is not None and _waits(pod)), key=_queue_order)
        if not queue:
            return None
        states = self._states()
        for pod in queue[:AT_A_TIME]:
            self._waiting[pod["metadata"]["namespace"], pod["metadata"]["name"]] = False
            self._place(pod, states)
        return 0.0 if len(queue) > AT_A_TIME else None

    def _states(self) -> dict[str, NodeState]:
        """The nodes that run pods, with what runs on them."""
        nodes = (node for node in self.api.list("nodes") if _has_kubelet(node))
        states = {node["metadata"]["name"]: NodeState(node) for node in nodes}
        for pod in self.api.list("pods"):
            state = states.get(pod["spec"].get("nodeName", ""))
            if state is not None and not finished(pod):
                state.place(pod)
        return states

    def _place(self, pod: Object, states: dict[str, NodeState]) -> None:
        """Bind the pod to the node that is best for it, or say why there is none."""
        state = None
        message = self._unbound(pod, len(states))
        if not message:
            state, message = choose(pod, list(states.values()))
        if state is not None:
            self.api.bind(pod["metadata"]["namespace"], pod["metadata"]["name"], state.name)
            state.place(pod)
        elif (refused := unschedulable(pod, message, self.api.clock())) != pod:
            perform(self.api, [Update("pods", refused, "status")], MANAGER)

    def _unbound(self, pod: Object, nodes: int) -> str:
        """The message that a claim of the pod keeps it waiting, or ""."""
        for volume in pod["spec"].get("volumes") or ():
            if claim := (volume.get("persistentVolumeClaim") or {}).get("claimName"):
                live = self.api.find("persistentvolumeclaims", pod["metadata"]["namespace"], claim)
                if live is None:
                    return f'persistentvolumeclaim "{claim}" not found'
                if live.get("status", {}).get("phase") != "Bound":
                    return f"0/{nodes} nodes are available: {UNBOUND_CLAIMS}. not found"
        return ""


def unschedulable(pod: Object, message: str, now: datetime) -> Object:
    """The pod with PodScheduled=False and ``message``; unchanged if it says so already."""
    current = condition(pod, "PodScheduled")
    state = {
        "type": "PodScheduled",
        "observedGeneration": pod["metadata"].get("generation", 1),
        "status": "False",
        "lastProbeTime": None,
        "lastTransitionTime": timestamp(now),
        "reason": "Unschedulable",
        "message": message,
    }
    if current and current["status"] == "False":
        state["lastTransitionTime"] = current["lastTransitionTime"]
    if current == state:
        return pod
    status = pod.get("status", {})
    others = [entry for entry in status.get("conditions") or () if entry["type"] != "PodScheduled"]
    return {**pod, "status": {**status, "conditions": [*others, state]}}


def _waits(pod: Object) -> bool:
    spec = pod["spec"]
    return (
        not spec.get("nodeName")
        and spec.get("schedulerName", SCHEDULER_NAME) == SCHEDULER_NAME
        and not spec.get("schedulingGates")
        and not being_deleted(pod)
        and not finished(pod)
    )


def _has_kubelet(node: Object) -> bool:
    """Whether a kubelet has ever spoken for the node; a bare Node object runs nothing."""
    return condition(node, "Ready") is not None


def _queue_order(pod: Object) -> tuple[int, float, str, str]:
    metadata = pod["metadata"]
    created = parse_time(metadata["creationTimestamp"]).timestamp()
    return -(pod["spec"].get("priority") or 0), created, metadata["namespace"], metadata["name"]
