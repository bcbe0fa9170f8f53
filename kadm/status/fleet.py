"""Every workload across all members, as if it were one: the fleet's status."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from kadm.errors import Problem
from kadm.model.objects import JsonObject
from kadm.model.repository import Manifest
from kadm.model.status import FleetStatus, Health, HealthCode, WorkloadInMember, WorkloadStatus
from kadm.status.aggregate import aggregate
from kadm.status.counts import counts
from kadm.status.health import health
from kadm.status.pod import troubles
from kadm.status.rollout import rollout_conditions
from kadm.status.times import utc

WORST_FIRST: tuple[HealthCode, ...] = (
    "Failed",
    "Unknown",
    "Missing",
    "Terminating",
    "Progressing",
    "Suspended",
    "Healthy",
)

_FINISHED = Health("Healthy", "finished, and removed by the member")


def workload_status(
    manifest: Manifest,
    placed: Mapping[str, int | None],
    live: Mapping[str, JsonObject],
    *,
    pods: Mapping[str, Sequence[JsonObject]],
    unread: Mapping[str, str],
    unsaid: Collection[str] = (),
    done: Collection[str] = (),
    now: str,
) -> WorkloadStatus:
    """One workload across members.

    ``placed``: member → replicas that the scheduler gave it, None where it is not divided; every member that has to
    hold it is in it. ``live``: member → object, for members that hold it. ``pods``: member → pods of a workload that is
    not ready. ``unread``: member → why nothing is known now; ``live`` may then hold what was known last. ``unsaid``:
    members that could not be read, and may hold it for all that is known. ``done``:
    members that removed it when it had finished. ``now`` is RFC 3339.
    """
    members = tuple(
        WorkloadInMember(member=name, health=_FINISHED)
        if name in done and name not in live and name not in unread
        else _in_member(name, placed.get(name), live.get(name), pods.get(name, ()), unread.get(name, ""))
        for name in sorted(placed.keys() | live.keys())
    )
    readable = {name: live[name] for name in sorted(live)}
    aggregated = aggregate(manifest.object, readable, now=_last_change(readable) or now) if readable else None
    status = aggregated.status if aggregated else None
    if status is not None and (manifest.key.group, manifest.key.kind) == ("apps", "Deployment"):
        conditions = rollout_conditions(readable)
        status = {**status, "conditions": conditions} if conditions else status
    return WorkloadStatus(
        key=manifest.key,
        version=manifest.version,
        health=_overall(members, unsaid),
        desired=_sum([one.desired for one in members]),
        ready=_sum([one.ready for one in members]),
        members=members,
        aggregated={**manifest.object, "status": status} if status is not None else dict(manifest.object),
    )


def _last_change(live: Mapping[str, JsonObject]) -> str | None:
    """When a condition of the object changed last in any member: what is made of them stays as it is until then."""
    times = [
        time
        for one in live.values()
        for condition in (one.get("status") or {}).get("conditions") or ()
        if (time := utc(condition.get("lastTransitionTime")))
    ]
    return max(times, default=None)


def fleet_status(fleet: str, workloads: Sequence[WorkloadStatus], unread: Mapping[str, Problem]) -> FleetStatus:
    """All workloads, sorted by key, and the members that nothing is known of."""
    ordered = tuple(sorted(workloads, key=lambda workload: workload.key))
    return FleetStatus(fleet=fleet, workloads=ordered, unread=dict(sorted(unread.items())))


def narrowed(workload: WorkloadStatus, members: Collection[str]) -> WorkloadStatus:
    """The workload as if there were only these members. Its native object, which is of all of them, is left out."""
    kept = tuple(one for one in workload.members if one.member in members)
    return WorkloadStatus(
        key=workload.key,
        version=workload.version,
        health=_overall(kept, ()),
        desired=_sum([one.desired for one in kept]),
        ready=_sum([one.ready for one in kept]),
        members=kept,
    )


def _in_member(
    name: str, replicas: int | None, live: JsonObject | None, pods: Sequence[JsonObject], unread: str
) -> WorkloadInMember:
    if unread and live is not None:
        known = counts(live)  # what was known last: nothing says that its pods are gone
        return WorkloadInMember(
            member=name,
            health=Health("Unknown", unread),
            desired=known.desired,
            current=known.current,
            updated=known.updated,
            ready=known.ready,
            available=known.available,
        )
    if unread:
        return WorkloadInMember(member=name, health=Health("Unknown", unread), desired=replicas)
    if live is None:
        return WorkloadInMember(
            member=name, health=Health("Missing", "not there yet"), desired=replicas, ready=0, current=0
        )
    found, counted = health(live), counts(live)
    if found.code in ("Progressing", "Failed") and (trouble := troubles(pods)):
        found = Health(found.code, f"{found.reason}; {trouble}" if found.reason else trouble)
    return WorkloadInMember(
        member=name,
        health=found,
        desired=counted.desired,
        current=counted.current,
        updated=counted.updated,
        ready=counted.ready,
        available=counted.available,
    )


def _overall(members: Sequence[WorkloadInMember], unsaid: Collection[str]) -> Health:
    if not members and unsaid:
        return Health("Unknown", f"in no member that could be read; {', '.join(sorted(unsaid))} could not")
    if not members:
        return Health("Missing", "in no member yet")
    worst = min(members, key=lambda one: WORST_FIRST.index(one.health.code))
    if worst.health.code == "Healthy":
        return Health("Healthy", worst.health.reason if len(members) == 1 else "")
    return Health(worst.health.code, f"{worst.member}: {worst.health.reason}")


def _sum(numbers: Sequence[int | None]) -> int | None:
    known = [number for number in numbers if number is not None]
    return sum(known) if known else None
