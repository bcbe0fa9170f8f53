"""What ``kadm.repo`` reads from a directory or a commit: the type between load and every later stage."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from msgspec import Struct
from msgspec.structs import replace

from kadm.errors import Location, Problem
from kadm.model.cluster import FederatedCluster
from kadm.model.fleet import Fleet
from kadm.model.objects import JsonObject, ObjectKey, Path
from kadm.model.override import OverridePolicy
from kadm.model.policy import (
    FederatedTypeConfig,
    PolicyKey,
    PolicyRef,
    PropagationPolicy,
    SchedulingProfile,
    WebhookConfiguration,
)

RECORD_NAMESPACE = "kadm-system"
"""Where kadm keeps its records in a member."""


class Revision(Struct, frozen=True):
    """A git commit (40 hex digits), and whether the work tree differed from it."""

    commit: str
    dirty: bool = False

    def __str__(self) -> str:
        return f"{self.commit}+dirty" if self.dirty else self.commit


class Manifest(Struct, frozen=True, kw_only=True):
    """One native object of the repository, with what binds it.

    ``object`` is as read, with namespace filled in for namespaced kinds; KubeAdmiral's labels and annotations are
    still on it (render takes them off). ``locate`` maps a path in ``object`` to its position in the file; a path that
    the file does not hold gives the nearest parent's. ``namespaced`` is None where neither a table nor the
    repository's CRDs know the kind: members' discovery decides.
    """

    key: ObjectKey
    version: str
    object: JsonObject
    location: Location
    locate: Callable[[Path], Location]
    namespaced: bool | None = None
    propagation: PolicyRef | None = None
    overrides: tuple[PolicyRef, ...] = ()
    """ClusterOverridePolicy first, OverridePolicy second (propagation spec 1.1)."""


class Repo(Struct, frozen=True, kw_only=True):
    """A fleet's repository, complete and valid. Sequences are sorted by key, maps have sorted keys."""

    root: str
    fleet: Fleet
    revision: Revision | None
    """None outside git."""
    clusters: tuple[FederatedCluster, ...]
    manifests: tuple[Manifest, ...]
    propagation_policies: Mapping[PolicyKey, PropagationPolicy]
    override_policies: Mapping[PolicyKey, OverridePolicy]
    profiles: Mapping[str, SchedulingProfile]
    webhooks: Mapping[str, WebhookConfiguration]
    type_configs: Mapping[str, FederatedTypeConfig]
    warnings: tuple[Problem, ...] = ()

    def cluster(self, name: str) -> FederatedCluster | None:
        """The member of this name, or None."""
        return next((cluster for cluster in self.clusters if cluster.name == name), None)

    def migrates(self, manifest: Manifest) -> bool:
        """Whether replicas of the object's type may migrate: its FederatedTypeConfig does not switch that off."""
        key = manifest.key
        mine = (key.group, manifest.version, key.kind)
        switches = (
            config.spec.auto_migration
            for config in self.type_configs.values()
            if (config.spec.source_type.group, config.spec.source_type.version, config.spec.source_type.kind) == mine
        )
        return all(switch is None or switch.enabled for switch in switches)

    def without(self, members: Collection[str]) -> Repo:
        """The repository of a fleet that lacks these members; their policies are as they were."""
        return replace(self, clusters=tuple(cluster for cluster in self.clusters if cluster.name not in members))
