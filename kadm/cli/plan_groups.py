"""Changes that are the same in several members, as one: what people review is the change, not its copies."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import msgspec
from msgspec import Struct

from kadm.model.objects import ObjectKey
from kadm.model.plan import Action, Change, Held, Plan, Unplaced

LISTED = 12
"""So many members of a group are named, but of what leaves all are."""

HELD_LISTED = 4
"""So many objects of a group that is held back are named."""

_ONE_OBJECT = re.compile(r"--adopt \S+/[^\s,]+")

LEAVING: tuple[Action, ...] = ("delete", "release")


class Group(Struct, frozen=True):
    """One change, and the members (sorted) in which it is the same."""

    change: Change
    members: tuple[str, ...]


class HeldGroup(Struct, frozen=True, kw_only=True):
    """Objects that ``flag`` permits to change, for one reason, in the members (in words) that ``where`` names."""

    action: Action
    keys: tuple[ObjectKey, ...]
    where: str
    why: str
    flag: str


class Frozen(Struct, frozen=True):
    """An object that stays as it is, for one reason, in the members (in words) that ``where`` names."""

    key: ObjectKey
    why: str
    where: str


class Groups:
    """A plan's changes grouped over members, sorted by object, then by the first member; and what to say of each.

    What is created is one group per object, whatever its fields are in each member, unless ``creates_by_fields``: for
    those who show them.
    """

    def __init__(self, plan: Plan, *, creates_by_fields: bool = False) -> None:
        self._plan = plan
        self._creates_by_fields = creates_by_fields
        self._everywhere = set(plan.members)
        self._placements = {one.key: one.clusters for one in plan.placements}
        self._namespaces = {
            change.key.name for change in plan.changes if change.key.kind == "Namespace" and change.action == "create"
        }

    def __iter__(self) -> Iterator[Group]:
        members: dict[bytes, list[str]] = {}
        first: dict[bytes, Change] = {}
        for change in sorted(self._plan.changes, key=lambda one: (one.key, one.cluster)):
            fields = change.fields if change.action != "create" or self._creates_by_fields else ()
            mark = msgspec.json.encode([str(change.key), change.action, self._note(change), fields])
            first.setdefault(mark, change)
            members.setdefault(mark, []).append(change.cluster)
        return iter([Group(first[mark], tuple(names)) for mark, names in members.items()])

    def where(self, group: Group) -> str:
        """The members of a group in words; for a divided workload that is created, with its replicas in each."""
        divided = self._placements.get(group.change.key, {}) if group.change.action == "create" else {}
        numbers = {name: number for name, number in divided.items() if number is not None}
        if not numbers and len(group.members) > 1 and set(group.members) == self._everywhere:
            return "all members"
        names = [f"{name} ({numbers[name]})" if name in numbers else name for name in group.members]
        return ", ".join(names) if group.change.action in LEAVING else listed(names)

    def held(self) -> Iterator[HeldGroup]:
        """What is held back for one reason, and by one flag, in the same members, together, in the plan's order."""
        members: dict[tuple[ObjectKey, Action, str, str], list[Held]] = {}
        for one in self._plan.held:
            members.setdefault((one.change.key, one.change.action, one.why, one.flag), []).append(one)
        alike: dict[tuple[Action, str, str, str], list[Held]] = {}
        for (_, action, why, flag), ones in members.items():
            where = self.where(Group(ones[0].change, tuple(one.change.cluster for one in ones)))
            alike.setdefault((action, why, flag_for_many(flag), where), []).append(ones[0])
        for (action, why, flag, where), held in alike.items():
            yield HeldGroup(
                action=action,
                keys=tuple(one.change.key for one in held),
                where=where,
                why=why,
                flag=held[0].flag if len(held) == 1 else flag,
            )

    def frozen(self) -> Iterator[Frozen]:
        """What is frozen for the same reason in several members, once each, in the plan's order."""
        members: dict[tuple[ObjectKey, str], list[str]] = {}
        for member, objects in self._plan.frozen.items():
            for key, why in objects.items():
                members.setdefault((key, why), []).append(member)
        for (key, why), names in members.items():
            everywhere = len(names) > 1 and set(names) == self._everywhere
            yield Frozen(key, why, "all members" if everywhere else listed(names))

    def unplaced(self) -> Iterator[tuple[str, Sequence[Unplaced]]]:
        """What fits nowhere, together where it is for the same reason, in the plan's order: reason, and what."""
        alike: dict[str, list[Unplaced]] = {}
        for one in self._plan.unplaced:
            alike.setdefault(one.why, []).append(one)
        return iter(alike.items())

    def note(self, group: Group) -> str:
        """What is to be said of a change, but that it waits for a namespace which the same plan creates."""
        return self._note(group.change)

    def _note(self, change: Change) -> str:
        obvious = change.action == "create" and change.key.namespace in self._namespaces
        return "" if obvious else change.note


def flag_for_many(flag: str) -> str:
    """The flag without the object that it names: what is permitted in the same way is told together."""
    return _ONE_OBJECT.sub("--adopt KIND/NAME", flag)


def listed(names: Sequence[str], most: int = LISTED) -> str:
    """The names, but of many only the first, and how many more there are."""
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")
