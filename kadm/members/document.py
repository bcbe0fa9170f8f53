"""A JSON document kept in a member's ConfigMap: compressed, with an optimistic lock, split when large.

    ConfigMap NAME                     part 0: what the document is, in clear, and its first bytes
      data.format                      version of the format
      data.parts                       names of further ConfigMaps, in order; absent where there are none
      data.size, data.sha256           of the compressed bytes, so that a mix of parts is found out
      binaryData.document              zlib, or the first part of it
    ConfigMap NAME-HASH, …             further parts, binaryData.document

Part 0 is the only place that is ever replaced, always with its resourceVersion: a 409 stops the writer. Further parts
are written before it under names never used again, and those that nobody can refer to any more are removed after it. So
a reader sees the old document or the new one, and a writer that was killed leaves only parts that the next one removes.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import zlib
from collections.abc import Mapping
from typing import Any, Protocol, TypeVar

import msgspec
from msgspec import Struct

from kadm.errors import MemberError, MemberRefused
from kadm.members import resources
from kadm.members.connection import Connection
from kadm.members.refusal import missing_namespace
from kadm.model.objects import JsonObject
from kadm.model.repository import RECORD_NAMESPACE

MANAGER = "kadm-record"
"""Field manager of these writes: the fleet's own name is for server-side apply alone."""

PART_BYTES = 700_000
"""Compressed bytes per ConfigMap: the API server's limit is 1,048,576 for all data, etcd's 1.5 MiB for the request."""

_PART_OF_LABEL = "kadm.io/part-of-document"
_BASE_LABEL = "kadm.io/base-version"
_KEY = "document"


class DocumentConflict(MemberError):
    """Somebody else wrote the document since it was read: whoever holds the old one must stop writing."""


class DocumentUnreadable(MemberError):
    """There is a document, but not one that can be read: damaged, or of a newer format. Never an empty one.

    ``resource_version`` is that of a damaged one, for whoever writes it anew.
    """

    resource_version: str = ""


class Document(Struct, frozen=True, kw_only=True):
    """A document as it stands in a member. ``clear`` is what part 0 says in clear, beside the bookkeeping."""

    name: str
    content: bytes
    format: str
    clear: Mapping[str, str] = {}
    labels: Mapping[str, str] = {}
    annotations: Mapping[str, str] = {}
    resource_version: str = ""
    """Empty: it does not exist yet."""


_BOOKKEEPING = frozenset({"format", "parts", "size", "sha256"})


async def read_document(connection: Connection, name: str) -> Document | None:
    """The document, or None where the member says that there is none.

    Raises DocumentUnreadable for a damaged one, MemberError where it could not be read.
    """
    seen = ""
    while True:
        found = await resources.get(connection, resources.CONFIG_MAPS, RECORD_NAMESPACE, name)
        if found is None:
            return None
        packed, missing = await _all_parts(connection, found)
        if not missing:
            break
        if found["metadata"]["resourceVersion"] == seen:
            raise _unreadable(connection, found, f"its part {missing} is missing")
        seen = found["metadata"]["resourceVersion"]  # it may just have been replaced: look once more
    data: dict[str, str] = found.get("data") or {}
    if data.get("size") != str(len(packed)) or data.get("sha256") != hashlib.sha256(packed).hexdigest():
        raise _unreadable(connection, found, "its bytes are not those that were written")
    try:
        content = zlib.decompress(packed)
    except zlib.error as error:
        raise _unreadable(connection, found, "it cannot be decompressed") from error
    metadata = found["metadata"]
    return Document(
        name=name,
        content=content,
        format=data.get("format", ""),
        clear={key: value for key, value in data.items() if key not in _BOOKKEEPING},
        labels=metadata.get("labels") or {},
        annotations=metadata.get("annotations") or {},
        resource_version=metadata["resourceVersion"],
    )


