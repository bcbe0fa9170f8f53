"""What the members look like: the type between observe and the pure stages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

from kadm.errors import Problem
from kadm.model.objects import GroupVersionKind
from kadm.model.record import Record

Ready = Literal["True", "False", "Unknown"]


class ApiResource(Struct, frozen=True, order=True, kw_only=True):
    """One type that a member serves; subresources are left out. ``verbs`` are sorted, ``short_names`` as served."""

    group: str
    version: str
    kind: str
    plural: str
    namespaced: bool
    verbs: tuple[str, ...] = ()
    short_names: tuple[str, ...] = ()

    @property
    def gvk(self) -> GroupVersionKind:
        return GroupVersionKind(self.group, self.version, self.kind)


class Capacity(Struct, frozen=True, kw_only=True):
    """Resources of a member (propagation spec 8.5): quantities as canonical text; ``available`` may be negative."""

    nodes: int
    schedulable_nodes: int
    allocatable: Mapping[str, str]
    available: Mapping[str, str]


class MemberState(Struct, frozen=True, kw_only=True):
    """A member that was read in full."""

    name: str
    uid: str
    """uid of namespace kube-system."""
    version: str
    """gitVersion, e.g. ``v1.36.2``."""
    ready: Ready = "True"
    ready_reason: str = ""
    api_resources: tuple[ApiResource, ...] = ()
    """Sorted."""
    undiscovered: Mapping[str, str] = {}
    """``group/version`` → why its discovery failed: what it serves is unknown, not nothing. Sorted."""
    record: Record | None = None
    """None: kadm never wrote one here."""
    capacity: Capacity | None = None
    """None: not asked for."""

    def serving(self, gvk: GroupVersionKind) -> ApiResource | None:
        """The served type of exactly this group, version and kind, or None."""
        return next((resource for resource in self.api_resources if resource.gvk == gvk), None)


class Unread(Struct, frozen=True):
    """A member that could not be read: *unknown*, never empty."""

    name: str
    problem: Problem


class Observation(Struct, frozen=True):
    """Every member of the fleet by name (sorted): read, or unknown with the reason."""

    members: Mapping[str, MemberState | Unread]

    @property
    def read(self) -> Mapping[str, MemberState]:
        return {name: state for name, state in self.members.items() if isinstance(state, MemberState)}

    @property
    def unread(self) -> Mapping[str, Unread]:
        return {name: state for name, state in self.members.items() if isinstance(state, Unread)}
