"""One native ``.status`` out of a workload's status in every member, as KubeAdmiral aggregates it.

Source: propagation spec 6.2, extended to ReplicaSet, DaemonSet and to a StatefulSet in several members by sums.
A member object without any status stops the aggregation: the sum would describe part of the fleet as the whole.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from kadm.model.objects import JsonObject, gvk_of

Status = dict[str, Any]
Members = Mapping[str, JsonObject]
"""Member → live object."""

_SUMS: dict[tuple[str, str], tuple[str, ...]] = {
    ("apps", "Deployment"): (
        "replicas",
        "updatedReplicas",
        "readyReplicas",
        "availableReplicas",
        "unavailableReplicas",
    ),
    ("apps", "ReplicaSet"): ("replicas", "fullyLabeledReplicas", "readyReplicas", "availableReplicas"),
    ("apps", "StatefulSet"): ("replicas", "readyReplicas", "availableReplicas", "currentReplicas", "updatedReplicas"),
    ("apps", "DaemonSet"): (
        "currentNumberScheduled",
        "desiredNumberScheduled",
        "numberAvailable",
        "numberMisscheduled",
        "numberReady",
        "numberUnavailable",
        "updatedNumberScheduled",
    ),
}
"""(group, kind) → the fields of ``.status`` that add up over members."""

_ALWAYS = frozenset({"currentNumberScheduled", "desiredNumberScheduled", "numberMisscheduled", "numberReady"})
"""Fields that the API shows even when they are 0."""

_PHASES = ("Failed", "Pending", "Running", "Succeeded")


def aggregate(source: JsonObject, members: Members, *, now: str) -> Status | None:
    """The aggregated ``.status`` of ``source``, or None where there is nothing to aggregate.

    ``now`` (RFC 3339) stands in the conditions made here. Times are RFC 3339 in UTC, so they order as text.
    """
    if not members or any(not isinstance(live.get("status"), dict) for live in members.values()):
        return None
    gvk = gvk_of(source)
    kind = (gvk.group, gvk.kind)
    if kind == ("apps", "StatefulSet") and len(members) == 1:
        return dict(next(iter(members.values()))["status"])
    if kind in _SUMS:
        return _summed(_SUMS[kind], members)
    rule = _RULES.get(kind)
    return rule(members, now) if rule else None


def _summed(fields: tuple[str, ...], members: Members) -> Status:
    sums = {field: sum(live["status"].get(field) or 0 for live in members.values()) for field in fields}
    return {field: number for field, number in sums.items() if number or field in _ALWAYS}


def _job(members: Members, now: str) -> Status:
    statuses = {name: live["status"] for name, live in sorted(members.items())}
    result: Status = {
        field: number
        for field in ("active", "succeeded", "failed")
        if (number := sum(status.get(field) or 0 for status in statuses.values()))
    }
    if started := [status["startTime"] for status in statuses.values() if status.get("startTime")]:
        result["startTime"] = min(started)
    complete = [name for name, status in statuses.items() if status.get("completionTime")]
    failed = [name for name, status in statuses.items() if not status.get("completionTime") and _has_failed(status)]
    if len(complete) + len(failed) < len(statuses):
        return result
    if not failed:
        result["completionTime"] = max(status["completionTime"] for status in statuses.values())
        kind, reason, message = "Complete", "Completed", f"Job completed in clusters [{','.join(complete)}]"
    elif not complete:
        kind, reason, message = "Failed", "Failed", f"Job failed in clusters [{','.join(failed)}]"
    else:
        kind, reason = "Failed", "Mixed"
        message = f"Job completed in clusters [{','.join(complete)}] and failed in member clusters [{','.join(failed)}]"
    result["conditions"] = [
        {
            "type": kind,
            "status": "True",
            "reason": reason,
            "message": message,
            "lastProbeTime": now,
            "lastTransitionTime": now,
        }
    ]
    return result


def _has_failed(status: Status) -> bool:
    return any(one.get("type") == "Failed" and one.get("status") == "True" for one in status.get("conditions") or [])


def _pod(members: Members, _now: str) -> Status:
    by_phase: dict[str, list[str]] = {}
    result: Status = {}
    for name, live in sorted(members.items()):
        status = live["status"]
        by_phase.setdefault(status.get("phase") or "Pending", []).append(name)
        if not status.get("phase"):
            continue
        if status.get("startTime"):
            result["startTime"] = min(result.get("startTime", status["startTime"]), status["startTime"])
        for field in ("containerStatuses", "initContainerStatuses"):
            for container in status.get(field) or []:
                result.setdefault(field, []).append({**container, "name": f"{container['name']} ({name})"})
    for field in ("containerStatuses", "initContainerStatuses"):
        if field in result:
            result[field] = sorted(result[field], key=lambda container: container["name"])
    present = [phase for phase in _PHASES if phase in by_phase]
    if present:
        parts = [f"{phase.lower()} in clusters [{','.join(by_phase[phase])}]" for phase in present]
        result |= {"phase": present[0], "message": "Pod " + ", and ".join(parts)}
    return result


_RULES: dict[tuple[str, str], Callable[[Members, str], Status]] = {("batch", "Job"): _job, ("", "Pod"): _pod}
