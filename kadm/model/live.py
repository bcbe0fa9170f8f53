"""Live objects of one member, and a member's answers to dry runs: what compare is given beside the desired state."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import msgspec
from msgspec import Raw, Struct

from kadm.errors import Problem
from kadm.model.objects import JsonObject, ObjectKey, Path


class _Metadata(Struct, rename="camel"):
    """What is read of an object's metadata without decoding the rest."""

    name: str
    uid: str = ""
    namespace: str = ""
    deletion_timestamp: str | None = None
    labels: Raw = Raw(b"null")
    annotations: dict[str, str] | None = None
    managed_fields: list[Raw] | None = None


class _Entry(Struct, rename="camel"):
    """What tells whose a managedFields entry is."""

    manager: str = ""
    operation: str = ""
    subresource: str = ""


@dataclass(frozen=True)
class RawObject:
    """A live object as its bytes came: top-level field → raw JSON. Decoded only where it has to be.

    ``api_version`` and ``kind`` are those of the request: lists leave them out of their items.
    """

    fields: Mapping[str, Raw]
    api_version: str
    kind: str

    @cached_property
    def _metadata(self) -> _Metadata:
        return msgspec.json.decode(self.fields["metadata"], type=_Metadata)

    @property
    def name(self) -> str:
        return self._metadata.name

    @property
    def namespace(self) -> str:
        """Empty for cluster scope."""
        return self._metadata.namespace

    @property
    def uid(self) -> str:
        return self._metadata.uid

    @property
    def deleting(self) -> bool:
        """Whether it is being deleted."""
        return self._metadata.deletion_timestamp is not None

    @property
    def labels(self) -> Raw:
        """The labels as raw JSON."""
        return self._metadata.labels

    @property
    def annotations(self) -> Mapping[str, str]:
        return self._metadata.annotations or {}

    def own_entry(self, manager: str) -> bytes | None:
        """The bytes of the entry that ``manager`` made by apply on the main resource, or None."""
        mark = manager.encode()
        for entry in self._metadata.managed_fields or ():
            if mark in bytes(entry):
                found = msgspec.json.decode(entry, type=_Entry)
                if (found.manager, found.operation, found.subresource) == (manager, "Apply", ""):
                    return bytes(entry)
        return None

    @cached_property
    def decoded(self) -> JsonObject:
        """The whole object."""
        whole = {name: msgspec.json.decode(raw) for name, raw in self.fields.items()}
        return {"apiVersion": self.api_version, "kind": self.kind, **whole}


class LiveMember(Struct, frozen=True, kw_only=True):
    """The desired and the recorded objects of one member as they are live.

    ``settled`` are proved to need nothing, and not kept. A key that is nowhere here is absent for certain: the member
    was asked and said so. ``unread`` objects are neither present nor absent.
    """

    name: str
    objects: Mapping[ObjectKey, JsonObject]
    settled: frozenset[ObjectKey] = frozenset()
    unread: Mapping[ObjectKey, Problem] = {}


class Fault(Struct, frozen=True):
    """One field that a member does not take, as its API server names it, and what it says about it."""

    field: str
    message: str


class DryRun(Struct, frozen=True, kw_only=True):
    """A member's answer to the dry run of one object.

    ``answered``: ``object`` is what the member would store. ``refused``: it would not take the object (``problem``);
    ``faults`` are the fields that it names. ``impossible``: it could not be asked (no permission to patch, the
    namespace or CRD is not there yet, a webhook that refuses dry runs); ``note`` says so in words.

    ``repair`` are paths of the live object that must be taken out first, with git's values set in the same patch:
    ``object`` is then what both leave. None: the apply alone does it. ``without`` is what the member would store if
    everything were taken out of ``object`` that git lacks and the apply leaves; None where there is no such thing.
    """

    outcome: Literal["answered", "refused", "impossible"]
    object: JsonObject | None = None
    problem: Problem | None = None
    faults: tuple[Fault, ...] = ()
    note: str = ""
    repair: tuple[Path, ...] | None = None
    without: JsonObject | None = None
