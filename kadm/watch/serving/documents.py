"""What the daemon knows as documents of ``kadm.io/v1``: the JSON API. Pure; field order and list order are fixed.

    /api/v1/fleet      WatchStatus   where the desired state comes from, who writes, what happened so far
    /api/v1/clusters   ClusterList   the members
    /api/v1/workloads  FleetStatus   as ``kadm status -o json`` prints it, with placement, staleness, drift and moves
    /api/v1/events     EventList     what happened lately, oldest first
    /api/v1/plan       WatchPlan     the last plan, and what is held back

A field is always there, null or empty where there is nothing to say.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from kadm.compare.secrecy import is_secret, shown_secret
from kadm.errors import Problem
from kadm.model.objects import JsonObject, ObjectKey
from kadm.model.plan import Move
from kadm.watch.source import shown_url
from kadm.watch.state import (
    CopyView,
    HeldView,
    MemberView,
    PlanView,
    Snapshot,
    WatchEvent,
    WorkloadView,
)

API_VERSION = "kadm.io/v1"


def watch_document(snapshot: Snapshot) -> JsonObject:
    """The daemon itself, as a document of kind WatchStatus."""
    return {**_head("WatchStatus", snapshot), **watch_fields(snapshot)}


def clusters_document(snapshot: Snapshot) -> JsonObject:
    """The members, as a document of kind ClusterList."""
    return {**_head("ClusterList", snapshot), "clusters": [cluster_fields(one) for one in snapshot.members]}


def workloads_document(
    snapshot: Snapshot, native: Callable[[ObjectKey], JsonObject | None] | None = None
) -> JsonObject:
    """The workloads, as a document of kind FleetStatus. With ``native`` each holds its native object, or null."""
    workloads = []
    for one in snapshot.workloads:
        fields = workload_fields(one)
        if native is not None:
            fields["native"] = _shown(one.key, native(one.key))
        workloads.append(fields)
    return {**_head("FleetStatus", snapshot), "workloads": workloads, "unread": unread_fields(snapshot)}


def events_document(snapshot: Snapshot, *, after: int = 0) -> JsonObject:
    """The latest events, as a document of kind EventList: those with a number above ``after``."""
    return {
        **_head("EventList", snapshot),
        "events": [event_fields(one) for one in snapshot.events if one.number > after],
    }


def plan_document(snapshot: Snapshot) -> JsonObject:
    """The last plan, as a document of kind WatchPlan; ``plan`` is null before the first."""
    return {**_head("WatchPlan", snapshot), **plan_fields(snapshot.plan, snapshot.held)}


def watch_fields(snapshot: Snapshot) -> JsonObject:
    """What there is to know beside members and workloads."""
    source, broken, writer = snapshot.source, snapshot.broken, snapshot.writer
    return {
        "started": snapshot.started,
        "ready": snapshot.ready,
        "driftMode": snapshot.drift_mode,
        "source": {
            "url": shown_url(source.url),
            "branch": source.branch,
            "commit": source.commit,
            "since": source.since,
            "seen": source.seen,
            "problem": _problem(source.problem),
        },
        "broken": None
        if broken is None
        else {
            "commit": broken.commit,
            "since": broken.since,
            "problems": [_problem(one) for one in broken.problems],
        },
        "writer": {"here": writer.here, "holder": writer.holder, "since": writer.since},
        "totals": {
            "fetches": snapshot.totals.fetches,
            "failedFetches": snapshot.totals.failed_fetches,
            "brokenCommits": snapshot.totals.broken_commits,
            "plans": snapshot.totals.plans,
            "rewrites": snapshot.totals.rewrites,
            "hooks": snapshot.totals.hooks,
            "failedPlans": snapshot.totals.failed_plans,
            "applies": snapshot.totals.applies,
            "changes": snapshot.totals.changes,
            "failedChanges": snapshot.totals.failed_changes,
            "migrations": snapshot.totals.migrations,
            "failovers": snapshot.totals.failovers,
        },
    }


def cluster_fields(member: MemberView) -> JsonObject:
    """One member. ``heard`` is when it answered last."""
    counts = member.counts
    return {
        "name": member.name,
        "reachable": member.reachable,
        "since": member.since,
        "synced": member.synced,
        "problem": _problem(member.problem),
        "ready": member.ready,
        "readyReason": member.ready_reason,
        "version": member.version,
        "suspended": member.suspended,
        "commit": member.commit,
        "objects": member.objects,
        "drifted": member.drifted,
        "heard": member.heard,
        "watches": {
            "lists": counts.lists,
            "restarts": counts.restarts,
            "expired": counts.expired,
            "silent": counts.silent,
            "failures": dict(sorted(counts.failures.items())),
        },
    }


def workload_fields(workload: WorkloadView, copies: Sequence[CopyView] | None = None) -> JsonObject:
    """One workload; of its copies only ``copies``, None: all of them."""
    key = workload.key
    return {
        "group": key.group,
        "version": workload.version,
        "kind": key.kind,
        "namespace": key.namespace,
        "name": key.name,
        "labels": dict(sorted(workload.labels.items())),
        "policy": workload.policy,
        "health": {"code": workload.health.code, "reason": workload.health.reason},
        "wanted": workload.wanted,
        "desired": workload.desired,
        "ready": workload.ready,
        "move": None if workload.move is None else _both_ends(workload.move),
        "members": [copy_fields(one) for one in (workload.copies if copies is None else copies)],
    }


def copy_fields(copy: CopyView) -> JsonObject:
    """One workload in one member."""
    status = copy.status
    return {
        "cluster": status.member,
        "health": {"code": status.health.code, "reason": status.health.reason},
        "desired": status.desired,
        "current": status.current,
        "updated": status.updated,
        "ready": status.ready,
        "available": status.available,
        "placed": copy.placed,
        "estimated": copy.estimated,
        "staleSince": copy.stale_since,
        "drift": list(copy.drift),
    }


def event_fields(event: WatchEvent) -> JsonObject:
    """One event."""
    return {
        "number": event.number,
        "at": event.at,
        "kind": event.kind,
        "severity": event.severity,
        "cluster": event.member,
        "object": event.object,
        "text": event.text,
    }


def plan_fields(plan: PlanView | None, held: Sequence[HeldView]) -> JsonObject:
    """The last plan, and what is held back with what releases it."""
    return {
        "plan": None
        if plan is None
        else {
            "at": plan.at,
            "because": list(plan.because),
            "commit": plan.commit,
            "applied": plan.applied,
            "summary": msgspec.to_builtins(plan.summary),
            "changes": dict(sorted(plan.changes.items())),
            "drift": plan.drift,
            "moves": [
                {
                    "group": move.key.group,
                    "kind": move.key.kind,
                    "namespace": move.key.namespace,
                    "name": move.key.name,
                    **_both_ends(move),
                }
                for move in plan.moves
            ],
            "problems": [_problem(one) for one in plan.problems],
        },
        "held": [
            {
                "cluster": one.member,
                "object": one.object,
                "action": one.action,
                "why": one.why,
                "release": one.release,
            }
            for one in held
        ],
    }


def unread_fields(snapshot: Snapshot) -> list[JsonObject]:
    """Why members are not reachable."""
    return [msgspec.to_builtins(one.problem) for one in snapshot.members if one.problem is not None]


def error_document(problem: Problem) -> JsonObject:
    """Why a request is not answered, as a document of kind Error."""
    return {"apiVersion": API_VERSION, "kind": "Error", "problem": _problem(problem)}


def _head(kind: str, snapshot: Snapshot) -> JsonObject:
    return {"apiVersion": API_VERSION, "kind": kind, "fleet": snapshot.fleet}


def _both_ends(move: Move) -> dict[str, Any]:
    return {"leaves": dict(sorted(move.leaves.items())), "arrives": dict(sorted(move.arrives.items()))}


def _problem(problem: Problem | None) -> JsonObject | None:
    if problem is None:
        return None
    return {"severity": problem.severity, **msgspec.to_builtins(problem)}


def _shown(key: ObjectKey, native: JsonObject | None) -> JsonObject | None:
    return shown_secret(native) if native is not None and is_secret(key) else native
