"""The desired and the recorded objects of one member as they are live."""

from __future__ import annotations

from collections.abc import Mapping

from kadm.errors import MemberRefused, Problem
from kadm.members.connection import Connection
from kadm.members.resources import get, list_objects
from kadm.members.together import together
from kadm.model.applyset import PART_OF
from kadm.model.live import LiveMember
from kadm.model.objects import GroupVersionKind, JsonObject, ObjectKey, key_of
from kadm.model.observation import ApiResource, MemberState


async def read_live(
    connection: Connection, state: MemberState, wanted: Mapping[ObjectKey, str], *, set_id: str
) -> LiveMember:
    """Every object of ``wanted`` (key → version) that exists in the member.

    One LIST per kind, by the set's label; what the answer lacks is read by name, for the label can be stripped and may
    not be there yet (design, section 5). An object that could not be read is ``unread``, never absent; so is one of a
    group that discovery could not read. One of a kind that the member does not serve is absent.

    Raises MemberError where the member as a whole does not answer.
    """
    objects: dict[ObjectKey, JsonObject] = {}
    unread: dict[ObjectKey, Problem] = {}
    by_resource: dict[ApiResource, list[ObjectKey]] = {}
    for key, version in sorted(wanted.items()):
        resource = served(state, key, version)
        if resource is not None:
            by_resource.setdefault(resource, []).append(key)
        elif failed := [group for group in state.undiscovered if group.partition("/")[0] == key.group]:
            unread[key] = Problem(
                what="it could not be read",
                member=state.name,
                object=str(key),
                why=f"discovery of {failed[0]} failed: {state.undiscovered[failed[0]]}",
                hint="its API service may be down: kubectl get apiservices",
            )

    async def read_kind(resource: ApiResource, keys: list[ObjectKey]) -> None:
        if len(keys) > 1:  # a single object is cheaper by name, and the answer is as certain
            try:
                listed = await list_objects(connection, resource, labels=f"{PART_OF}={set_id}")
            except MemberRefused as error:
                unread.update(dict.fromkeys(keys, error.problem))
                return
            found = {key_of(live): live for live in listed}
            objects.update({key: found[key] for key in keys if key in found})
        await together({f"{state.name} {key}": read_one(resource, key) for key in keys if key not in objects})

    async def read_one(resource: ApiResource, key: ObjectKey) -> None:
        try:
            live = await get(connection, resource, key.namespace, key.name)
        except MemberRefused as error:
            unread[key] = error.problem
            return
        if live is not None:
            objects[key] = live

    await together(
        {f"{state.name} {resource.plural}": read_kind(resource, keys) for resource, keys in by_resource.items()}
    )
    return LiveMember(name=state.name, objects=dict(sorted(objects.items())), unread=dict(sorted(unread.items())))


def served(state: MemberState, key: ObjectKey, version: str) -> ApiResource | None:
    """The type to read or delete an object with: in this version, else in any that the member serves."""
    exact = state.serving(GroupVersionKind(key.group, version, key.kind))
    if exact is not None:
        return exact
    return next((one for one in state.api_resources if (one.group, one.kind) == (key.group, key.kind)), None)
