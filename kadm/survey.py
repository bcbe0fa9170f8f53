"""The fleet's status, read from the members: what the records say is placed, and how it does.

Beside ``pipeline``: this asks what is, that asks what would change. Sends reads only.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from msgspec import Struct
from msgspec.structs import replace

from kadm.compare.suspension import suspended_members, suspended_objects
from kadm.errors import MemberError, Problem
from kadm.members.connection import Connection
from kadm.members.live import read_live
from kadm.members.pool import MemberPool
from kadm.members.resources import PODS, list_objects
from kadm.members.together import together
from kadm.model.applyset import applyset_id
from kadm.model.live import LiveMember
from kadm.model.objects import JsonObject, ObjectKey, at
from kadm.model.observation import MemberState, Unread
from kadm.model.repository import Manifest, Repo
from kadm.model.status import FleetStatus
from kadm.model.workload import workload_kind
from kadm.status import fleet_status, health, workload_status


class _Seen(Struct, frozen=True):
    """What was read in one member: live objects, and the pods of workloads that are not ready.

    ``done``: Jobs that the member removes once they have finished; one of them that is gone is done.
    """

    live: LiveMember
    pods: Mapping[ObjectKey, Sequence[JsonObject]]
    placed: Mapping[ObjectKey, int | None]
    done: Collection[ObjectKey]


async def survey(repo: Repo, pool: MemberPool, keys: Sequence[ObjectKey] | None, *, now: datetime) -> FleetStatus:
    """Every workload of the repository (None), or these objects, across all members.

    Where an object is placed, the records say: a member whose record holds it has to hold it. A member that could not
    be read is *unknown* for everything: nothing says that a workload is not there.
    """
    observation = await pool.observe()
    manifests = {
        manifest.key: manifest
        for manifest in repo.manifests
        if (manifest.key in keys if keys is not None else workload_kind(manifest.key.group, manifest.key.kind))
    }
    states = observation.read

    async def read(connection: Connection) -> _Seen:
        return await _read(connection, states[connection.name], manifests, applyset_id(repo.fleet.record_name))

    found = await pool.each(read, names=list(states))
    seen = {name: one for name, one in found.items() if isinstance(one, _Seen)}
    unread: dict[str, Problem] = {name: one.problem for name, one in observation.unread.items()}
    unread |= {name: one.problem for name, one in found.items() if isinstance(one, Unread)}
    workloads = []
    for key, manifest in manifests.items():
        placed = {name: one.placed[key] for name, one in seen.items() if key in one.placed}
        live = {name: one.live.objects[key] for name, one in seen.items() if key in one.live.objects}
        blind = {name: one.live.unread[key].what for name, one in seen.items() if key in one.live.unread}
        expected = _expected_in_unread(key, seen, unread, states)
        workloads.append(
            workload_status(
                manifest,
                placed | dict.fromkeys(blind) | expected,
                live,
                pods={name: one.pods.get(key, ()) for name, one in seen.items()},
                unread=blind | {name: unread[name].what for name in expected},
                unsaid=unread,
                done=[name for name, one in seen.items() if key in one.done],
                now=now.strftime("%Y-%m-%dT%H:%M:%SZ"),
            )
        )
    suspended = {name: said for name, said in suspended_members(repo).items() if name in observation.members}
    status = fleet_status(repo.fleet.name, workloads, unread)
    return replace(status, suspended=(*suspended.values(), *suspended_objects(repo, manifests)))


async def _read(
    connection: Connection, state: MemberState, manifests: Mapping[ObjectKey, Manifest], set_id: str
) -> _Seen:
    recorded = {entry.key: entry for entry in state.record.objects} if state.record else {}
    replicas = {entry.key: entry.replicas for entry in state.record.workloads} if state.record else {}
    placed = {key: replicas.get(key) for key in manifests if key in recorded}
    live = await read_live(connection, state, {key: recorded[key].version for key in placed}, set_id=set_id)
    ill = [key for key, one in live.objects.items() if health(one).code in ("Progressing", "Failed")]

    async def pods_of(key: ObjectKey) -> Sequence[JsonObject]:
        labels = at(live.objects[key], ("spec", "selector", "matchLabels"))
        if not isinstance(labels, dict) or not labels:
            return ()
        selector = ",".join(f"{name}={value}" for name, value in sorted(labels.items()))
        try:
            return await list_objects(connection, PODS, namespace=key.namespace, labels=selector)
        except MemberError:
            return ()  # a credential may not read pods: the workload's own status still says how it does

    pods = await together({str(key): pods_of(key) for key in ill})
    done = {key for key in placed if recorded[key].uid and recorded[key].digest}
    return _Seen(live, {key: pods[str(key)] for key in ill}, placed, done)


def _expected_in_unread(
    key: ObjectKey,
    seen: Mapping[str, _Seen],
    unread: Mapping[str, Problem],
    states: Mapping[str, MemberState],
) -> dict[str, int | None]:
    """Unread members that hold the object by what the other members' records say of its whole placement."""
    for name in seen:
        record = states[name].record
        for entry in record.workloads if record else ():
            if entry.key == key:
                return {other: entry.placement[other] for other in unread if other in entry.placement}
    return {}
