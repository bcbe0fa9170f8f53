"""Nodes: what a member starts with, and the taints that follow a node's state.

Source: pkg/controller/nodelifecycle of Kubernetes 1.36. Heartbeats are left out: a node is what its conditions say.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from kadm.sandbox.api import ApiServer, Event, Object
from kadm.sandbox.controllers.actions import Delete, Update, perform
from kadm.sandbox.controllers.loop import Key
from kadm.sandbox.controllers.objects import condition, timestamp

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


@dataclass(frozen=True)
class NodeLifecycle:
    """Keeps the taints of nodes, and removes the pods of a node that is gone."""

    api: ApiServer

    def wakes(self, event: Event) -> Iterable[Key]:
        if event.resource == "nodes":
            yield "", event.object["metadata"]["name"]

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
        return None
