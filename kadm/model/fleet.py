"""kadm.yaml: kind Fleet (design, section 3)."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

FLEET_API_VERSION = "kadm.io/v1alpha1"


class Entry(Struct, frozen=True, forbid_unknown_fields=True, rename="camel", kw_only=True):
    """Where manifests are, and what binds those that do not say it themselves. ``path`` is relative to kadm.yaml."""

    path: str
    namespace: str = ""
    propagation_policy: str = ""
    cluster_propagation_policy: str = ""
    override_policy: str = ""
    cluster_override_policy: str = ""


class Defaults(Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """Policies of objects that neither their labels nor their entry bind."""

    propagation_policy: str = ""
    cluster_propagation_policy: str = ""
    override_policy: str = ""
    cluster_override_policy: str = ""


class Deletions(Struct, frozen=True, forbid_unknown_fields=True):
    """How many deletions pass without a flag, per member: both bounds must hold (design, section 8)."""

    max: Annotated[int, Meta(ge=0)] = 10
    percent: Annotated[int, Meta(ge=0, le=100)] = 20


class Wave(Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """Members that are written together, before the next wave."""

    name: str = ""
    clusters: tuple[str, ...] = ()
    cluster_selector: dict[str, str] = {}
    pause: bool = False


class Rollout(Struct, frozen=True, forbid_unknown_fields=True):
    """Order of members."""

    waves: tuple[Wave, ...] = ()


class IgnoreRule(Struct, frozen=True, forbid_unknown_fields=True):
    """Live differences that kadm leaves alone; an absent criterion matches everything."""

    kind: str = ""
    group: str = ""
    namespace: str = ""
    name: str = ""
    path: str = ""
    manager: str = ""


class FleetSpec(Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """What the fleet consists of, and how careful kadm is with it."""

    manifests: tuple[str | Entry, ...] = ("manifests",)
    policies: tuple[str, ...] = ("policies",)
    clusters: tuple[str, ...] = ("clusters",)
    namespace: str = "default"
    defaults: Defaults = Defaults()
    allow_placement_annotations: bool = True
    deletions: Deletions = Deletions()
    rollout: Rollout = Rollout()
    ignore: tuple[IgnoreRule, ...] = ()
    katalyst: bool = False
    """Whether requests for Katalyst's resources count in scheduling (scheduling spec 3.2)."""
    suspend: bool = False


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
