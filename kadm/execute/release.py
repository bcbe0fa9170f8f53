"""Letting go of an object without changing what it does."""

from __future__ import annotations

from kadm.members.connection import Connection
from kadm.members.resources import get, json_patch
from kadm.model.applyset import PART_OF
from kadm.model.objects import JsonObject, ObjectKey
from kadm.model.observation import ApiResource


async def release(connection: Connection, resource: ApiResource, key: ObjectKey, *, uid: str, manager: str) -> None:
    """Take kadm's label and its entry in managedFields off the object, in one patch with resourceVersion.

    Never an apply of less: it would wipe what nobody else owns (api-servers, 22). Nothing to do where the object is
    gone or another one. Raises MemberRefused (409) where it changed meanwhile.
    """
    live = await get(connection, resource, key.namespace, key.name)
    if live is None or live["metadata"].get("uid") != uid:
        return
    operations = release_operations(live, manager)
    await json_patch(connection, resource, key.namespace, key.name, operations, manager="kadm-repair")


def release_operations(live: JsonObject, manager: str) -> list[JsonObject]:
    """The RFC 6902 operations that release this live object."""
    metadata = live["metadata"]
    operations: list[JsonObject] = [
        {"op": "replace", "path": "/metadata/resourceVersion", "value": metadata["resourceVersion"]}
    ]
    if PART_OF in (metadata.get("labels") or {}):
        operations.append({"op": "remove", "path": f"/metadata/labels/{PART_OF.replace('/', '~1')}"})
    entries = metadata.get("managedFields") or []
    kept = [entry for entry in entries if not (entry.get("manager") == manager and entry.get("operation") == "Apply")]
    if len(kept) < len(entries):
        operations.append({"op": "replace", "path": "/metadata/managedFields", "value": kept or [{}]})
    return operations
