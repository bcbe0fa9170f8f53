"""Changes that are the same in several members, as one: what people review is the change, not its copies."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from msgspec import Struct

from kadm.model.plan import Change, Plan


class Group(Struct, frozen=True):
    """One change, and the members (sorted) in which it is the same."""

    change: Change
    members: tuple[str, ...]


def grouped(changes: Sequence[Change], *, creates_by_fields: bool = False) -> list[Group]:
    """The changes grouped over members, sorted by object, then by the first member.

    What is created is one group per object, whatever its fields are in each member, unless ``creates_by_fields``: for
    those who show them.
    """
    members: dict[bytes, list[str]] = {}
    first: dict[bytes, Change] = {}
    for change in sorted(changes, key=lambda one: (one.key, one.cluster)):
        fields = change.fields if change.action != "create" or creates_by_fields else ()
        mark = msgspec.json.encode([str(change.key), change.action, change.note, fields])
        first.setdefault(mark, change)
        members.setdefault(mark, []).append(change.cluster)
    return [Group(first[mark], tuple(names)) for mark, names in members.items()]


def where(group: Group, plan: Plan) -> str:
    """The members of a group in words; for a divided workload that is created, with its replicas in each."""
    divided: dict[str, int] = {}
    if group.change.action == "create":
        for placement in plan.placements:
            if placement.key == group.change.key:
                divided = {name: number for name, number in placement.clusters.items() if number is not None}
    if divided:
        return ", ".join(f"{name} ({divided[name]})" if name in divided else name for name in group.members)
    everywhere = {change.cluster for change in plan.changes}
    return "all members" if len(group.members) > 1 and set(group.members) == everywhere else ", ".join(group.members)


def note(group: Group, plan: Plan) -> str:
    """What is to be said of a change, but that it waits for a namespace which the same plan creates: all see that."""
    made = {change.key.name for change in plan.changes if change.key.kind == "Namespace" and change.action == "create"}
    return "" if group.change.action == "create" and group.change.key.namespace in made else group.change.note
