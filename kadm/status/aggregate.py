"""One native ``.status`` out of a workload's status in every member, as KubeAdmiral aggregates it.

Source: propagation spec 6.2, extended to ReplicaSet, DaemonSet and to a StatefulSet in several members by sums.
A member object without any status stops the aggregation: the sum would describe part of the fleet as the whole.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from kadm.model.objects import JsonObject, at, gvk_of
from kadm.status.container_status import container_status
from kadm.status.digests import DIGESTS, digests_text
from kadm.status.times import utc

Status = dict[str, Any]
Members = Mapping[str, JsonObject]
"""Member → live object."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Propagated:
    """How far the members are: whether their objects are made from the latest source (``up_to_date``), and which
    generation each member's object had when it was written last (member → generation; absent: it was not)."""

    up_to_date: bool = False
    generations: Mapping[str, int] = field(default_factory=dict)


NOT_KNOWN = Propagated()


@dataclass(frozen=True, slots=True, kw_only=True)
class Aggregated:
    """The source's ``.status`` and annotations as they should be (None: none), and whether it has others now."""

    status: Status | None
    annotations: Mapping[str, str] | None
    changed: bool


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

_KUBEADMIRALS = frozenset({("apps", "Deployment"), ("batch", "Job"), ("", "Pod")})
"""(group, kind) of what KubeAdmiral itself puts together."""

_ALWAYS = frozenset({"currentNumberScheduled", "desiredNumberScheduled", "numberMisscheduled", "numberReady"})
"""Fields that the API shows even when they are 0."""

_PHASES = ("Failed", "Pending", "Running", "Succeeded")


def aggregate(
    source: JsonObject, members: Members, *, now: str, propagated: Propagated = NOT_KNOWN
) -> Aggregated | None:
    """What ``source`` should hold of its members' status; None where that cannot be said yet, or it is illegible.

    A kind that is not aggregated keeps what it has, and so does one that KubeAdmiral does not add up, until all members
    tell. ``now`` (RFC 3339) stands in the conditions made here.
    """
    gvk = gvk_of(source)
    kind = (gvk.group, gvk.kind)
    old = source.get("status")
    annotations: Mapping[str, str] | None = at(source, ("metadata", "annotations"))
    kept = Aggregated(status=old, annotations=annotations, changed=False)
    if kind == ("apps", "StatefulSet") and len(members) < 2:
        # A single one is copied as it is, also with fields that this version of the API does not know.
        copied = next((live.get("status") for live in members.values()), None)
        return _updated(kept, dict(copied)) if isinstance(copied, dict) else kept
    if kind not in _SUMS and kind not in _RULES:
        return kept
    if any(not isinstance(live.get("status"), dict) for live in members.values()):
        return None if kind in _KUBEADMIRALS else kept
    statuses = {name: members[name]["status"] for name in sorted(members, key=str.encode)}
    if kind in _RULES:
        return _updated(kept, _RULES[kind](statuses, now))
    status = _summed(_SUMS[kind], statuses)
    if kind != ("apps", "Deployment"):
        return _updated(kept, status)
    if generation := _observed(source, statuses, propagated):
        status["observedGeneration"] = generation
    text = digests_text(members)
    if (annotations or {}).get(DIGESTS) == text:
        return _updated(kept, status)
    return Aggregated(status=status, annotations={**(annotations or {}), DIGESTS: text}, changed=True)


def _updated(kept: Aggregated, status: Status) -> Aggregated:
    return Aggregated(status=status, annotations=kept.annotations, changed=status != kept.status)


def _observed(source: JsonObject, statuses: Mapping[str, Status], propagated: Propagated) -> int:
    """The source's generation once every member's controller has seen what was made of it; until then the old one."""
    seen = propagated.up_to_date and all(
        propagated.generations.get(name) == (status.get("observedGeneration") or 0) for name, status in statuses.items()
    )
    return int(at(source, ("metadata", "generation") if seen else ("status", "observedGeneration")) or 0)


def _summed(fields: tuple[str, ...], statuses: Mapping[str, Status]) -> Status:
    sums = {field: sum(status.get(field) or 0 for status in statuses.values()) for field in fields}
    return {field: number for field, number in sums.items() if number or field in _ALWAYS}


def _job(statuses: Mapping[str, Status], now: str) -> Status:
    result: Status = {
        field: number
        for field in ("active", "succeeded", "failed")
        if (number := sum(status.get(field) or 0 for status in statuses.values()))
    }
    if started := _times(statuses, "startTime"):
        result["startTime"] = started[0]
    complete = [name for name, status in statuses.items() if status.get("completionTime")]
    failed = [name for name, status in statuses.items() if not status.get("completionTime") and _has_failed(status)]
    if not statuses or len(complete) + len(failed) < len(statuses):
        return result
    if not failed:
        result["completionTime"] = _times(statuses, "completionTime")[-1]
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


def _pod(statuses: Mapping[str, Status], _now: str) -> Status:
    by_phase: dict[str, list[str]] = {}
    result: Status = {}
    started = {name: status for name, status in statuses.items() if status.get("phase")}
    for name, status in statuses.items():
        by_phase.setdefault(status.get("phase") or "Pending", []).append(name)
    if times := _times(started, "startTime"):
        result["startTime"] = times[0]
    for field_name in ("containerStatuses", "initContainerStatuses"):
        containers = [
            {**container_status(container), "name": f"{container.get('name', '')} ({name})"}
            for name, status in started.items()
            for container in status.get(field_name) or []
        ]
        if containers:
            result[field_name] = sorted(containers, key=lambda container: str(container["name"]).encode())
    present = [phase for phase in _PHASES if phase in by_phase]
    if present:
        parts = [f"{phase.lower()} in clusters [{','.join(by_phase[phase])}]" for phase in present]
        result |= {"phase": present[0], "message": "Pod " + ", and ".join(parts)}
    return result


def _times(statuses: Mapping[str, Status], field_name: str) -> list[str]:
    """The members' times of one kind, in UTC, earliest first."""
    return sorted(time for status in statuses.values() if (time := utc(status.get(field_name))))


_RULES: dict[tuple[str, str], Callable[[Mapping[str, Status], str], Status]] = {
    ("batch", "Job"): _job,
    ("", "Pod"): _pod,
}
"""(group, kind) → the rule of kinds that are more than sums."""
