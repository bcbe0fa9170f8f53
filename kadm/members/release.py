"""Letting go of an object without changing what it does."""

from __future__ import annotations

from kadm.members import resources
from kadm.members.connection import Connection
from kadm.model.applyset import PART_OF
from kadm.model.objects import JsonObject
from kadm.model.observation import ApiResource

RELEASE_MANAGER = "kadm-repair"


def release_operations(live: JsonObject, manager: str, set_id: str) -> list[JsonObject]:
    """The JSON patch (RFC 6902) that takes the set's label and ``manager``'s apply entries off a live object.

    It holds the object's resourceVersion, so that one that changed meanwhile is a 409. Empty where nothing of kadm is
    on the object. Never an apply of less: that would wipe what nobody else owns (design, section 5).
    """
    metadata = live["metadata"]
    operations: list[JsonObject] = []
    if (metadata.get("labels") or {}).get(PART_OF) == set_id:
        operations.append({"op": "remove", "path": f"/metadata/labels/{PART_OF.replace('/', '~1')}"})
    entries = metadata.get("managedFields") or []
    kept = [entry for entry in entries if (entry.get("manager"), entry.get("operation")) != (manager, "Apply")]
    if len(kept) < len(entries):
        # An empty list means "as it was" to the API server; one empty entry is how all of them are dropped.
        operations.append({"op": "replace", "path": "/metadata/managedFields", "value": kept or [{}]})
    if not operations:
        return []
    fence = {"op": "replace", "path": "/metadata/resourceVersion", "value": metadata["resourceVersion"]}
    return [*operations, fence]


async def release(
    connection: Connection, resource: ApiResource, live: JsonObject, *, manager: str, set_id: str
) -> bool:
    """Release a live object; False where nothing of kadm was on it.

    Raises MemberRefused: 409 where it changed since ``live`` was read, 404 where it is gone.
    """
    operations = release_operations(live, manager, set_id)
    if operations:
        metadata = live["metadata"]
        await resources.json_patch(
            connection,
            resource,
            metadata.get("namespace") or "",
            metadata["name"],
            operations,
            manager=RELEASE_MANAGER,
        )
    return bool(operations)
