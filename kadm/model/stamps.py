"""Stamps: what kadm saw of each object when the last apply had settled (design, sections 5 and 6).

They live beside the record, in a document of their own, for they change more often than the inventory. Losing them
costs dry runs, never correctness.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from kadm.model.objects import ObjectKey

STAMPS_FORMAT = 1


class Stamp(Struct, frozen=True, array_like=True):
    """Two short hashes of one object, each of the desired object's digest, of kadm's entry in managedFields byte for
    byte, and of the live object: of its ``raw`` bytes, or of the ``projected`` values at the desired fields."""

    raw: str
    projected: str


class Taken(Struct, frozen=True, kw_only=True):
    """A field that kadm took back from a manager, and how often since the desired object last changed (``digest``)."""

    path: str
    manager: str
    times: int
    digest: str


class Stamps(Struct, frozen=True, kw_only=True):
    """All stamps of one member, key as text → stamp. ``resource_version`` is the document's; it is not stored.

    ``taken``: what kadm took back from others, key as text → fields; the memory by which a contest is known.
    """

    fleet: str
    member_uid: str
    objects: Mapping[str, Stamp] = {}
    taken: Mapping[str, tuple[Taken, ...]] = {}
    format: int = STAMPS_FORMAT
    resource_version: str = ""

    def of(self, key: ObjectKey) -> Stamp | None:
        """The stamp of one object, or None where there is none."""
        return self.objects.get(stamp_key(key))


def stamp_key(key: ObjectKey) -> str:
    """An object's key as the document spells it: ``group/kind/namespace/name``, parts may be empty."""
    return f"{key.group}/{key.kind}/{key.namespace}/{key.name}"


def key_of_stamp(text: str) -> ObjectKey:
    """The key that ``stamp_key`` spelt: no part of a key holds a slash."""
    return ObjectKey(*text.split("/"))