async def write_document(connection: Connection, document: Document) -> str:
    """Store the document in place of the version that it carries, and return the new resourceVersion.

    Creates the namespace where it is missing. Raises DocumentConflict where the version in the member is another one.
    """
    packed = zlib.compress(document.content, 9)
    chunks = [packed[start : start + PART_BYTES] for start in range(0, len(packed), PART_BYTES)]
    base = document.resource_version or "0"
    further = {_part_name(document.name, base, number, chunk): chunk for number, chunk in enumerate(chunks[1:], 1)}
    main = _part_zero(document, packed, chunks[0], tuple(further))
    for part_name, chunk in further.items():
        await _ensure_part(connection, _part(document.name, part_name, base, chunk))
    stored = await _commit(connection, document, main)
    version: str = stored["metadata"]["resourceVersion"]
    if further or document.resource_version:
        await _remove_old_parts(connection, document.name, keep=frozenset(further), current=version)
    return version


async def delete_document(connection: Connection, name: str) -> None:
    """Remove the document and all its parts; one that does not exist is fine."""
    found = await resources.get(connection, resources.CONFIG_MAPS, RECORD_NAMESPACE, name)
    if found is not None:
        await resources.delete(connection, resources.CONFIG_MAPS, RECORD_NAMESPACE, name, uid=found["metadata"]["uid"])
    await _remove_old_parts(connection, name, keep=frozenset(), current="")


async def ensure_namespace(connection: Connection) -> bool:
    """Create the namespace of kadm's own objects where it is missing; True where it was."""
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": RECORD_NAMESPACE}}
    try:
        await resources.create(connection, resources.NAMESPACES, namespace, manager=MANAGER)
    except MemberRefused as refused:
        if refused.status == 409 and refused.reason == "AlreadyExists":
            return False
        raise
    return True


async def _all_parts(connection: Connection, part_zero: JsonObject) -> tuple[bytes, str]:
    """The compressed bytes that part 0 tells of, and the name of a part that is missing (empty: none is)."""
    parts = [_part_bytes(connection, part_zero, part_zero)]
    for name in filter(None, (part_zero.get("data") or {}).get("parts", "").split(",")):
        part = await resources.get(connection, resources.CONFIG_MAPS, RECORD_NAMESPACE, name)
        if part is None:
            return b"", name
        parts.append(_part_bytes(connection, part, part_zero))
    return b"".join(parts), ""


def _part_zero(document: Document, packed: bytes, first: bytes, further: tuple[str, ...]) -> JsonObject:
    data = {
        **document.clear,
        "format": document.format,
        "size": str(len(packed)),
        "sha256": hashlib.sha256(packed).hexdigest(),
    }
    if further:
        data["parts"] = ",".join(further)
    metadata: JsonObject = {
        "name": document.name,
        "namespace": RECORD_NAMESPACE,
        "labels": dict(document.labels),
        "annotations": dict(document.annotations),
    }
    if document.resource_version:
        metadata["resourceVersion"] = document.resource_version
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": metadata,
        "data": dict(sorted(data.items())),
        "binaryData": {_KEY: base64.b64encode(first).decode()},
    }


def _part(document_name: str, name: str, base: str, chunk: bytes) -> JsonObject:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": name,
            "namespace": RECORD_NAMESPACE,
            "labels": {_PART_OF_LABEL: document_name, _BASE_LABEL: base},
        },
        "binaryData": {_KEY: base64.b64encode(chunk).decode()},
    }


def _part_name(document_name: str, base: str, number: int, chunk: bytes) -> str:
    """A name that no other content and no other base version ever has."""
    digest = hashlib.sha256(f"{base}/{number}/".encode() + chunk).hexdigest()[:16]
    return f"{document_name}-{digest}"


async def _ensure_part(connection: Connection, part: JsonObject) -> None:
    try:
        await _create(connection, part)
    except MemberRefused as refused:
        if refused.status != 409:  # it exists: its name holds its content's hash, so it is the same
            raise


