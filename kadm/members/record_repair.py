"""A record that was lost, or that came along with a backup: what to write in its place (design, section 5)."""

from __future__ import annotations

from msgspec.structs import replace

from kadm.members import resources
from kadm.members.connection import Connection
from kadm.members.record import read_record_of_any_member, record_name
from kadm.members.together import together
from kadm.model.applyset import PART_OF, applyset_id
from kadm.model.objects import JsonObject
from kadm.model.observation import ApiResource, MemberState
from kadm.model.record import Record, RecordedObject


async def propose_record(connection: Connection, state: MemberState, fleet: str, *, manager: str) -> Record:
    """A record of what seems to be the fleet's in this member, all as *created*: a proposal, for somebody to confirm.

    Taken are objects that carry the fleet's label and an apply entry of ``manager``; not what others own, for
    controllers copy labels. Nothing is known of the scheduler's decisions: they are made anew. Raises MemberError where
    any kind could not be listed: half a proposal would lose objects for good.
    """
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
    for resource, live in zip(preferred.values(), listed.values(), strict=True):
        for obj in live:
            if _is_the_fleets(obj, manager):
                entry = _entry(resource, obj)
                found.setdefault(entry.uid, entry)  # one object may be served by two groups
    return Record(
        fleet=fleet,
        member=state.name,
        member_uid=state.uid,
        objects=tuple(sorted(found.values(), key=lambda entry: entry.key)),
    )


async def rebound_record(connection: Connection, fleet: str, *, member_uid: str) -> Record | None:
    """The record that lies in the member, made out to this cluster, to be written back; None where there is none.

    For a member that was restored from another one's backup: objects were made anew with other uids, so each becomes an
    intent, which is confirmed by kadm's own entry on the live object or becomes adopted.
    """
    record = await read_record_of_any_member(connection, fleet)
    if record is None or record.member_uid == member_uid:
        return record
    intents = tuple(replace(entry, uid="") for entry in record.objects)
    return replace(record, member=connection.name, member_uid=member_uid, objects=intents)


def _is_the_fleets(obj: JsonObject, manager: str) -> bool:
    metadata = obj["metadata"]
    applied = any(
        (entry.get("manager"), entry.get("operation")) == (manager, "Apply")
        for entry in metadata.get("managedFields") or ()
    )
    return applied and not metadata.get("ownerReferences")


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
