"""The status of a Deployment from its ReplicaSets. Source: pkg/controller/deployment (sync.go, progress.go), 1.36."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from kadm.sandbox.api import Object
from kadm.sandbox.controllers.objects import condition, scaled, seconds_until, timestamp, without_zeros

NO_DEADLINE = 2**31 - 1  # progressDeadlineSeconds that means: never


def max_surge(deployment: Object) -> int:
    """Pods that may exist above the wanted number."""
    return _fenceposts(deployment)[0]


def max_unavailable(deployment: Object) -> int:
    """Pods that may be missing from the wanted number."""
    return min(_fenceposts(deployment)[1], replicas_of(deployment))


def replicas_of(workload: Object) -> int:
    """``spec.replicas``, 1 where it is not set."""
    value: int = workload["spec"].get("replicas", 1)
    return value


def counted(replicaset: Object, field: str) -> int:
    """A number of the ReplicaSet's status, 0 where it is not there."""
    value: int = replicaset.get("status", {}).get(field, 0)
    return value


def has_deadline(deployment: Object) -> bool:
    """Whether the Deployment's progress is watched."""
    deadline = deployment["spec"].get("progressDeadlineSeconds")
    return deadline is not None and deadline != NO_DEADLINE


def is_complete(deployment: Object, status: Object) -> bool:
    """Whether ``status`` says that all replicas are new, available, and the only ones."""
    want = replicas_of(deployment)
    return (
        status.get("updatedReplicas", 0) == want
        and status.get("replicas", 0) == want
        and status.get("availableReplicas", 0) == want
        and bool(status.get("observedGeneration", 0) >= deployment["metadata"]["generation"])
    )


def with_condition(conditions: Sequence[Object], new: Object) -> list[Object]:
    """``conditions`` with ``new`` in place of the one of its type.

    One of the same status and reason stays as it is; another moves to the end, and lastTransitionTime only follows a
    change of status.
    """
    current = next((entry for entry in conditions if entry["type"] == new["type"]), None)
    if current and (current["status"], current.get("reason")) == (new["status"], new["reason"]):
        return list(conditions)
    if current and current["status"] == new["status"]:
        new = {**new, "lastTransitionTime": current["lastTransitionTime"]}
    return [*without_condition(conditions, new["type"]), new]


def without_condition(conditions: Sequence[Object], kind: str) -> list[Object]:
    """``conditions`` without those of that type."""
    return [entry for entry in conditions if entry["type"] != kind]


def a_condition(kind: str, status: str, reason: str, message: str, now: datetime) -> Object:
    """A Deployment condition as of ``now``."""
    return {
        "type": kind,
        "status": status,
        "lastUpdateTime": timestamp(now),
        "lastTransitionTime": timestamp(now),
        "reason": reason,
        "message": message,
    }


def calculated(deployment: Object, new: Object | None, old: Sequence[Object], now: datetime) -> Object:
    """Counts and the Available condition; the other conditions are those the Deployment has."""
    replicasets = [*([new] if new else []), *old]
    available = sum(counted(entry, "availableReplicas") for entry in replicasets)
    wanted = sum(replicas_of(entry) for entry in replicasets)
    conditions = deployment.get("status", {}).get("conditions") or []
    if available >= replicas_of(deployment) - max_unavailable(deployment):
        state = ("True", "MinimumReplicasAvailable", "Deployment has minimum availability.")
    else:
        state = ("False", "MinimumReplicasUnavailable", "Deployment does not have minimum availability.")
    counts = {
        "observedGeneration": deployment["metadata"]["generation"],
        "replicas": sum(counted(entry, "replicas") for entry in replicasets),
        "updatedReplicas": counted(new, "replicas") if new else 0,
        "readyReplicas": sum(counted(entry, "readyReplicas") for entry in replicasets),
        "availableReplicas": available,
        "unavailableReplicas": max(0, wanted - available),
        "conditions": with_condition(conditions, a_condition("Available", *state, now)),
    }
    fresh = {
        **without_zeros(counts),
        "terminatingReplicas": sum(counted(entry, "terminatingReplicas") for entry in replicasets),
    }
    collisions = deployment.get("status", {}).get("collisionCount")
    return fresh if collisions is None else {**fresh, "collisionCount": collisions}


