"""KubeAdmiral's scheduling policies: PropagationPolicy, ClusterPropagationPolicy, SchedulingProfile, webhooks, FTCs.

Field names, defaults and bounds are those of the CRDs (scheduling spec, section 1). A policy as decoded holds what the
user wrote; ``kadm.repo`` applies the structural defaults of 1.2.1, so that stages see the effective policy.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from kadm.errors import Location

NonNegative = Annotated[int, Meta(ge=0)]

SchedulingMode = Literal["Duplicate", "Divide"]
ReplicasStrategy = Literal["Binpack", "Spread"]
SelectorOperator = Literal["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"]
TaintEffect = Literal["NoSchedule", "PreferNoSchedule", "NoExecute"]

PolicyKind = Literal["PropagationPolicy", "ClusterPropagationPolicy", "OverridePolicy", "ClusterOverridePolicy"]


class PolicyKey(Struct, frozen=True, order=True):
    """Identity of a policy. ``namespace`` is empty for the Cluster kinds."""

    kind: PolicyKind
    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind} {self.namespace}/{self.name}" if self.namespace else f"{self.kind} {self.name}"


class PolicyRef(Struct, frozen=True):
    """A policy that an object is bound to, and by what: its label, its entry in kadm.yaml, or the Fleet's default.

    ``where`` kadm.yaml names it; None for a label: the manifest knows where that stands.
    """

    policy: PolicyKey
    via: Literal["label", "entry", "default"]
    where: Location | None = None


class SelectorRequirement(Struct, frozen=True, forbid_unknown_fields=True):
    """One requirement of a cluster selector term; all three fields are required (spec 1.3)."""

    key: str
    operator: SelectorOperator
    values: tuple[str, ...]


class SelectorTerm(Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """All expressions (labels) and all fields (``metadata.name``) must match; a term with neither matches nothing."""

    match_expressions: tuple[SelectorRequirement, ...] = ()
    match_fields: tuple[SelectorRequirement, ...] = ()


class Toleration(Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """core/v1 Toleration; ``toleration_seconds`` is accepted and unused (spec 1.2)."""

    key: str = ""
    operator: Literal["", "Equal", "Exists"] = ""
    value: str = ""
    effect: Literal["", "NoSchedule", "PreferNoSchedule", "NoExecute"] = ""
    toleration_seconds: int | None = None


class Preferences(Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """How many replicas a cluster should get. ``weight`` only for Spread, ``priority`` orders selection and Binpack."""

    min_replicas: NonNegative = 0
    max_replicas: NonNegative | None = None
    weight: NonNegative | None = None
    priority: NonNegative | None = None


class Placement(Struct, frozen=True, forbid_unknown_fields=True):
    """One entry of ``spec.placement``."""

    cluster: str
    preferences: Preferences = Preferences()


class AutoMigrationWhen(Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """When replicas migrate; durations are Go's text form."""

    pod_unschedulable_for: str = "1m"


