"""Which ordinals the pods of a divided StatefulSet have in each member (design, section 7).

Each member gets a block of ordinals, so that no two pods of the StatefulSet have the same name: block k begins at k
thousand, the first member has block 0. A block is given once: the start of a live StatefulSet never changes. It is
remembered of a member that was left, too, where its volumes may still be. A member whose Kubernetes cannot begin
elsewhere (before 1.27, KEP-3335) can only have block 0.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence

from kadm.schedule.history import Past
from kadm.schedule.member import Member
from kadm.schedule.unit import SchedulingUnit

Blocks = Mapping[str, int]
"""Member → number of its block."""

_FIRST_WITH_ORDINALS = (1, 27)
_VERSION = re.compile(r"v?(?P<major>[0-9]+)\.(?P<minor>[0-9]+)")


def has_ordinals(unit: SchedulingUnit) -> bool:
    """Whether it is a StatefulSet that is divided."""
    return _is_stateful_set(unit) and unit.rules.mode == "Divide"


def remembered(unit: SchedulingUnit, past: Iterable[Past]) -> Blocks:
    """The blocks that past decisions (the latest first) gave, sorted by member.

    Where one put a StatefulSet without giving a block, it has the ordinals from 0. What is no StatefulSet has none;
    one that is not divided (any more) has those that are not 0, for as long as it is live.
    """
    if not _is_stateful_set(unit):
        return {}
    found: dict[str, int] = {}
    for decision in reversed(tuple(past)):
        found.update({name: decision.blocks.get(name, 0) for name in decision.placement})
        found.update(decision.blocks)
    divided = unit.rules.mode == "Divide"
    return {name: block for name, block in sorted(found.items()) if block or divided}


def cannot_number(blocks: Blocks, members: Sequence[Member], *, held_by: Collection[str]) -> Mapping[str, str]:
    """Which of ``members`` (in the order of selection) cannot take a divided StatefulSet → why. ``held_by`` have it."""
    zero = next((name for name in sorted(held_by) if blocks.get(name, 0) == 0), "")
    refused: dict[str, str] = {}
    for member in members:
        if member.name in held_by or _begins_anywhere(member):
            continue
        if zero:
            cannot = f"its Kubernetes {member.version} numbers pods from 0 only (1.27 is needed)"
            refused[member.name] = f"{cannot}, and {zero} has these ordinals"
        else:
            zero = member.name
    return refused


def assigned(blocks: Blocks, members: Sequence[Member], *, held_by: Collection[str]) -> Blocks:
    """The blocks with one for each of ``members``, sorted by member. ``held_by`` are those that keep theirs.

    A new member gets the block that it had before, else the lowest that no member ever had; one that can only begin at
    0 gets block 0, also where a member had it that was left.
    """
    found = dict(blocks)
    for member in members:
        if member.name not in held_by and not _begins_anywhere(member):
            found = {name: block for name, block in found.items() if block or name in held_by}
            found[member.name] = 0
    for member in sorted(members, key=lambda member: member.name):
        if member.name not in found:
            taken = set(found.values())
            found[member.name] = next(block for block in range(len(taken) + 1) if block not in taken)
    return dict(sorted(found.items()))


def overlapping(blocks: Blocks, members: Iterable[str]) -> list[str]:
    """Those of ``members`` that have the same block as another one of them, sorted."""
    by_block: dict[int, list[str]] = {}
    for name in members:
        by_block.setdefault(blocks[name], []).append(name)
    return sorted(name for names in by_block.values() if len(names) > 1 for name in names)


def _is_stateful_set(unit: SchedulingUnit) -> bool:
    return (unit.key.group, unit.key.kind) == ("apps", "StatefulSet")


def _begins_anywhere(member: Member) -> bool:
    """Whether its StatefulSets can begin at any ordinal. A version that cannot be read is none that can."""
    match = _VERSION.match(member.version)
    return match is not None and (int(match["major"]), int(match["minor"])) >= _FIRST_WITH_ORDINALS
