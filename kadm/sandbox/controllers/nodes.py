"""Nodes: what a member starts with, and the taints that follow a node's state.

Source: pkg/controller/nodelifecycle of Kubernetes 1.36. Heartbeats are left out: a node is what its conditions say.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from kadm.sandbox.api import ApiServer, Event, Object
from kadm.sandbox.controllers.actions import Delete, Update, perform
from kadm.sandbox.controllers.loop import Key
from kadm.sandbox.controllers.objects import being_deleted, condition, seconds_until, timestamp
from kadm.sandbox.controllers.placement import tolerated
from kadm.sandbox.controllers.pods import finished

UNSCHEDULABLE = "node.kubernetes.io/unschedulable"
NOT_READY = "node.kubernetes.io/not-ready"
UNREACHABLE = "node.kubernetes.io/unreachable"
OURS = frozenset({UNSCHEDULABLE, NOT_READY, UNREACHABLE})

HEALTHY = (
    ("MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
    ("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
    ("PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
    ("Ready", "True", "KubeletReady", "kubelet is posting ready status"),
)


@dataclass(frozen=True, slots=True)
class NodeSize:
    """What one node offers, as quantities."""

    cpu: str = "4"
    memory: str = "8Gi"
    pods: int = 110


def a_node(index: int, size: NodeSize, version: str, now: datetime) -> Object:
    """Node ``node-<index>``, Ready, with labels as a kubelet puts them."""
    name = f"node-{index}"
    capacity = {"cpu": size.cpu, "ephemeral-storage": "100Gi", "memory": size.memory, "pods": str(size.pods)}
    conditions = [
        {
            "type": kind,
            "status": state,
            "lastHeartbeatTime": timestamp(now),
            "lastTransitionTime": timestamp(now),
            "reason": reason,
            "message": message,
        }
        for kind, state, reason, message in HEALTHY
    ]
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, "kubernetes.io/os": "linux"}},
        "spec": {},
        "status": {
            "capacity": capacity,
            "allocatable": dict(capacity),
            "conditions": conditions,
            "addresses": [
                {"type": "InternalIP", "address": f"172.18.{index // 250}.{index % 250 + 2}"},
                {"type": "Hostname", "address": name},
            ],
            "nodeInfo": {
                "machineID": "",
                "systemUUID": "",
                "bootID": "",
                "kernelVersion": "sandbox",
                "osImage": "kadm sandbox",
                "containerRuntimeVersion": "sandbox://1",
                "kubeletVersion": version,
                "kubeProxyVersion": "",
                "operatingSystem": "linux",
                "architecture": "amd64",
            },
        },
    }


def taints(node: Object, now: datetime) -> list[Object]:
    """The taints that the node should have: the user's own, and those of its state."""
    current = node["spec"].get("taints") or []
    wanted: list[tuple[str, str]] = []
    if node["spec"].get("unschedulable"):
        wanted.append((UNSCHEDULABLE, "NoSchedule"))
    state = condition(node, "Ready")
    if state and state["status"] == "False":
        wanted += [(NOT_READY, "NoSchedule"), (NOT_READY, "NoExecute")]
    elif state and state["status"] == "Unknown":
        wanted += [(UNREACHABLE, "NoSchedule"), (UNREACHABLE, "NoExecute")]
    kept = [taint for taint in current if taint["key"] not in OURS or (taint["key"], taint["effect"]) in wanted]
    have = {(taint["key"], taint["effect"]) for taint in kept}
    return kept + [
        {"key": key, "effect": effect, "timeAdded": timestamp(now)}
        for key, effect in wanted
        if (key, effect) not in have
    ]


def evicted_in(pod: Object, taints_of_node: Sequence[Object], now: datetime) -> float | None:
    """Seconds until a pod must leave a node with these taints, None if it may stay for ever."""
    hard = [taint for taint in taints_of_node if taint["effect"] == "NoExecute"]
    waits: list[float] = []
    for taint in hard:
        fitting = [entry for entry in pod["spec"].get("tolerations") or () if tolerated(taint, (entry,))]
        if not fitting:
            return 0.0
        limits = [entry["tolerationSeconds"] for entry in fitting if entry.get("tolerationSeconds") is not None]
        if limits:
            since = taint.get("timeAdded") or timestamp(now)
            waits.append(max(0.0, seconds_until(since, max(0, min(limits)), now)))
    return min(waits, default=None)


def unready(pod: Object, now: datetime) -> Object:
    """The pod once its node no longer answers: not Ready, for all that is known."""
    conditions = [
        {**entry, "status": "False", "lastTransitionTime": timestamp(now), "reason": "NodeNotReady"}
        if entry["type"] == "Ready" and entry["status"] == "True"
        else entry
        for entry in pod.get("status", {}).get("conditions") or ()
    ]
    return {**pod, "status": {**pod.get("status", {}), "conditions": conditions}}


@dataclass(frozen=True)
class NodeLifecycle:
    """Keeps the taints of nodes; takes care of the pods of a node that is gone or does not answer."""

    api: ApiServer

    def wakes(self, event: Event) -> Iterable[Key]:
        if event.resource == "nodes":
            yield "", event.object["metadata"]["name"]
        elif event.resource == "pods" and event.previous:
            name = event.object["spec"].get("nodeName")
            if name and name != event.previous["spec"].get("nodeName"):
                yield "", name  # a pod that has just come to a node may have to leave it at once

    def sync(self, namespace: str, name: str) -> float | None:
        node = self.api.find("nodes", "", name)
        if node is None:
            lost = [pod for pod in self.api.list("pods") if pod["spec"].get("nodeName") == name]
            perform(self.api, [Delete("pods", pod, grace_period_s=0) for pod in lost])
            return None
        if not node.get("status", {}).get("conditions"):
            return None  # no kubelet has ever spoken for it
        wanted = taints(node, self.api.clock())
        if wanted != (node["spec"].get("taints") or []):
            spec = {key: value for key, value in node["spec"].items() if key != "taints"}
            if wanted:
                spec["taints"] = wanted
            perform(self.api, [Update("nodes", {**node, "spec": spec})])
        return self._care_for_pods(name, wanted)

    def _care_for_pods(self, name: str, taints_of_node: Sequence[Object]) -> float | None:
        """Mark the pods of a node that does not answer, evict those that do not tolerate it any longer."""
        if not any(taint["effect"] == "NoExecute" for taint in taints_of_node):
            return None
        now = self.api.clock()
        lost = any(taint["key"] in (NOT_READY, UNREACHABLE) for taint in taints_of_node)
        waits: list[float] = []
        for pod in self.api.list("pods"):
            if pod["spec"].get("nodeName") != name or finished(pod) or being_deleted(pod):
                continue
            marked = unready(pod, now) if lost else pod
            wait = evicted_in(pod, taints_of_node, now)
            if wait is not None and wait <= 0:
                perform(self.api, [Delete("pods", pod)])
            elif marked != pod:
                perform(self.api, [Update("pods", marked, "status")])
            if wait:
                waits.append(wait)
        return min(waits, default=None)
