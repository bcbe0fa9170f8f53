"""Changes that are the same in several members, as one: what people review is the change, not its copies."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from msgspec import Struct

from kadm.model.plan import Change


class Group(Struct, frozen=True):
    """One change, and the members (sorted) in which it is the same."""

    change: Change
    members: tuple[str, ...]


def grouped(changes: Sequence[Change]) -> list[Group]:
    """The changes grouped over members, sorted by object, then by the first member."""
    members: dict[bytes, list[str]] = {}
    first: dict[bytes, Change] = {}
    for change in sorted(changes, key=lambda one: (one.key, one.cluster)):
        mark = msgspec.json.encode([str(change.key), change.action, change.note, change.fields])
        first.setdefault(mark, change)
        members.setdefault(mark, []).append(change.cluster)
    return [Group(first[mark], tuple(names)) for mark, names in members.items()]