async def _commit(connection: Connection, document: Document, main: JsonObject) -> JsonObject:
    try:
        if document.resource_version:
            return await resources.replace(connection, resources.CONFIG_MAPS, main, manager=MANAGER)
        return await _create(connection, main)
    except MemberRefused as refused:
        gone = document.resource_version and refused.status == 404
        if refused.status != 409 and not gone:
            raise
        # A write that was sent twice meets its own first copy: only another one is a conflict.
        live = await resources.get(connection, resources.CONFIG_MAPS, RECORD_NAMESPACE, document.name)
        if live is not None and _same(live, main):
            return live
        raise DocumentConflict(
            "somebody else wrote kadm's record meanwhile" if live else "somebody deleted kadm's record meanwhile",
            member=connection.name,
            object=f"ConfigMap {RECORD_NAMESPACE}/{document.name}",
            why=f"it is not at version {document.resource_version or 'none'} any more",
            hint="another kadm is at work here: run again when it is done",
        ) from refused


async def _create(connection: Connection, obj: JsonObject) -> JsonObject:
    try:
        return await resources.create(connection, resources.CONFIG_MAPS, obj, manager=MANAGER)
    except MemberRefused as refused:
        if not missing_namespace(refused):
            raise
    await ensure_namespace(connection)
    return await resources.create(connection, resources.CONFIG_MAPS, obj, manager=MANAGER)


def _same(live: JsonObject, sent: JsonObject) -> bool:
    return all(live.get(key) == sent[key] for key in ("data", "binaryData"))


async def _remove_old_parts(connection: Connection, name: str, *, keep: frozenset[str], current: str) -> None:
    """Remove the parts that no part 0 can refer to: neither the current one, nor one written on top of it."""
    parts = await resources.list_objects(
        connection, resources.CONFIG_MAPS, namespace=RECORD_NAMESPACE, labels=f"{_PART_OF_LABEL}={name}"
    )
    for part in parts:
        metadata = part["metadata"]
        if metadata["name"] not in keep and metadata["labels"].get(_BASE_LABEL) != current:
            await resources.delete(
                connection, resources.CONFIG_MAPS, RECORD_NAMESPACE, metadata["name"], uid=metadata["uid"]
            )


def _part_bytes(connection: Connection, config_map: JsonObject, part_zero: JsonObject) -> bytes:
    encoded: Any = (config_map.get("binaryData") or {}).get(_KEY)
    try:
        return base64.b64decode(encoded or "", validate=True)
    except binascii.Error as error:
        name = config_map["metadata"]["name"]
        raise _unreadable(connection, part_zero, "its bytes are not base64", in_part=name) from error


def _unreadable(connection: Connection, part_zero: JsonObject, why: str, *, in_part: str = "") -> DocumentUnreadable:
    unreadable = DocumentUnreadable(
        "kadm's record is damaged",
        member=connection.name,
        object=f"ConfigMap {RECORD_NAMESPACE}/{in_part or part_zero['metadata']['name']}",
        why=why,
        hint=f"kadm record rebuild {connection.name} writes a new one from what is live",
    )
    unreadable.resource_version = part_zero["metadata"]["resourceVersion"]
    return unreadable


class Aside(Protocol):
    """What a fleet keeps in a member beside its record: worth something whole, or nothing at all."""

    @property
    def fleet(self) -> str: ...
    @property
    def member_uid(self) -> str: ...


A = TypeVar("A", bound=Aside)


async def read_aside(connection: Connection, name: str, nothing: A, *, format_: int) -> A:
    """The document of this name as ``nothing``'s type, with its ``resource_version``; ``nothing`` where there is none.

    Unlike the record, it is left unused where it is another cluster's, of another format, or damaged: ``nothing`` then
    carries its version, so that the next write takes its place. Raises MemberError where it could not be read.
    """
    try:
        document = await read_document(connection, name)
    except DocumentUnreadable as damaged:
        found, version = nothing, damaged.resource_version
    else:
        if document is None:
            return nothing
        found, version = _decoded(document, nothing, format_), document.resource_version
    return msgspec.structs.replace(found, resource_version=version)  # type: ignore[type-var]  # a Struct is no Protocol to mypy


def _decoded(document: Document, nothing: A, format_: int) -> A:
    if document.format != str(format_):
        return nothing
    try:
        found = msgspec.json.decode(document.content, type=type(nothing))
    except (msgspec.DecodeError, UnicodeDecodeError):
        return nothing
    return found if (found.fleet, found.member_uid) == (nothing.fleet, nothing.member_uid) else nothing
