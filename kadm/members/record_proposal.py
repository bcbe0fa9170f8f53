"""A record that was lost, or that came along with a backup: what to write in its place (design, section 5)."""

from __future__ import annotations

from msgspec.structs import replace

from kadm.errors import MemberError
from kadm.members import resources
from kadm.members.connection import Connection
from kadm.members.record import read_record_of_any_member, record_name
from kadm.members.together import together
from kadm.members.traces import is_placed
from kadm.model.applyset import PART_OF, applyset_id
from kadm.model.objects import JsonObject, at
from kadm.model.observation import ApiResource, MemberState
from kadm.model.record import Record, RecordedObject, RecordedWorkload
from kadm.model.workload import FIRST_ORDINAL, ORDINALS_PER_BLOCK, workload_kind


async def propose_record(connection: Connection, state: MemberState, fleet: str, *, manager: str) -> Record:
    """A record of what seems to be the fleet's in this member, all as *created*: a proposal, for somebody to confirm.

    Taken are objects that carry the fleet's label and an apply entry of ``manager``; not what others own, for
    controllers copy labels. Of the scheduler's decisions the live replicas and ordinals are known: workloads are placed
    anew, but from where they are. Raises MemberError where any kind could not be listed, or is not known to be served:
    half a proposal would lose objects for good.
    """
    for group_version, why in state.undiscovered.items():
        if group_version.partition("/")[0].endswith("metrics.k8s.io"):  # often down, and holds measurements alone
            continue
        raise MemberError(f"it is unknown what is served in {group_version}", member=state.name, why=why)
    set_id = applyset_id(record_name(fleet))
    preferred: dict[tuple[str, str], ApiResource] = {}
    for resource in state.api_resources:
        if {"list", "patch"} <= set(resource.verbs):
            preferred.setdefault((resource.group, resource.kind), resource)
    listed = await together(
        {
            f"list {resource.gvk}": resources.list_objects(connection, resource, labels=f"{PART_OF}={set_id}")
            for resource in preferred.values()
        }
    )
    found: dict[str, RecordedObject] = {}
    workloads: dict[str, RecordedWorkload] = {}
    for resource, live in zip(preferred.values(), listed.values(), strict=True):
        for obj in live:
            if is_placed(obj, manager=manager):
                entry = _entry(resource, obj)
                if found.setdefault(entry.uid, entry) is entry:  # one object may be served by two groups
                    workloads.update(_workload(entry, obj, state.name))
    return Record(
        fleet=fleet,
        member=state.name,
        member_uid=state.uid,
        objects=tuple(sorted(found.values(), key=lambda entry: entry.key)),
        workloads=tuple(sorted(workloads.values(), key=lambda entry: entry.key)),
    )


async def rebound_record(connection: Connection, fleet: str, *, member_uid: str) -> Record | None:
    """The record that lies in the member, made out to this cluster, to be written back; None where there is none.

    For a member that was restored from another one's backup: objects were made anew with other uids, so each becomes an
    intent, which is confirmed by kadm's own entry on the live object or becomes adopted.
    """
    record = await read_record_of_any_member(connection, fleet)
    if record is None or record.member_uid == member_uid:
        return record
    intents = tuple(replace(entry, uid="", recreating=False) for entry in record.objects)
    return replace(record, member=connection.name, member_uid=member_uid, objects=intents)


def _workload(entry: RecordedObject, live: JsonObject, member: str) -> dict[str, RecordedWorkload]:
    """uid → what the scheduler may have decided of a live workload; empty for what is never divided.

    A Job is divided once, and what it was divided into is not told by what is left of it.
    """
    kind = workload_kind(entry.group, entry.kind)
    replicas = at(live, kind.replicas_path) if kind is not None and kind.replicas_path is not None else None
    if kind is None or not kind.divides or entry.kind == "Job" or not isinstance(replicas, int):
        return {}
    start = at(live, FIRST_ORDINAL)
    blocks = {member: start // ORDINALS_PER_BLOCK} if isinstance(start, int) else {}
    found = RecordedWorkload(
        group=entry.group, kind=entry.kind, namespace=entry.namespace, name=entry.name, replicas=replicas, blocks=blocks
    )
    return {entry.uid: found}


def _entry(resource: ApiResource, obj: JsonObject) -> RecordedObject:
    metadata = obj["metadata"]
    return RecordedObject(
        group=resource.group,
        version=resource.version,
        kind=resource.kind,
        namespace=metadata.get("namespace") or "",
        name=metadata["name"],
        uid=metadata["uid"],
    )
