"""A workload across all members, live: the status of ``kadm status``, with what is stale, drifted and moving. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from kadm.model.decision import Decision
from kadm.model.objects import JsonObject, at
from kadm.model.plan import Move
from kadm.model.repository import Manifest
from kadm.model.status import WorkloadStatus
from kadm.status import workload_status
from kadm.watch.state import CopyView, WorkloadView


class Known(Struct, frozen=True, kw_only=True):
    """What is known of one workload, by member.

    ``live`` are slim objects, those of lost members as they were known last; ``pods`` waiting ones. ``lost``: member →
    since when it is lost (RFC 3339), and why. ``drift``: the fields that are not as git says. ``decision`` None: it was
    not planned yet.
    """

    decision: Decision | None = None
    live: Mapping[str, JsonObject] = {}
    pods: Mapping[str, Sequence[JsonObject]] = {}
    lost: Mapping[str, tuple[str, str]] = {}
    drift: Mapping[str, tuple[str, ...]] = {}
    estimated: Mapping[str, int] = {}
    move: Move | None = None


def view(manifest: Manifest, known: Known, *, now: str) -> tuple[WorkloadView, WorkloadStatus]:
    """The workload as it is served, and its status with the native object. ``now`` is RFC 3339."""
    decision = known.decision
    placement = decision.placement if decision is not None else {}
    status = workload_status(
        manifest,
        placement,
        known.live,
        pods=known.pods,
        unread={name: f"nothing was heard of {name} since {since}: {why}" for name, (since, why) in known.lost.items()},
        now=now,
    )
    copies = tuple(
        CopyView(
            status=one,
            placed=placement.get(one.member),
            stale_since=known.lost[one.member][0] if one.member in known.lost else "",
            drift=known.drift.get(one.member, ()),
            estimated=known.estimated.get(one.member),
        )
        for one in status.members
    )
    found = WorkloadView(
        key=manifest.key,
        version=manifest.version,
        health=status.health,
        labels=dict(sorted((manifest.object["metadata"].get("labels") or {}).items())),
        policy=str(decision.policy.policy) if decision is not None and decision.policy is not None else "",
        wanted=decision.replicas if decision is not None else None,
        desired=status.desired,
        ready=status.ready,
        copies=copies,
        move=known.move,
    )
    return found, status


def pods_of(workload: JsonObject, pods: Iterable[JsonObject]) -> list[JsonObject]:
    """Those of the waiting pods that the workload selects."""
    labels = at(workload, ("spec", "selector", "matchLabels"))
    namespace = workload["metadata"].get("namespace")
    if not isinstance(labels, dict) or not labels:
        return []
    return [
        pod
        for pod in pods
        if pod["metadata"].get("namespace") == namespace
        and labels.items() <= (pod["metadata"].get("labels") or {}).items()
    ]
