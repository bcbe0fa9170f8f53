"""What shows that kadm wrote to a member that holds no record: then the record was lost, and is not merely missing.

A label alone is no trace, for controllers copy labels; nor is an object that is going (design, section 5).
"""

from __future__ import annotations

from collections.abc import Collection

from kadm.errors import MemberRefused
from kadm.members import resources
from kadm.members.connection import Connection
from kadm.members.record import record_name
from kadm.members.stamps import has_stamps
from kadm.members.together import together
from kadm.model.applyset import PART_OF, applyset_id
from kadm.model.objects import JsonObject
from kadm.model.observation import ApiResource

_LOOKED_AT = frozenset(
    {
        ("", "ConfigMap"),
        ("", "Namespace"),
        ("", "Service"),
        ("apps", "DaemonSet"),
        ("apps", "Deployment"),
        ("apps", "StatefulSet"),
        ("batch", "CronJob"),
        ("batch", "Job"),
    }
)
"""Nearly every fleet places some of these; pods and events are too many to be looked through."""


def is_placed(obj: JsonObject, *, manager: str) -> bool:
    """Whether the live object, which carries a fleet's label, was applied by its manager and belongs to nobody else."""
    metadata = obj["metadata"]
    applied = any(
        (entry.get("manager"), entry.get("operation")) == (manager, "Apply")
        for entry in metadata.get("managedFields") or ()
    )
    return applied and not metadata.get("ownerReferences")


def is_trace(obj: JsonObject, *, set_id: str, manager: str) -> bool:
    """Whether the live object can be in the member only because the fleet placed it, and stays."""
    metadata = obj["metadata"]
    labelled = (metadata.get("labels") or {}).get(PART_OF) == set_id
    return labelled and not metadata.get("deletionTimestamp") and is_placed(obj, manager=manager)


async def has_traces(connection: Connection, fleet: str, served: Collection[ApiResource]) -> bool:
    """Whether the member holds stamps of the fleet, or objects that it placed, of the common kinds.

    Kinds that may not be listed tell nothing. Raises MemberError for any other fault.
    """
    if await has_stamps(connection, fleet):
        return True
    name = record_name(fleet)  # the fleet's field manager is called like it
    set_id = applyset_id(name)
    chosen: dict[tuple[str, str], ApiResource] = {}
    for resource in served:
        if (resource.group, resource.kind) in _LOOKED_AT and "list" in resource.verbs:
            chosen.setdefault((resource.group, resource.kind), resource)

    async def listed(resource: ApiResource) -> bool:
        try:
            found = await resources.list_objects(connection, resource, labels=f"{PART_OF}={set_id}")
        except MemberRefused as refused:
            if refused.status == 403:
                return False
            raise
        return any(is_trace(obj, set_id=set_id, manager=name) for obj in found)

    return any((await together({f"traces in {one.gvk}": listed(one) for one in chosen.values()})).values())
