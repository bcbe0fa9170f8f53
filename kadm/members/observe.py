"""The state of one member: who it is, whether it is ready, what it serves, what kadm recorded there."""

from __future__ import annotations

from collections.abc import Coroutine, Mapping
from typing import Any

from kadm.errors import MemberError
from kadm.members.capacity import read_capacity
from kadm.members.connection import Connection
from kadm.members.discovery import Discovered, discover
from kadm.members.identity import IDENTITY_NAMESPACE, Readiness, read_readiness, read_uid, read_version
from kadm.members.record import RecordLost, read_record
from kadm.members.together import together
from kadm.members.traces import has_traces
from kadm.model.observation import MemberState, Observation


async def observe_member(connection: Connection, fleet: str, *, capacity: bool = False) -> MemberState:
    """All that scheduling needs of one member; ``capacity`` reads nodes and pods too.

    Raises MemberError where anything of it could not be read: half a state is none. Only groups whose discovery fails
    in the member itself are tolerated and named (``MemberState.undiscovered``). Raises RecordLost where kadm wrote
    here before and its record is gone: a lost record is not an empty one.
    """
    uid = await read_uid(connection)
    parts: dict[str, Coroutine[Any, Any, Any]] = {"record": read_record(connection, fleet, member_uid=uid)}
    if capacity:
        parts["capacity"] = read_capacity(connection)
    read = await together({**parts, **_about_itself(connection)})
    if read["record"] is None and await has_traces(connection, fleet, read["discovery"].resources):
        # A record is there before what it records: one that is missing still was not written meanwhile.
        read["record"] = await read_record(connection, fleet, member_uid=uid)
        if read["record"] is None:
            raise RecordLost(connection.name, fleet)
    return _state(connection, uid, read)


async def observe_itself(connection: Connection) -> MemberState:
    """What a member is and serves, without what kadm recorded there. Raises as ``observe_member``."""
    uid = await read_uid(connection)
    return _state(connection, uid, await together(_about_itself(connection)))


def _about_itself(connection: Connection) -> dict[str, Coroutine[Any, Any, Any]]:
    return {
        "version": read_version(connection),
        "readiness": read_readiness(connection),
        "discovery": discover(connection),
    }


def _state(connection: Connection, uid: str, read: Mapping[str, Any]) -> MemberState:
    readiness: Readiness = read["readiness"]
    discovered: Discovered = read["discovery"]
    return MemberState(
        name=connection.name,
        uid=uid,
        version=read["version"],
        ready=readiness.ready,
        ready_reason=readiness.reason,
        api_resources=discovered.resources,
        undiscovered=discovered.failed,
        record=read.get("record"),
        capacity=read.get("capacity"),
    )


def without_twins(observation: Observation) -> Observation:
    """The observation, if no two members are the same cluster. Raises MemberError that names those that are."""
    names_by_uid: dict[str, list[str]] = {}
    for name, state in observation.read.items():
        names_by_uid.setdefault(state.uid, []).append(name)
    twins = [names for names in names_by_uid.values() if len(names) > 1]
    if twins:
        raise MemberError(
            "; ".join(f"{' and '.join(names)} are the same cluster" for names in twins),
            member=twins[0][0],
            why=f"namespace {IDENTITY_NAMESPACE} has the same uid",
            hint="remove all but one of these files from clusters/, or correct spec.kubeconfig",
        )
    return observation
