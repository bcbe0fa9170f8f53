"""Printing the members."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from kadm.cli.console import Console
from kadm.cli.exit_code import ExitCode, exit_code
from kadm.cli.plan_json import API_VERSION, encode
from kadm.cli.planning import load, with_members
from kadm.model.cluster import FederatedCluster
from kadm.model.observation import MemberState, Observation, Unread


async def show_clusters(
    console: Console,
    directory: Path,
    *,
    only: list[str] | None,
    as_json: bool,
    request_timeout_s: float,
    parallel: int,
) -> ExitCode:
    """Ask every member, and print what it says. A member that cannot be read makes the exit code *partial*."""
    from kadm.members.pool import open_members

    repo = with_members(load(directory))
    async with open_members(repo, request_timeout_s=request_timeout_s, parallel=parallel, only=only) as pool:
        seen = await pool.observe(capacity=True)
    members = {cluster.name: cluster for cluster in repo.clusters}
    if as_json:
        console.data(encode(clusters_document(repo.fleet.name, seen, members)))
    else:
        _table(console, seen, members)
    console.problems(unread.problem for unread in seen.unread.values())
    return exit_code(partial=bool(seen.unread))


def clusters_document(fleet: str, seen: Observation, members: dict[str, FederatedCluster]) -> dict[str, Any]:
    """The members as a document of kind ClusterList."""
    return {
        "apiVersion": API_VERSION,
        "kind": "ClusterList",
        "fleet": fleet,
        "clusters": [_cluster(state, members[name]) for name, state in seen.members.items()],
    }


def _cluster(state: MemberState | Unread, cluster: FederatedCluster) -> dict[str, Any]:
    described = {
        "name": cluster.name,
        "labels": dict(sorted(cluster.labels.items())),
        "taints": [msgspec.to_builtins(taint) for taint in cluster.spec.taints],
        "suspended": cluster.suspended,
    }
    if isinstance(state, Unread):
        return {**described, "reachable": False, "problem": msgspec.to_builtins(state.problem)}
    capacity = state.capacity
    return {
        **described,
        "reachable": True,
        "ready": state.ready,
        "readyReason": state.ready_reason,
        "version": state.version,
        "objects": len(state.record.objects) if state.record else 0,
        "nodes": capacity.nodes if capacity else None,
        "schedulableNodes": capacity.schedulable_nodes if capacity else None,
        "allocatable": dict(capacity.allocatable) if capacity else None,
        "available": dict(capacity.available) if capacity else None,
    }


def _table(console: Console, seen: Observation, members: dict[str, FederatedCluster]) -> None:
    from rich.text import Text

    rows, notes = [], []
    for name, state in seen.members.items():
        labels = ",".join(f"{key}={value}" for key, value in sorted(members[name].labels.items())) or "-"
        if isinstance(state, Unread):
            rows.append([name, Text("unreachable", style="red"), "-", "-", "-", "-", "-", labels])
            notes.append("")  # stderr says why
            continue
        ready = {"True": Text("ready", style="green"), "False": Text("not ready", style="red")}.get(
            state.ready, Text("unknown", style="magenta")
        )
        capacity = state.capacity
        rows.append(
            [
                name,
                ready,
                state.version or "-",
                f"{capacity.schedulable_nodes}/{capacity.nodes}" if capacity else "-",
                _share(state, "cpu"),
                _share(state, "memory"),
                str(len(state.record.objects) if state.record else 0),
                labels,
            ]
        )
        notes.append("" if state.ready == "True" else state.ready_reason)
    columns = ["NAME", "STATUS", "VERSION", "NODES", "CPU FREE", "MEMORY FREE", "OBJECTS", "LABELS"]
    console.table(
        columns, rows, numbers=("NODES", "CPU FREE", "MEMORY FREE", "OBJECTS"), gives_way="LABELS", notes=notes
    )


def _share(state: MemberState, resource: str) -> str:
    """``free/total`` of one resource."""
    capacity = state.capacity
    if capacity is None:
        return "-"
    return f"{capacity.available.get(resource, '-')}/{capacity.allocatable.get(resource, '-')}"
