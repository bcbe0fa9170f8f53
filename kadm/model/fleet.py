"""kadm.yaml: kind Fleet (design, section 3)."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

FLEET_API_VERSION = "kadm.io/v1alpha1"


class Helm(Struct, frozen=True, forbid_unknown_fields=True, rename="camel", kw_only=True):
    """How a Helm chart is rendered."""

    release_name: str = ""
    """The release's name; else that of the chart's directory."""
    namespace: str = ""
    """The release's namespace; else that of the entry, else spec.namespace."""
    values_files: tuple[str, ...] = ()
    """Files of values, relative to kadm.yaml; later ones win."""
    values: dict[str, Any] = {}
    """Values that win over those of files."""
    kube_version: str = ""
    """Version of Kubernetes that the chart is told; else that of the helm program."""
    api_versions: tuple[str, ...] = ()
    """API versions that the chart is told beside those of Kubernetes, for example monitoring.coreos.com/v1."""


class Entry(Struct, frozen=True, forbid_unknown_fields=True, rename="camel", kw_only=True):
    """Where manifests are, and what binds those that do not say it themselves. ``path`` is relative to kadm.yaml."""

    path: str
    """A file, a directory or a pattern, relative to kadm.yaml."""
    namespace: str = ""
    """Of objects that do not say theirs."""
    propagation_policy: str = ""
    """PropagationPolicy of objects without a label that names one."""
    cluster_propagation_policy: str = ""
    """ClusterPropagationPolicy of objects without a label that names one."""
    override_policy: str = ""
    """OverridePolicy of objects without a label that names one."""
    cluster_override_policy: str = ""
    """ClusterOverridePolicy of objects without a label that names one."""
    helm: Helm | None = None
    """For a directory with Chart.yaml: how the chart is rendered."""


class Defaults(Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """Policies of objects that neither their labels nor their entry bind."""

    propagation_policy: str = ""
    """PropagationPolicy of what nothing else binds."""
    cluster_propagation_policy: str = ""
    """ClusterPropagationPolicy of what nothing else binds."""
    override_policy: str = ""
    """OverridePolicy of what nothing else binds."""
    cluster_override_policy: str = ""
    """ClusterOverridePolicy of what nothing else binds."""


class Deletions(Struct, frozen=True, forbid_unknown_fields=True):
    """How many deletions pass without a flag, in each member and in all: every bound must hold (design, section 8)."""

    max: Annotated[int, Meta(ge=0)] = 10
    """So many deletions in one member need no flag."""
    percent: Annotated[int, Meta(ge=0, le=100)] = 20
    """So many percent of a member's objects need no flag, rounded up; in all members, what that comes to."""
    total: Annotated[int, Meta(ge=0)] | None = None
    """So many deletions in all members together need no flag; absent: percent alone bounds them."""


class Wave(Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """Members that are written together, before the next wave."""

    name: str = ""
    """What it is called."""
    clusters: tuple[str, ...] = ()
    """Names of members."""
    cluster_selector: dict[str, str] = {}
    """Labels of members, all of them."""
    pause: bool = False
    """Wait for a person before the next wave."""


class Rollout(Struct, frozen=True, forbid_unknown_fields=True):
    """Order of members."""

    waves: tuple[Wave, ...] = ()
    """In order; each is ready before the next begins."""


class IgnoreRule(Struct, frozen=True, forbid_unknown_fields=True):
    """Live differences that kadm leaves alone; an absent criterion matches everything."""

    kind: str = ""
    """Only this kind."""
    group: str = ""
    """Only this API group."""
    namespace: str = ""
    """Only this namespace."""
    name: str = ""
    """Only objects of this name."""
    path: str = ""
    """Only this field."""
    manager: str = ""
    """Only fields that this field manager set."""


class FleetSpec(Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """What the fleet consists of, and how careful kadm is with it."""

    manifests: tuple[str | Entry, ...] = ("manifests",)
    """Where native objects are: files, directories, patterns, or mappings that also bind them."""
    policies: tuple[str, ...] = ("policies",)
    """Where policies are."""
    clusters: tuple[str, ...] = ("clusters",)
    """Where members are described."""
    namespace: str = "default"
    """Of objects and policies that do not say theirs."""
    defaults: Defaults = Defaults()
    """Policies of what nothing else binds."""
    allow_placement_annotations: bool = True
    """Whether annotations of an object count instead of its policy's fields."""
    deletions: Deletions = Deletions()
    """How many deletions need no flag."""
    rollout: Rollout = Rollout()
    """In which order members are written."""
    ignore: tuple[IgnoreRule, ...] = ()
    """Live differences that are left alone."""
    katalyst: bool = False
    """Whether requests for Katalyst's resources count in scheduling (scheduling spec 3.2)."""
    suspend: bool = False
    """Nothing is planned or written anywhere."""


class FleetMetadata(Struct, frozen=True, rename="camel"):
    """``name`` names the record, the field manager and the ApplySet in every member."""

    name: Annotated[str, Meta(pattern="^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", max_length=63)]
    labels: dict[str, str] = {}
    annotations: dict[str, Any] = {}


class Fleet(Struct, frozen=True, forbid_unknown_fields=True, rename="camel", kw_only=True):
    """The fleet: kadm.yaml as a whole."""

    api_version: Literal["kadm.io/v1alpha1"]
    kind: Literal["Fleet"]
    metadata: FleetMetadata
    spec: FleetSpec = FleetSpec()

    @property
    def name(self) -> str:
        return self.metadata.name

    @property
    def field_manager(self) -> str:
        """The one field manager of this fleet; used by no write but apply (design, section 6)."""
        return f"kadm-{self.metadata.name}"

    @property
    def record_name(self) -> str:
        """Name of the record's ConfigMap in namespace ``kadm-system`` (design, section 5)."""
        return f"kadm-{self.metadata.name}"
