"""Pods: the health of one, and why those of a workload are not ready, in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from kadm.model.objects import JsonObject
from kadm.model.status import Health
from kadm.status.conditions import condition, explained, is_condition
from kadm.status.verdicts import HEALTHY, failed, progressing

STUCK = frozenset(
    {
        "CrashLoopBackOff",
        "CreateContainerConfigError",
        "CreateContainerError",
        "ErrImagePull",
        "ImageInspectError",
        "ImagePullBackOff",
        "InvalidImageName",
        "RunContainerError",
    }
)
"""Waiting reasons of a container that does not start by waiting alone."""


def pod_health(live: JsonObject) -> Health:
    """Health of one Pod. Source: kstatus."""
    status = live.get("status") or {}
    phase = status.get("phase", "Pending")
    if phase == "Succeeded":
        return Health("Healthy", "succeeded")
    if phase == "Failed":
        return failed(status.get("message") or status.get("reason") or "the pod failed")
    if reason := pod_trouble(live):
        return failed(reason)
    return HEALTHY if is_condition(live, "Ready", "True") else progressing("not ready yet")


def pod_trouble(live: JsonObject) -> str:
    """Why this pod does not run, in words; empty where it only needs time, or runs."""
    scheduled = condition(live, "PodScheduled")
    if scheduled and scheduled.get("status") == "False":
        return explained(scheduled)
    status = live.get("status") or {}
    for container in [*(status.get("initContainerStatuses") or []), *(status.get("containerStatuses") or [])]:
        waiting = (container.get("state") or {}).get("waiting") or {}
        if waiting.get("reason") in STUCK:
            return f"{waiting['reason']} in container {container.get('name')}"
    return ""


def troubles(pods: Sequence[JsonObject]) -> str:
    """What keeps a workload's pods from running: each reason once, with how many pods have it, most frequent first."""
    counted = Counter(reason for reason in map(pod_trouble, pods) if reason)
    ordered = sorted(counted.items(), key=lambda entry: (-entry[1], entry[0]))
    return "; ".join(f"{count} pod{'s' if count > 1 else ''} {reason}" for reason, count in ordered)
