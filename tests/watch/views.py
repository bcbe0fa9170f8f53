"""Snapshots with defaults, so that a test names only what matters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from kadm.errors import Problem
from kadm.model.objects import ObjectKey
from kadm.model.plan import Move, Summary
from kadm.model.status import Health, HealthCode, WorkloadInMember
from kadm.watch.state import (
    CopyView,
    HeldView,
    MemberView,
    PlanView,
    Snapshot,
    SourceView,
    Totals,
    WatchCounts,
    WatchEvent,
    WorkloadView,
    WriterView,
)

NOON = "2026-03-01T12:00:00Z"
COMMIT = "4f2a91c07b3e5d6688aa1b2c3d4e5f6071829304"


def a_key(name: str = "web", *, kind: str = "Deployment", namespace: str = "shop", group: str = "apps") -> ObjectKey:
    """A Deployment, unless said otherwise."""
    return ObjectKey(group, kind, namespace, name)


def a_member(name: str = "eu", **others: Any) -> MemberView:
    """A member that is well."""
    defaults: dict[str, Any] = {
        "reachable": True,
        "synced": True,
        "since": NOON,
        "version": "v1.34.1",
        "ready": "True",
        "heard": NOON,
        "commit": COMMIT,
        "objects": 12,
        "counts": WatchCounts(lists=4),
    }
    return MemberView(name=name, **{**defaults, **others})


def lost(name: str, why: str = "no answer within 4 s") -> MemberView:
    """A member that cannot be reached."""
    problem = Problem(what="it cannot be reached", member=name, why=why)
    return a_member(name, reachable=False, ready="Unknown", problem=problem)


def a_copy(
    member: str,
    ready: int | None = 2,
    desired: int | None = 2,
    code: HealthCode = "Healthy",
    reason: str = "",
    **others: Any,
) -> CopyView:
    """A workload in a member."""
    status = WorkloadInMember(
        member=member,
        health=Health(code, reason),
        desired=desired,
        current=ready,
        updated=ready,
        ready=ready,
        available=ready,
    )
    return CopyView(status=status, placed=desired, **others)


def a_workload(
    name: str = "web", *copies: CopyView, health: Health | None = None, key: ObjectKey | None = None, **others: Any
) -> WorkloadView:
    """A workload with these copies; its totals are theirs, and its health is that of the first that is not well."""
    unwell = [one.status.health for one in copies if one.status.health.code != "Healthy"]
    counted = [one.status for one in copies if one.status.desired is not None]
    return WorkloadView(
        key=key or a_key(name),
        version="v1",
        health=health or (unwell[0] if unwell else Health("Healthy")),
        labels=others.pop("labels", {"app": name}),
        policy=others.pop("policy", "PropagationPolicy shop/spread"),
        wanted=sum(one.desired or 0 for one in counted) if counted else None,
        desired=sum(one.desired or 0 for one in counted) if counted else None,
        ready=sum(one.ready or 0 for one in counted) if counted else None,
        copies=copies,
        **others,
    )


def an_event(number: int, text: str = "something happened", **others: Any) -> WatchEvent:
    return WatchEvent(number=number, at=NOON, text=text, **{"kind": "planned", **others})


def a_plan(**others: Any) -> PlanView:
    return PlanView(
        **{"at": NOON, "because": ("a new commit",), "commit": COMMIT, "summary": Summary(update=2), **others}
    )


def a_snapshot(version: int = 1, **others: Any) -> Snapshot:
    """A daemon that is ready, and writes."""
    defaults: dict[str, Any] = {
        "at": NOON,
        "started": NOON,
        "fleet": "shop",
        "ready": True,
        "source": SourceView(
            url="https://git.example.org/fleet.git", branch="main", commit=COMMIT, since=NOON, seen=NOON
        ),
        "writer": WriterView(here=True, holder="this daemon", since=NOON),
        "members": (a_member("eu"), a_member("us")),
        "workloads": (a_workload("web", a_copy("eu"), a_copy("us")),),
    }
    return Snapshot(version=version, **{**defaults, **others})


def a_move(name: str, leaves: Mapping[str, int], arrives: Mapping[str, int]) -> Move:
    return Move(key=a_key(name), leaves=leaves, arrives=arrives)


def a_matrix(workloads: int, members: int, version: int = 1, **others: Any) -> Snapshot:
    """Every workload in every member, all well, with names as long as real ones."""
    regions = ("eu-central-1", "eu-west-3", "us-east-1", "us-west-2", "ap-southeast-1")
    names = [f"{regions[index % len(regions)]}-prod-{index:04}" for index in range(members)]
    teams = ("payments", "search-and-discovery", "web", "identity")
    found = [
        a_workload(
            f"{('checkout', 'recommendation-service', 'api', 'session-store')[index % 4]}-{index:04}",
            *(a_copy(name) for name in sorted(names)),
            key=a_key(
                f"{('checkout', 'recommendation-service', 'api', 'session-store')[index % 4]}-{index:04}",
                namespace=teams[index % 4],
            ),
        )
        for index in range(workloads)
    ]
    return a_snapshot(
        version,
        members=tuple(a_member(name) for name in sorted(names)),
        workloads=tuple(sorted(found, key=lambda one: one.key)),
        **others,
    )


def a_busy_fleet(version: int = 1) -> Snapshot:
    """A bit of everything that can be shown."""
    stale: dict[str, Any] = {
        "stale_since": NOON,
        "code": "Unknown",
        "reason": f"nothing was heard of us-2 since {NOON}",
    }
    stuck = "2 pods ImagePullBackOff in container app"
    unschedulable = "3 pods Unschedulable: 0/6 nodes are available: 6 Insufficient cpu."
    move = a_move("checkout", {"us-2": 3}, {"eu-1": 2, "eu-2": 1})
    workloads = (
        a_workload("cart", a_copy("eu-1", 3, 3), a_copy("eu-2", 2, 2), a_copy("us-1", 2, 2), a_copy("us-2", 1, 1)),
        a_workload(
            "checkout",
            a_copy("eu-1", 4, 6, "Progressing", "4 of 6 replicas ready"),
            a_copy("eu-2", 3, 3),
            a_copy("us-1", 3, 6, "Progressing", unschedulable, estimated=3),
            a_copy("us-2", 3, 3, **stale),
            move=move,
        ),
        a_workload(
            "frontend",
            a_copy("eu-1", 5, 5, drift=("spec.replicas", "spec.template.spec.containers[0].image")),
            a_copy("eu-2", 0, 2, "Failed", stuck),
            a_copy("us-1", 4, 4),
            a_copy("us-2", 4, 4, **stale),
        ),
        a_workload("nightly-report", a_copy("eu-1", None, None), key=a_key("nightly-report", kind="CronJob")),
        a_workload(
            "search-indexer-with-a-long-name",
            a_copy("us-1", 1, 1),
            a_copy("us-2", None, 1, "Missing", "it is not there"),
        ),
        a_workload(
            "agent",
            *(a_copy(name, 6, 6) for name in ("eu-1", "eu-2", "us-1")),
            a_copy("us-2", 5, 5, **stale),
            key=a_key("agent", kind="DaemonSet", namespace="monitoring"),
        ),
        a_workload(
            "paused", a_copy("eu-2", 0, 0, "Suspended", "it is suspended"), key=a_key("paused", namespace="batch")
        ),
    )
    return a_snapshot(
        version,
        members=(
            a_member("eu-1", drifted=1, objects=31),
            a_member("eu-2"),
            a_member("us-1", ready="False", ready_reason="2 of 6 nodes are not ready"),
            lost("us-2"),
            a_member("ap-1", suspended=True),
        ),
        workloads=tuple(sorted(workloads, key=lambda one: one.key)),
        plan=a_plan(moves=(move,), changes={"eu-1": 2}, drift=1),
        held=(
            HeldView(
                member="eu-2",
                object="Namespace old",
                action="delete",
                why="it still holds 3 objects that are not kadm's",
                release="--allow-namespace-deletes",
            ),
        ),
        events=(
            an_event(1, "commit 4f2a91c07b3e is in force", kind="commit"),
            an_event(
                2,
                "it is not as git says: spec.replicas",
                kind="drift",
                severity="warning",
                member="eu-1",
                object="Deployment.apps shop/frontend",
            ),
            an_event(3, "no answer within 4 s", kind="lost", severity="error", member="us-2"),
            an_event(
                4,
                "3 from us-2, 2 to eu-1, 1 to eu-2 begin to move",
                kind="moved",
                object="Deployment.apps shop/checkout",
            ),
        ),
        totals=Totals(fetches=40, plans=12, applies=3, changes=9, migrations=1, last_plan_s=0.8),
    )


def with_member(snapshot: Snapshot, member: MemberView, version: int) -> Snapshot:
    """The snapshot with this member in place of the one of its name."""
    members = tuple(member if one.name == member.name else one for one in snapshot.members)
    return replace(snapshot, version=version, members=members)


def with_workload(
    snapshot: Snapshot, workload: WorkloadView, version: int, events: Sequence[WatchEvent] = ()
) -> Snapshot:
    """The snapshot with this workload in place of the one of its key, and more events."""
    workloads = tuple(workload if one.key == workload.key else one for one in snapshot.workloads)
    return replace(snapshot, version=version, workloads=workloads, events=(*snapshot.events, *events))
