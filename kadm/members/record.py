"""kadm's record in a member (design, section 5): ConfigMap ``kadm-<fleet>``, the parent of an ApplySet (KEP-3659)."""

from __future__ import annotations

import msgspec

import kadm
from kadm.errors import MemberError
from kadm.members.connection import Connection
from kadm.members.document import (
    Document,
    DocumentConflict,
    DocumentUnreadable,
    delete_document,
    read_document,
    write_document,
)
from kadm.members.record_form import decode_record, encode_record
from kadm.model.applyset import applyset_id
from kadm.model.record import RECORD_FORMAT, Record
from kadm.model.repository import RECORD_NAMESPACE

__all__ = [
    "DocumentConflict",
    "DocumentUnreadable",
    "RecordLost",
    "RecordOfAnotherMember",
    "delete_record",
    "read_record",
    "read_record_of_any_member",
    "record_name",
    "write_record",
]

_MOST_NAMESPACES_BYTES = 200_000  # all annotations of an object together may have 256 KiB


class RecordLost(MemberError):
    """kadm wrote to this member, and its record is gone: what it placed there is unknown, not nothing."""

    def __init__(self, member: str, fleet: str) -> None:
        super().__init__(
            f"the record of fleet {fleet} is gone",
            member=member,
            object=_place(fleet),
            why="what kadm placed here is unknown, so nothing is changed here",
            hint=f"kadm record rebuild {member} writes a new one from what is live",
        )


class RecordOfAnotherMember(MemberError):
    """The record was written for another cluster or fleet: nothing may be done in this member."""


def record_name(fleet: str) -> str:
    """The name of a fleet's record in every member."""
    return f"kadm-{fleet}"


async def read_record(connection: Connection, fleet: str, *, member_uid: str) -> Record | None:
    """The fleet's record in this member, or None where kadm never wrote one.

    Raises RecordOfAnotherMember where it was written for another cluster (a restored backup, a copied etcd),
    DocumentUnreadable where it is damaged or of a format that this kadm does not know, MemberError where it could not
    be read.
    """
    record = await read_record_of_any_member(connection, fleet)
    if record is not None and (record.fleet != fleet or record.member_uid != member_uid):
        raise RecordOfAnotherMember(
            f"the record belongs to member {record.member or '(unnamed)'} of fleet {record.fleet}",
            member=connection.name,
            object=_place(fleet),
            why=f"it was written for cluster {record.member_uid}, this is {member_uid}",
            hint=f"if this cluster was restored from a backup of that one: kadm record rebind {connection.name}",
        )
    return record


async def read_record_of_any_member(connection: Connection, fleet: str) -> Record | None:
    """As ``read_record``, but whichever cluster the record was written for: to look at it, or to rebind it."""
    document = await read_document(connection, record_name(fleet))
    if document is None:
        return None
    if document.format != str(RECORD_FORMAT):
        raise DocumentUnreadable(
            f"the record has format {document.format or '(none)'}, this kadm knows {RECORD_FORMAT}",
            member=connection.name,
            object=_place(fleet),
            hint="use the kadm version that wrote it, or a newer one",
        )
    try:
        record = decode_record(document.content)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise DocumentUnreadable(
            "kadm's record is damaged",
            member=connection.name,
            object=_place(fleet),
            why=str(error),
            hint=f"kadm record rebuild {connection.name} writes a new one from what is live",
        ) from error
    return msgspec.structs.replace(record, resource_version=document.resource_version)


async def write_record(connection: Connection, record: Record) -> Record:
    """Store the record in place of the one of its ``resource_version`` (empty: there is none yet), and return it with
    the new one. Creates the namespace where it is missing.

    Raises DocumentConflict where somebody else wrote meanwhile: the writer must stop and read again.
    """
    version = await write_document(connection, document_of(record))
    return msgspec.structs.replace(record, resource_version=version)


async def delete_record(connection: Connection, fleet: str) -> None:
    """Remove the fleet's record from the member; one that does not exist is fine."""
    await delete_document(connection, record_name(fleet))


def _place(fleet: str) -> str:
    return f"ConfigMap {RECORD_NAMESPACE}/{record_name(fleet)}"


def document_of(record: Record) -> Document:
    """The record as it is stored: the same record gives the same bytes, whatever the order of its sequences."""
    name = record_name(record.fleet)
    return Document(
        name=name,
        content=encode_record(record),
        format=str(record.format),
        clear={"fleet": record.fleet, "member": record.member, "memberUID": record.member_uid, "commit": record.commit},
        labels={"applyset.kubernetes.io/id": applyset_id(name), "app.kubernetes.io/managed-by": "kadm"},
        annotations=_applyset_annotations(record),
        resource_version=record.resource_version,
    )


def _applyset_annotations(record: Record) -> dict[str, str]:
    """What KEP-3659 asks of a parent; ``tooling`` keeps ``kubectl apply --prune`` away from the set."""
    kinds = sorted({f"{entry.kind}.{entry.group}" if entry.group else entry.kind for entry in record.objects})
    namespaces = sorted({entry.namespace for entry in record.objects} - {"", RECORD_NAMESPACE})
    annotations = {
        "applyset.kubernetes.io/tooling": f"kadm/v{kadm.__version__}",
        "applyset.kubernetes.io/contains-group-kinds": ",".join(kinds),
    }
    listed = ",".join(namespaces)
    if listed and len(listed) <= _MOST_NAMESPACES_BYTES:
        annotations["applyset.kubernetes.io/additional-namespaces"] = listed
    return annotations
