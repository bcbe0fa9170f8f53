"""What became different from one snapshot to the next: the messages of ``/api/v1/stream``. Pure.

    snapshot   everything: fleet, clusters, workloads, events, plan
    changes    only what differs: clusters and workloads that changed (of these, the members that changed), the names of
               those that are gone, new events; parts that are as before are left out

Parts that did not change are the same objects in both snapshots, so a comparison costs what changed, not the fleet.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from kadm.model.objects import JsonObject, ObjectKey
from kadm.watch.serving.documents import (
    cluster_fields,
    event_fields,
    plan_fields,
    watch_fields,
    workload_fields,
)
from kadm.watch.state import CopyView, MemberView, Snapshot, WorkloadView


def whole(snapshot: Snapshot) -> JsonObject:
    """The message ``snapshot``."""
    return {
        **_head(snapshot),
        "watch": watch_fields(snapshot),
        "clusters": [cluster_fields(one) for one in snapshot.members],
        "workloads": [workload_fields(one) for one in snapshot.workloads],
        "events": [event_fields(one) for one in snapshot.events],
        "plan": plan_fields(snapshot.plan, snapshot.held),
    }


def changes(before: Snapshot, after: Snapshot) -> JsonObject | None:
    """The message ``changes``; None where nothing differs that a reader would see."""
    found: JsonObject = {}
    watch = watch_fields(after)
    if watch != watch_fields(before):
        found["watch"] = watch
    if after.members is not before.members:
        found |= _clusters(before.members, after.members)
    if after.workloads is not before.workloads:
        found |= _workloads(before.workloads, after.workloads)
    if after.events is not before.events:
        seen = before.events[-1].number if before.events else 0
        new = [event_fields(one) for one in after.events if one.number > seen]
        found |= {"events": new} if new else {}
    if (after.plan, after.held) != (before.plan, before.held):
        found["plan"] = plan_fields(after.plan, after.held)
    return {**_head(after), **found} if found else None


def settled(member: MemberView) -> MemberView:
    """The member without what changes by merely being well: when it was heard last."""
    return replace(member, heard="", lag_s=0.0)


def _head(snapshot: Snapshot) -> JsonObject:
    return {"fleet": snapshot.fleet, "version": snapshot.version, "at": snapshot.at}


def _clusters(before: Sequence[MemberView], after: Sequence[MemberView]) -> JsonObject:
    known = {one.name: one for one in before}
    changed = [
        cluster_fields(one)
        for one in after
        if (former := known.pop(one.name, None)) is not one and (former is None or settled(former) != settled(one))
    ]
    return {
        **({"clusters": changed} if changed else {}),
        **({"clustersGone": sorted(known)} if known else {}),
    }


def _workloads(before: Sequence[WorkloadView], after: Sequence[WorkloadView]) -> JsonObject:
    known: dict[ObjectKey, WorkloadView] = {one.key: one for one in before}
    changed = []
    for one in after:
        former = known.pop(one.key, None)
        if former is one or former == one:
            continue
        if former is None:
            changed.append({**workload_fields(one), "membersGone": []})
            continue
        copies: Mapping[str, CopyView] = {copy.member: copy for copy in former.copies}
        different = [copy for copy in one.copies if copies.get(copy.member) != copy]
        gone = sorted(copies.keys() - {copy.member for copy in one.copies})
        changed.append({**workload_fields(one, different), "membersGone": gone})
    return {
        **({"workloads": changed} if changed else {}),
        **(
            {
                "workloadsGone": [
                    {"group": key.group, "kind": key.kind, "namespace": key.namespace, "name": key.name}
                    for key in sorted(known)
                ]
            }
            if known
            else {}
        ),
    }