class AutoMigration(Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """Migration of replicas that a member cannot schedule."""

    when: AutoMigrationWhen = AutoMigrationWhen()
    keep_unschedulable_replicas: bool = False


class RescheduleWhen(Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """Which changes reschedule (spec 6.2)."""

    policy_content_changed: bool = True
    cluster_joined: bool = False
    cluster_labels_changed: bool = False
    cluster_api_resources_changed: bool = msgspec.field(default=False, name="clusterAPIResourcesChanged")


class ReplicaRescheduling(Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """How replicas move when they are divided anew."""

    avoid_disruption: bool = True


class ReschedulePolicy(Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """When and how an object is scheduled again. ``reschedule_when`` None means: no policy or cluster change does.

    An absent ``reschedulePolicy`` is not an empty one (spec 1.2.1): ``PropagationPolicySpec``'s default differs
    from this type's own.
    """

    disable_rescheduling: bool = False
    reschedule_when: RescheduleWhen | None = None
    replica_rescheduling: ReplicaRescheduling = ReplicaRescheduling()


ABSENT_RESCHEDULE_POLICY = ReschedulePolicy(reschedule_when=RescheduleWhen())
"""What an absent ``reschedulePolicy`` means (spec 1.2.1, first row)."""


class PropagationPolicySpec(Struct, frozen=True, forbid_unknown_fields=True, rename="camel", kw_only=True):
    """Where and how an object is placed (spec 1.2). None of a list or map means "no restriction", as empty does."""

    scheduling_mode: SchedulingMode
    scheduling_profile: str = ""
    replicas_strategy: ReplicasStrategy = "Spread"
    cluster_selector: dict[str, str] = {}
    cluster_affinity: tuple[SelectorTerm, ...] = ()
    tolerations: tuple[Toleration, ...] = ()
    max_clusters: NonNegative | None = None
    placement: tuple[Placement, ...] = ()
    disable_follower_scheduling: bool = False
    auto_migration: AutoMigration | None = None
    reschedule_policy: ReschedulePolicy = ABSENT_RESCHEDULE_POLICY


class PropagationPolicy(Struct, frozen=True, kw_only=True):
    """A PropagationPolicy or ClusterPropagationPolicy of the repository."""

    key: PolicyKey
    spec: PropagationPolicySpec
    location: Location


class NamedPlugin(Struct, frozen=True, forbid_unknown_fields=True):
    """A plugin in a profile. ``wait`` is upstream's spelling of ``weight`` (spec 1.4)."""

    name: str
    type: Literal["", "Webhook"] = ""
    weight: NonNegative | UnsetType = UNSET
    wait: NonNegative | UnsetType = UNSET


class PluginSet(Struct, frozen=True, forbid_unknown_fields=True):
    """Plugins switched on and off at one extension point."""

    enabled: tuple[NamedPlugin, ...] = ()
    disabled: tuple[NamedPlugin, ...] = ()


class Plugins(Struct, frozen=True, forbid_unknown_fields=True):
    """The extension points of a profile."""

    filter: PluginSet = PluginSet()
    score: PluginSet = PluginSet()
    select: PluginSet = PluginSet()


class PluginConfig(Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of one plugin."""

    name: str
    args: Any = None


class SchedulingProfileSpec(Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """Which plugins run (spec 1.4)."""

    plugins: Plugins = Plugins()
    plugin_config: tuple[PluginConfig, ...] = ()


class SchedulingProfile(Struct, frozen=True, kw_only=True):
    """A SchedulingProfile of the repository."""

    name: str
    spec: SchedulingProfileSpec
    location: Location


class WebhookTLSConfig(Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """TLS of a webhook plugin; data is base64 PEM."""

    insecure: bool = False
    server_name: str = ""
    cert_data: str = ""
    key_data: str = ""
    ca_data: str = ""


class WebhookConfigurationSpec(Struct, frozen=True, forbid_unknown_fields=True, rename="camel", kw_only=True):
    """An out-of-process plugin (spec 1.5); ``failure_policy`` is ours (design, section 12, row 3)."""

    payload_versions: Annotated[tuple[str, ...], Meta(min_length=1)]
    url_prefix: str
    filter_path: str = ""
    score_path: str = ""
    select_path: str = ""
    http_timeout: str = "5s"
    tls_config: WebhookTLSConfig | None = None
    failure_policy: Literal["Fail", "Ignore"] = "Fail"


class WebhookConfiguration(Struct, frozen=True, kw_only=True):
    """A SchedulerPluginWebhookConfiguration of the repository."""

    name: str
    spec: WebhookConfigurationSpec
    location: Location


class SourceType(Struct, frozen=True, forbid_unknown_fields=True, rename="camel", kw_only=True):
    """The type that a FederatedTypeConfig is about."""

    version: str
    kind: str
    plural_name: str
    scope: Literal["Namespaced", "Cluster"]
    group: str = ""


class PathDefinition(Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """Dot paths into objects of the type; empty where the type lacks the field."""

    label_selector: str = ""
    replicas_spec: str = ""
    replicas_status: str = ""
    available_replicas_status: str = ""
    ready_replicas_status: str = ""


class Enabled(Struct, frozen=True, forbid_unknown_fields=True):
    """A switch object."""

    enabled: bool = False


class StatusCollection(Struct, frozen=True, forbid_unknown_fields=True):
    """Fields collected from members."""

    enabled: bool = False
    fields: tuple[str, ...] = ()


class FederatedTypeConfigSpec(Struct, frozen=True, forbid_unknown_fields=True, rename="camel", kw_only=True):
    """How a type is federated (spec 1.7)."""

    source_type: SourceType
    path_definition: PathDefinition = PathDefinition()
    auto_migration: Enabled = Enabled()
    status_aggregation: Enabled = Enabled(enabled=True)
    status_collection: StatusCollection = StatusCollection()
    controllers: tuple[tuple[str, ...], ...] = ()


class FederatedTypeConfig(Struct, frozen=True, kw_only=True):
    """A FederatedTypeConfig of the repository."""

    name: str
    spec: FederatedTypeConfigSpec
    location: Location
