"""The desired and the recorded objects of one member as they are live."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from msgspec import Raw
from msgspec.structs import replace

from kadm.errors import MemberRefused, Problem
from kadm.members.connection import Connection
from kadm.members.resources import get_raw, key_in, list_as
from kadm.members.together import together
from kadm.model.applyset import PART_OF
from kadm.model.live import LiveMember, RawObject
from kadm.model.objects import GroupVersionKind, JsonObject, ObjectKey
from kadm.model.observation import ApiResource, MemberState


def _none(_key: ObjectKey, _live: RawObject) -> bool:
    return False


async def read_live(
    connection: Connection,
    state: MemberState,
    wanted: Mapping[ObjectKey, str],
    *,
    set_id: str,
    settled: Callable[[ObjectKey, RawObject], bool] = _none,
) -> LiveMember:
    """Every object of ``wanted`` (key → version) that exists in the member.

    One LIST per kind, by the set's label; what the answer lacks is read by name, for the label can be stripped and may
    not be there yet (design, section 5). ``settled`` says of each whether it needs nothing; such an object is neither
    decoded nor kept. An object that could not be read is ``unread``, never absent; so is one of a group that discovery
    could not read. One of a kind that the member does not serve is absent.

    Raises MemberError where the member as a whole does not answer.
    """
    objects: dict[ObjectKey, JsonObject] = {}
    proved: set[ObjectKey] = set()
    unread: dict[ObjectKey, Problem] = {}
    by_resource: dict[ApiResource, list[ObjectKey]] = {}
    for key, version in sorted(wanted.items()):
        resource = served(state, key, version)
        if resource is not None:
            by_resource.setdefault(resource, []).append(key)
        elif failed := [group for group in state.undiscovered if group.partition("/")[0] == key.group]:
            unread[key] = _undiscovered(state, key, failed[0])

    def take(key: ObjectKey, live: RawObject) -> None:
        if settled(key, live):
            proved.add(key)
        else:
            objects[key] = live.decoded

    async def read_kind(resource: ApiResource, keys: list[ObjectKey]) -> None:
        if len(keys) > 1:  # a single object is cheaper by name, and the answer is as certain
            try:
                listed = await list_as(connection, resource, dict[str, Raw], labels=f"{PART_OF}={set_id}")
            except MemberRefused as error:
                unread.update(dict.fromkeys(keys, replace(error.problem, partial=True)))
                return
            asked = set(keys)
            for fields in listed:
                live = RawObject(fields, resource.gvk.api_version, resource.kind)
                key = key_in(resource, live.namespace, live.name)
                if key in asked:
                    take(key, live)
        missing = [key for key in keys if key not in objects and key not in proved]
        await together({f"{state.name} {key}": read_one(resource, key) for key in missing})

    async def read_one(resource: ApiResource, key: ObjectKey) -> None:
        try:
            live = await get_raw(connection, resource, key.namespace, key.name)
        except MemberRefused as error:
            unread[key] = replace(error.problem, partial=True)
            return
        if live is not None:
            take(key, live)

    await together(
        {f"{state.name} {resource.gvk}": read_kind(resource, keys) for resource, keys in by_resource.items()}
    )
    return LiveMember(
        name=state.name,
        objects=dict(sorted(objects.items())),
        settled=frozenset(proved),
        unread=dict(sorted(unread.items())),
    )


def _undiscovered(state: MemberState, key: ObjectKey, group_version: str) -> Problem:
    return Problem(
        what="it could not be read",
        member=state.name,
        object=str(key),
        why=f"discovery of {group_version} failed: {state.undiscovered[group_version]}",
        hint="its API service may be down: kubectl get apiservices",
        partial=True,
    )


def served(state: MemberState, key: ObjectKey, version: str) -> ApiResource | None:
    """The type to read or delete an object with: in this version, else in any that the member serves."""
    exact = state.serving(GroupVersionKind(key.group, version, key.kind))
    if exact is not None:
        return exact
    return next((one for one in state.api_resources if (one.group, one.kind) == (key.group, key.kind)), None)
