"""Seeing what one workload's pods do in one member: who found no node, whose node is lost, who cannot be created.

It costs a list of the workload's pods and, of a Deployment, of its ReplicaSets; and it is made only where the workload
is not ready.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from kadm.members import resources
from kadm.members.connection import Connection
from kadm.members.together import together
from kadm.model.objects import JsonObject, at
from kadm.model.observation import ApiResource
from kadm.watch.migration import Sight, seconds

REPLICA_SETS = ApiResource(group="apps", version="v1", kind="ReplicaSet", plural="replicasets", namespaced=True)
MOST_NODES = 20
"""Nodes that are asked about at most, of those whose pods are not ready."""

_REVISION = "deployment.kubernetes.io/revision"


class Cannot(Struct, frozen=True):
    """Pods that cannot be created: since when, and why."""

    since: float
    why: str


def counts_say(workload: JsonObject) -> Sight | None:
    """What can be told by the workload alone: all run. None: its pods have to be looked at, or it must be waited for
    until its controller has seen the current spec."""
    status = workload.get("status") or {}
    desired = desired_of(workload)
    ready = status.get("readyReplicas") or 0
    if observed(workload) and ready >= desired and (status.get("replicas") or 0) <= desired:
        return Sight(desired=desired, ready=ready, pods=ready)
    return None


def observed(workload: JsonObject) -> bool:
    """Whether the counts are of the current spec."""
    seen = (workload.get("status") or {}).get("observedGeneration") or 0
    return bool(seen >= (workload["metadata"].get("generation") or 0))


def desired_of(workload: JsonObject) -> int:
    """The live number of replicas."""
    replicas = at(workload, ("spec", "replicas"))
    return 1 if replicas is None else int(replicas)


def ready_of(workload: JsonObject) -> int:
    """How many of its replicas are ready."""
    return int((workload.get("status") or {}).get("readyReplicas") or 0)


async def look(connection: Connection, workload: JsonObject, *, missing_since: float | None) -> Sight:
    """What its pods do. ``missing_since`` is when pods were first seen to be missing although all others are ready.

    Raises MemberError.
    """
    namespace = workload["metadata"]["namespace"]
    labels = _selector(workload)
    pods = await resources.list_objects(connection, resources.PODS, namespace=namespace, labels=labels)
    owner = workload["metadata"]["uid"]
    if workload["kind"] == "Deployment":
        sets = await resources.list_objects(connection, REPLICA_SETS, namespace=namespace, labels=labels)
        owner = newest(sets, owner)
    nodes = await _nodes(connection, pods)
    return sight(workload, pods, owner=owner, nodes=nodes, missing_since=missing_since)


def newest(sets: Sequence[JsonObject], deployment: str) -> str:
    """The uid of the Deployment's newest ReplicaSet; empty where it has none."""
    own = [one for one in sets if _owned(one, deployment)]
    latest = max(
        own, key=lambda one: (_number((one["metadata"].get("annotations") or {}).get(_REVISION)),), default=None
    )
    return str(latest["metadata"]["uid"]) if latest is not None else ""


def sight(
    workload: JsonObject,
    pods: Sequence[JsonObject],
    *,
    owner: str,
    nodes: Mapping[str, JsonObject | None],
    missing_since: float | None = None,
) -> Sight:
    """The same from what was read. ``owner`` is the uid of what owns the pods of the newest template; ``nodes`` are
    those of pods that are not ready, None where the node is gone. Pods that are going are passed over."""
    status = workload.get("status") or {}
    living = [pod for pod in pods if _owned(pod, owner) and not pod["metadata"].get("deletionTimestamp")]
    stuck: list[float] = []
    reasons: Counter[str] = Counter()
    for pod in living:
        found = _unscheduled(pod) or _on_lost_node(pod, nodes)
        if found is not None:
            stuck.append(found.since)
            reasons[found.why] += 1
    desired = desired_of(workload)
    cannot = _cannot_create(workload) if len(living) < desired else None
    since = cannot.since if cannot is not None else missing_since if len(living) < desired else None
    if since is not None:
        reasons[cannot.why if cannot is not None else "its pods are not created"] += desired - len(living)
    return Sight(
        desired=desired,
        ready=status.get("readyReplicas") or 0,
        pods=len(living),
        least=_least(workload, living) if workload["kind"] == "StatefulSet" else 0,
        stuck=tuple(sorted(stuck)),
        uncreated_since=since,
        why=max(sorted(reasons), key=lambda reason: reasons[reason], default=""),
    )


