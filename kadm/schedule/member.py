"""A member as scheduling sees it: what the repository says of it, and what it answered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from kadm.model.cluster import FederatedCluster, Taint
from kadm.model.objects import GroupVersionKind
from kadm.model.observation import Capacity, MemberState, Observation, Ready, Unread
from kadm.model.quantity import parse_quantity
from kadm.model.repository import Repo

NOT_OBSERVED = "it was not asked"


@dataclass(frozen=True, slots=True, kw_only=True)
class Resources:
    """What a member can hand out, and what is left of it: resource name → amount. ``available`` may be negative."""

    allocatable: Mapping[str, Fraction]
    available: Mapping[str, Fraction]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Member:
    """One candidate. Of an unread member only what the repository says is known: ``ready`` and ``served`` are None.

    ``unread`` says why it could not be read, empty where it was. ``capacity`` None: not asked for, or not readable.
    """

    name: str
    labels: Mapping[str, str]
    taints: tuple[Taint, ...]
    terminating: bool = False
    ready: Ready | None = "True"
    ready_reason: str = ""
    served: frozenset[GroupVersionKind] | None = frozenset()
    undiscovered: Mapping[str, str] = field(default_factory=dict)
    """``group/version`` → why the member could not say what it serves of it."""
    capacity: Resources | None = None
    version: str = ""
    """Of its API server, e.g. ``v1.36.2``; empty where it was not read."""
    unread: str = ""

    def serves(self, gvk: GroupVersionKind) -> bool | None:
        """Whether the member serves exactly this type; None where that is not known."""
        if self.served is None:
            return None
        if gvk in self.served:
            return True
        return None if gvk.api_version in self.undiscovered else False


def members_of(repo: Repo, observation: Observation) -> tuple[Member, ...]:
    """The candidates, sorted by name: the members of the repository. One that was not observed counts as unread.

    Raises QuantityError where a member's capacity is no quantity.
    """
    clusters = sorted(repo.clusters, key=lambda cluster: cluster.name)
    return tuple(_member(cluster, observation.members.get(cluster.name)) for cluster in clusters)


def _member(cluster: FederatedCluster, state: MemberState | Unread | None) -> Member:
    if not isinstance(state, MemberState):
        return Member(
            name=cluster.name,
            labels=cluster.labels,
            taints=cluster.spec.taints,
            terminating=cluster.terminating,
            ready=None,
            served=None,
            unread=state.problem.what if state else NOT_OBSERVED,
        )
    return Member(
        name=cluster.name,
        labels=cluster.labels,
        taints=cluster.spec.taints,
        terminating=cluster.terminating,
        ready=state.ready,
        ready_reason=state.ready_reason,
        served=frozenset(resource.gvk for resource in state.api_resources),
        undiscovered=state.undiscovered,
        capacity=_resources(state.capacity),
        version=state.version,
    )


def _resources(capacity: Capacity | None) -> Resources | None:
    if capacity is None:
        return None
    return Resources(allocatable=_amounts(capacity.allocatable), available=_amounts(capacity.available))


def _amounts(quantities: Mapping[str, str]) -> dict[str, Fraction]:
    return {resource: parse_quantity(text) for resource, text in quantities.items()}
