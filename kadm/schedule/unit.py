"""A scheduling unit: one object, and all that its policy and annotations ask for (scheduling spec, section 2)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from kadm.model.objects import GroupVersionKind, ObjectKey
from kadm.model.policy import (
    AutoMigration,
    Placement,
    PropagationPolicySpec,
    ReplicasStrategy,
    SchedulingMode,
    SelectorTerm,
    Toleration,
)
from kadm.schedule.resources import Amounts


@dataclass(frozen=True, slots=True, kw_only=True)
class Preferred:
    """A term that adds ``weight`` (which may be negative) to the score of a member whose labels match."""

    weight: int
    term: SelectorTerm


@dataclass(frozen=True, slots=True, kw_only=True)
class Placements:
    """A placement list, by member. ``names`` empty: no restriction. ``minimums`` has every listed member, the rest
    those that set the field."""

    names: frozenset[str] = frozenset()
    minimums: Mapping[str, int] = field(default_factory=dict)
    maximums: Mapping[str, int] = field(default_factory=dict)
    weights: Mapping[str, int] = field(default_factory=dict)
    priorities: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Rules:
    """A policy together with what an object's annotations change in it.

    Compared by identity: whoever builds rules makes one value per distinct set, so that what depends only on the
    rules and a member is computed once. ``required`` None: no restriction; empty: no member matches.
    """

    mode: SchedulingMode
    strategy: ReplicasStrategy = "Spread"
    profile: str = ""
    sticky: bool = False
    avoid_disruption: bool = True
    selector: Mapping[str, str] = field(default_factory=dict)
    required: tuple[SelectorTerm, ...] | None = None
    preferred: tuple[Preferred, ...] = ()
    tolerations: tuple[Toleration, ...] = ()
    max_clusters: int | None = None
    placements: Placements = Placements()
    auto_migration: AutoMigration | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Migration:
    """What a workload's users and auto-migration say of single members (spec 2.4.1, 2.6).

    ``limited`` is never exceeded; a member in ``unavailable`` is left until the given time. ``estimated`` is what a
    member is believed to run, ``scheduled`` what found a node there; both only with auto-migration.
    """

    limited: Mapping[str, int] = field(default_factory=dict)
    unavailable: Mapping[str, datetime] = field(default_factory=dict)
    estimated: Mapping[str, int] = field(default_factory=dict)
    scheduled: Mapping[str, int] = field(default_factory=dict)


NO_MIGRATION = Migration()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SchedulingUnit:
    """One object to be placed.

    ``replicas`` is the total to divide, None in mode Duplicate. ``current`` is the last decision, member → replicas,
    None where it was not divided. ``request`` is what one pod asks for of the resources that scheduling looks at by
    default (scalars, spec 2.3), ``pod_request`` all that it asks for.
    """

    key: ObjectKey
    gvk: GroupVersionKind
    rules: Rules
    replicas: int | None = None
    current: Mapping[str, int | None] = field(default_factory=dict)
    request: Amounts = field(default_factory=dict)
    pod_request: Amounts = field(default_factory=dict)
    migration: Migration = NO_MIGRATION
    now: datetime
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """``namespace/name``, or ``name``: it also breaks ties between members."""
        return self.key.qualified_name

    def current_replicas(self, member: str) -> int:
        """What ``member`` holds by the last decision; the full total where that was not divided (spec 2.5)."""
        replicas = self.current.get(member, 0)
        return (self.replicas or 0) if replicas is None else replicas

    def replicas_of(self, placement: Mapping[str, int | None]) -> dict[str, int]:
        """Member → replicas of a decision; the full total where that did not divide (spec 2.5)."""
        total = self.replicas or 0
        return {member: total if replicas is None else replicas for member, replicas in placement.items()}


def rules_of(spec: PropagationPolicySpec) -> Rules:
    """The rules of a policy that no annotation changes."""
    return Rules(
        mode=spec.scheduling_mode,
        strategy=spec.replicas_strategy,
        profile=spec.scheduling_profile,
        sticky=spec.reschedule_policy.disable_rescheduling,
        avoid_disruption=spec.reschedule_policy.replica_rescheduling.avoid_disruption,
        selector=spec.cluster_selector,
        required=spec.cluster_affinity or None,
        tolerations=spec.tolerations,
        max_clusters=spec.max_clusters,
        placements=placements_of(spec.placement),
        auto_migration=spec.auto_migration,
    )


def placements_of(entries: tuple[Placement, ...]) -> Placements:
    """The list by member. Of a repeated member the last entry counts, field by field where it sets one (spec 1.2)."""
    return Placements(
        names=frozenset(entry.cluster for entry in entries),
        minimums={entry.cluster: entry.preferences.min_replicas for entry in entries},
        maximums={
            entry.cluster: entry.preferences.max_replicas
            for entry in entries
            if entry.preferences.max_replicas is not None
        },
        weights={entry.cluster: entry.preferences.weight for entry in entries if entry.preferences.weight is not None},
        priorities={
            entry.cluster: entry.preferences.priority for entry in entries if entry.preferences.priority is not None
        },
    )