def _least(stateful_set: JsonObject, pods: Sequence[JsonObject]) -> int:
    """How many replicas a StatefulSet keeps that keeps its ready pods: up to the last ordinal of them."""
    start = at(stateful_set, ("spec", "ordinals", "start")) or 0
    ordinals = [
        int(ordinal) - start + 1
        for pod in pods
        if (_condition(pod, "Ready") or {}).get("status") == "True"
        and (ordinal := pod["metadata"]["name"].rpartition("-")[2]).isdecimal()
    ]
    return max(ordinals, default=0)


def creates_no_more(workload: JsonObject) -> bool:
    """Whether pods are missing although nothing is under way: all that exist are ready, and there are too few.

    For kinds whose status does not say why.
    """
    status = workload.get("status") or {}
    total, ready = status.get("replicas") or 0, status.get("readyReplicas") or 0
    return observed(workload) and total < desired_of(workload) and ready >= total


def _unscheduled(pod: JsonObject) -> Cannot | None:
    condition = _condition(pod, "PodScheduled")
    if condition is None or condition.get("status") != "False" or condition.get("reason") != "Unschedulable":
        return None
    return Cannot(_since(condition, pod), f"Unschedulable: {condition.get('message') or 'no node takes it'}")


def _on_lost_node(pod: JsonObject, nodes: Mapping[str, JsonObject | None]) -> Cannot | None:
    name = at(pod, ("spec", "nodeName"))
    if not name or name not in nodes:
        return None
    node = nodes[name]
    ready = _condition(node, "Ready") if node is not None else None
    if ready is None or ready.get("status") == "True":
        return None
    return Cannot(_since(ready, pod), f"its node is not ready: {ready.get('reason') or 'unknown'}")


def _cannot_create(workload: JsonObject) -> Cannot | None:
    condition = _condition(workload, "ReplicaFailure")
    if condition is None or condition.get("status") != "True":
        return None
    return Cannot(_since(condition, workload), str(condition.get("message") or condition.get("reason") or ""))


async def _nodes(connection: Connection, pods: Sequence[JsonObject]) -> dict[str, JsonObject | None]:
    """The nodes of pods that are not ready, by name."""
    names = sorted(
        {
            name
            for pod in pods
            if (name := at(pod, ("spec", "nodeName"))) and (_condition(pod, "Ready") or {}).get("status") != "True"
        }
    )[:MOST_NODES]
    return await together({name: resources.get(connection, resources.NODES, "", name) for name in names})


def _condition(obj: JsonObject, kind: str) -> dict[str, Any] | None:
    conditions = (obj.get("status") or {}).get("conditions") or ()
    return next((one for one in conditions if one.get("type") == kind), None)


def _since(condition: Mapping[str, Any], obj: JsonObject) -> float:
    text = condition.get("lastTransitionTime") or obj["metadata"].get("creationTimestamp")
    return seconds(text) if text else 0.0


def _owned(obj: JsonObject, uid: str) -> bool:
    return any(one.get("uid") == uid for one in obj["metadata"].get("ownerReferences") or ())


def _selector(workload: JsonObject) -> str:
    labels = at(workload, ("spec", "selector", "matchLabels")) or {}
    return ",".join(f"{name}={value}" for name, value in sorted(labels.items()))


def _number(text: Any) -> int:
    return int(text) if isinstance(text, str) and text.isdecimal() else 0