def rollout(deployment: Object, new: Object | None, old: Sequence[Object], now: datetime) -> Object:
    """The whole status: ``calculated`` plus how the rollout is getting on."""
    fresh = calculated(deployment, new, old, now)
    conditions = fresh["conditions"]
    current = condition(deployment, "Progressing")
    if not has_deadline(deployment):
        conditions = without_condition(conditions, "Progressing")
    done = (
        fresh.get("replicas", 0) == fresh.get("updatedReplicas", 0)
        and current is not None
        and current.get("reason") == "NewReplicaSetAvailable"
    )
    if has_deadline(deployment) and not done:
        name = new["metadata"]["name"] if new else deployment["metadata"]["name"]
        what = f'{"ReplicaSet" if new else "Deployment"} "{name}"'
        if is_complete(deployment, fresh):
            text = f"{what} has successfully progressed."
            entry = a_condition("Progressing", "True", "NewReplicaSetAvailable", text, now)
            conditions = with_condition(conditions, entry)
        elif _progressed(deployment, fresh):
            entry = a_condition("Progressing", "True", "ReplicaSetUpdated", f"{what} is progressing.", now)
            if current and current["status"] == "True":
                entry["lastTransitionTime"] = current["lastTransitionTime"]
            conditions = [*without_condition(conditions, "Progressing"), entry]
        elif _timed_out(deployment, now):
            text = f"{what} has timed out progressing."
            entry = a_condition("Progressing", "False", "ProgressDeadlineExceeded", text, now)
            conditions = with_condition(conditions, entry)
    failures = [
        found for replicaset in ([new] if new else []) + list(old) if (found := condition(replicaset, "ReplicaFailure"))
    ]
    if failures:
        entry = a_condition("ReplicaFailure", failures[0]["status"], failures[0]["reason"], failures[0]["message"], now)
        conditions = with_condition(conditions, entry)
    else:
        conditions = without_condition(conditions, "ReplicaFailure")
    return {**fresh, "conditions": conditions}


def deadline_in(deployment: Object, status: Object, now: datetime) -> float | None:
    """Seconds until the rollout counts as stuck, None when it is done, already stuck, or not watched."""
    current = next((entry for entry in status.get("conditions", ()) if entry["type"] == "Progressing"), None)
    if not has_deadline(deployment) or current is None or is_complete(deployment, status):
        return None
    if current["reason"] in ("NewReplicaSetAvailable", "ProgressDeadlineExceeded"):
        return None
    deadline = deployment["spec"]["progressDeadlineSeconds"]
    return max(0.0, seconds_until(current["lastUpdateTime"], deadline, now)) + 1.0


def _fenceposts(deployment: Object) -> tuple[int, int]:
    strategy = deployment["spec"].get("strategy") or {}
    if strategy.get("type") == "Recreate":
        return 0, 0
    want = replicas_of(deployment)
    rolling = strategy.get("rollingUpdate") or {"maxSurge": "25%", "maxUnavailable": "25%"}
    surge = scaled(rolling.get("maxSurge"), want, up=True)
    unavailable = scaled(rolling.get("maxUnavailable"), want, up=False)
    return surge, unavailable if surge or unavailable else 1


def _progressed(deployment: Object, fresh: Object) -> bool:
    """Whether more pods are new, ready or available than the Deployment's status says, or fewer are old."""
    before = deployment.get("status", {})

    def old_pods(status: Object) -> int:
        count: int = status.get("replicas", 0) - status.get("updatedReplicas", 0)
        return count

    return old_pods(fresh) < old_pods(before) or any(
        fresh.get(field, 0) > before.get(field, 0)
        for field in ("updatedReplicas", "readyReplicas", "availableReplicas")
    )


def _timed_out(deployment: Object, now: datetime) -> bool:
    current = condition(deployment, "Progressing")
    if current is None or current["reason"] == "NewReplicaSetAvailable":
        return False
    if current["reason"] == "ProgressDeadlineExceeded":
        return True
    return seconds_until(current["lastUpdateTime"], deployment["spec"]["progressDeadlineSeconds"], now) < 0
