"""Replica counts of one workload in one member, as its status states them."""

from __future__ import annotations

from msgspec import Struct

from kadm.model.objects import JsonObject, gvk_of


class Counts(Struct, frozen=True, kw_only=True):
    """Pods of one workload in one member. None: the kind does not count that."""

    desired: int | None = None
    current: int | None = None
    updated: int | None = None
    ready: int | None = None
    available: int | None = None


def counts(live: JsonObject) -> Counts:
    """The counts of a live workload; all None for kinds without any."""
    spec, status = live.get("spec") or {}, live.get("status") or {}
    gvk = gvk_of(live)
    match (gvk.group, gvk.kind):
        case ("apps", "Deployment" | "StatefulSet" | "ReplicaSet"):
            return Counts(
                desired=spec.get("replicas", 1),
                current=status.get("replicas", 0),
                updated=status.get("updatedReplicas", 0) if gvk.kind != "ReplicaSet" else None,
                ready=status.get("readyReplicas", 0),
                available=status.get("availableReplicas", 0),
            )
        case ("apps", "DaemonSet"):
            return Counts(
                desired=status.get("desiredNumberScheduled", 0),
                current=status.get("currentNumberScheduled", 0),
                updated=status.get("updatedNumberScheduled", 0),
                ready=status.get("numberReady", 0),
                available=status.get("numberAvailable", 0),
            )
        case ("batch", "Job"):
            done = status.get("succeeded", 0)
            return Counts(
                desired=spec.get("completions", spec.get("parallelism", 1)),
                current=status.get("active", 0) + done,
                ready=status.get("ready", 0) + done,
            )
        case ("", "Pod"):
            ready = any(
                one.get("type") == "Ready" and one.get("status") == "True" for one in status.get("conditions") or []
            )
            return Counts(desired=1, current=1, ready=int(ready))
        case _:
            return Counts()
