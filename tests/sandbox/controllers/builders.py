"""Objects as the API server would hand them to a controller; arguments name only what a test is about."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from kadm.sandbox.controllers.objects import timestamp

Object = dict[str, Any]

NOW = datetime(2026, 1, 1, 12, 0, 0, tzinfo=UTC)
NODE_SIZE = {"cpu": "4", "memory": "8Gi", "pods": "110"}


def at(seconds: float) -> str:
    """``seconds`` after NOW, as objects carry times."""
    return timestamp(NOW + timedelta(seconds=seconds))


def a_template(image: str = "nginx:1.25", **spec: Any) -> Object:
    """A pod template with label app=web and one container."""
    return {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "c", "image": image}], **spec}}


def a_deployment(
    replicas: int = 3, *, template: Object | None = None, status: Object | None = None, **spec: Any
) -> Object:
    """Deployment ``web`` with strategy RollingUpdate 25%/25%, generation 1."""
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "ns", "uid": "uid-web", "generation": 1, "resourceVersion": "1"},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": "web"}},
            "template": template or a_template(),
            "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"}},
            "revisionHistoryLimit": 10,
            "progressDeadlineSeconds": 600,
            **spec,
        },
        "status": status or {},
    }


def a_replicaset(
    name: str = "web-old",
    replicas: int = 3,
    *,
    available: int | None = None,
    revision: int = 1,
    desired: int = 3,
    most: int = 4,
    template: Object | None = None,
    age_s: int = 60,
) -> Object:
    """A ReplicaSet of Deployment ``web`` that has its pods; ``available`` of them (None: all) are so."""
    ready = replicas if available is None else available
    made = template or a_template()
    labels = {**made["metadata"]["labels"], "pod-template-hash": name}
    return {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {
            "name": name,
            "namespace": "ns",
            "uid": f"uid-{name}",
            "generation": 1,
            "resourceVersion": "1",
            "creationTimestamp": at(-age_s),
            "labels": labels,
            "annotations": {
                "deployment.kubernetes.io/revision": str(revision),
                "deployment.kubernetes.io/desired-replicas": str(desired),
                "deployment.kubernetes.io/max-replicas": str(most),
            },
            "ownerReferences": [_owner("Deployment", "web")],
        },
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": {**made, "metadata": {**made["metadata"], "labels": labels}},
        },
        "status": {
            "replicas": replicas,
            "readyReplicas": ready,
            "availableReplicas": ready,
            "terminatingReplicas": 0,
            "observedGeneration": 1,
        },
    }


def a_pod(
    name: str = "pod",
    *,
    node: str = "",
    phase: str = "Pending",
    ready: bool = False,
    owner: str = "",
    labels: dict[str, str] | None = None,
    requests: dict[str, str] | None = None,
    image: str = "nginx:1.25",
    deleted: bool = False,
    age_s: int = 0,
    **spec: Any,
) -> Object:
    """A pod; ``owner`` is ``Kind/name`` of its controller."""
    container: Object = {"name": "c", "image": image}
    if requests:
        container["resources"] = {"requests": requests}
    metadata: Object = {
        "name": name,
        "namespace": "ns",
        "uid": f"uid-{name}",
        "generation": 1,
        "resourceVersion": "1",
        "creationTimestamp": at(-age_s),
        "labels": labels or {"app": "web"},
    }
    if owner:
        metadata["ownerReferences"] = [_owner(*owner.split("/"))]
    if deleted:
        metadata |= {"deletionTimestamp": at(0), "deletionGracePeriodSeconds": 30}
    made: Object = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata}
    made["spec"] = {"containers": [container], "restartPolicy": "Always", **spec}
    if node:
        made["spec"]["nodeName"] = node
    made["status"] = {"phase": phase}
    if ready:
        condition = {"type": "Ready", "status": "True", "lastTransitionTime": at(-age_s)}
        made["status"]["conditions"] = [condition]
    return made


def a_node(name: str = "node-0", *, ready: str = "True", labels: dict[str, str] | None = None, **more: Any) -> Object:
    """A node of 4 CPU and 8Gi; ``more`` goes to its spec."""
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "uid": f"uid-{name}", "labels": {"kubernetes.io/hostname": name, **(labels or {})}},
        "spec": more,
        "status": {
            "allocatable": NODE_SIZE,
            "conditions": [{"type": "Ready", "status": ready}],
            "addresses": [{"type": "InternalIP", "address": "172.18.0.2"}],
        },
    }


def _owner(kind: str, name: str) -> Object:
    return {
        "apiVersion": "apps/v1",
        "kind": kind,
        "name": name,
        "uid": f"uid-{name}",
        "controller": True,
        "blockOwnerDeletion": True,
    }
