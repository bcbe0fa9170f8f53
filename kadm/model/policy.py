"""KubeAdmiral's scheduling policies: PropagationPolicy, ClusterPropagationPolicy, SchedulingProfile, webhooks, FTCs.

Field names, defaults and bounds are those of the CRDs (scheduling spec, section 1). A policy as decoded holds what the
user wrote; ``kadm.repo`` applies the structural defaults of 1.2.1, so that stages see the effective policy.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from kadm.errors import Location
from kadm.model.duration import duration_s

NonNegative = Annotated[int, Meta(ge=0)]

SchedulingMode = Literal["Duplicate", "Divide"]
ReplicasStrategy = Literal["Binpack", "Spread"]
SelectorOperator = Literal["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"]
TaintEffect = Literal["NoSchedule", "PreferNoSchedule", "NoExecute"]

FAIL_OVER_AFTER = "kadm.io/fail-over-after"
"""Annotation of a policy: what it places leaves a member that was lost for so long (a duration as Go writes it)."""

MIGRATION_COOL_DOWN = "kadm.io/migration-cool-down"
"""Annotation of a policy: a member that could not run a replica gets none more for so long, at first."""

COOL_DOWN_FACTOR = 10
SHORTEST_COOL_DOWN_S = 10.0
"""Where no policy says it, a cool-down is so many times what ``podUnschedulableFor`` is, and so long at least."""

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
    """The label, or metadata.name among matchFields."""
    operator: SelectorOperator
    """How the values count."""
    values: tuple[str, ...]
    """None for Exists and DoesNotExist, one number for Gt and Lt."""


class SelectorTerm(Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """All expressions (labels) and all fields (``metadata.name``) must match; a term with neither matches nothing."""

    match_expressions: tuple[SelectorRequirement, ...] = ()
    """Requirements on the member's labels; all must hold."""
    match_fields: tuple[SelectorRequirement, ...] = ()
    """Requirements on metadata.name; all must hold."""


class Toleration(Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """core/v1 Toleration; ``toleration_seconds`` is accepted and unused (spec 1.2)."""

    key: str = ""
    """The taint's key; empty with operator Exists tolerates every key."""
    operator: Literal["", "Equal", "Exists"] = ""
    """Equal (also where it is empty) compares the value, Exists does not."""
    value: str = ""
    """The taint's value."""
    effect: Literal["", "NoSchedule", "PreferNoSchedule", "NoExecute"] = ""
    """The taint's effect; empty tolerates all of them."""
    toleration_seconds: int | None = None
    """Accepted and unused."""


class Preferences(Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """How many replicas a cluster should get. ``weight`` only for Spread, ``priority`` orders selection and Binpack."""

    min_replicas: NonNegative = 0
    """It gets at least so many, as far as the total reaches."""
    max_replicas: NonNegative | None = None
    """It gets at most so many."""
    weight: NonNegative | None = None
    """Its part of what remains after the minimums (Spread). Without any weight, free capacity decides."""
    priority: NonNegative | None = None
    """The highest is selected first, and filled first by Binpack."""


class Placement(Struct, frozen=True, forbid_unknown_fields=True):
    """One entry of ``spec.placement``."""

    cluster: str
    """Name of the member."""
    preferences: Preferences = Preferences()
    """How many replicas it should get."""


class AutoMigrationWhen(Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """When replicas migrate; durations are Go's text form."""

    pod_unschedulable_for: str = "1m"
    """How long a pod finds no node before its replica migrates, e.g. 90s or 5m."""


class AutoMigration(Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """Migration of replicas that a member cannot schedule."""

    when: AutoMigrationWhen = AutoMigrationWhen()
    """When replicas migrate."""
    keep_unschedulable_replicas: bool = False
    """Replicas that found no node stay where they are, too."""


class RescheduleWhen(Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """Which changes reschedule (spec 6.2)."""

    policy_content_changed: bool = True
    """An edit of this policy or of its scheduling profile."""
    cluster_joined: bool = False
    """A member joined the fleet."""
    cluster_labels_changed: bool = False
    """Labels of a member changed."""
    cluster_api_resources_changed: bool = msgspec.field(default=False, name="clusterAPIResourcesChanged")
    """A member serves the type now, or no longer."""


class ReplicaRescheduling(Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """How replicas move when they are divided anew."""

    avoid_disruption: bool = True
    """Replicas that run stay where they are, and only the difference is moved."""


class ReschedulePolicy(Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """When and how an object is scheduled again. ``reschedule_when`` None means: no policy or cluster change does.

    An absent ``reschedulePolicy`` is not an empty one (spec 1.2.1): ``PropagationPolicySpec``'s default differs
    from this type's own.
    """

    disable_rescheduling: bool = False
    """Sticky: an object keeps its members; a changed total is divided among them."""
    reschedule_when: RescheduleWhen | None = None
    """Which changes place objects anew. Where reschedulePolicy is written without it, none does."""
    replica_rescheduling: ReplicaRescheduling = ReplicaRescheduling()
    """How replicas move then."""


ABSENT_RESCHEDULE_POLICY = ReschedulePolicy(reschedule_when=RescheduleWhen())
"""What an absent ``reschedulePolicy`` means (spec 1.2.1, first row)."""


class PropagationPolicySpec(Struct, frozen=True, forbid_unknown_fields=True, rename="camel", kw_only=True):
    """Where and how an object is placed (spec 1.2). None of a list or map means "no restriction", as empty does."""

    scheduling_mode: SchedulingMode
    """Duplicate: every selected member gets the whole object. Divide: its replicas are shared out."""
    scheduling_profile: str = ""
    """Name of a SchedulingProfile; empty: the default plugins."""
    replicas_strategy: ReplicasStrategy = "Spread"
    """Spread shares by weight, Binpack fills members one after the other."""
    cluster_selector: dict[str, str] = {}
    """Labels that a member must have, all of them."""
    cluster_affinity: tuple[SelectorTerm, ...] = ()
    """Terms of which a member must match one."""
    tolerations: tuple[Toleration, ...] = ()
    """Taints of members that do not keep objects away."""
    max_clusters: NonNegative | None = None
    """At most so many members are selected: the highest priorities, else the best scores."""
    placement: tuple[Placement, ...] = ()
    """The only members to be considered, with their preferences. Empty: all members."""
    disable_follower_scheduling: bool = False
    """Nothing follows the objects: what their pods refer to needs a policy of its own."""
    auto_migration: AutoMigration | None = None
    """Moves replicas that a member cannot schedule to members that can."""
    reschedule_policy: ReschedulePolicy = ABSENT_RESCHEDULE_POLICY
    """When and how objects are placed anew. Where it is absent, edits of the policy do that."""


class PropagationPolicy(Struct, frozen=True, kw_only=True):
    """A PropagationPolicy or ClusterPropagationPolicy of the repository."""

    key: PolicyKey
    spec: PropagationPolicySpec
    location: Location
    annotations: dict[str, str] = {}

    @property
    def fail_over_after(self) -> str:
        """How long a member must be lost before what is placed here leaves it, as Go writes durations; empty: never."""
        return self.annotations.get(FAIL_OVER_AFTER, "")

    @property
    def migration_cool_down_s(self) -> float:
        """For how long a member is not trusted again, at first; only of a policy that migrates. Raises ValueError."""
        assert self.spec.auto_migration is not None, "it migrates"
        written = self.annotations.get(MIGRATION_COOL_DOWN)
        if written:
            return duration_s(written)
        threshold_s = duration_s(self.spec.auto_migration.when.pod_unschedulable_for)
        return max(COOL_DOWN_FACTOR * threshold_s, SHORTEST_COOL_DOWN_S)


class NamedPlugin(Struct, frozen=True, forbid_unknown_fields=True):
    """A plugin in a profile. ``wait`` is upstream's spelling of ``weight`` (spec 1.4)."""

    name: str
    """The plugin's name, or that of its SchedulerPluginWebhookConfiguration."""
    type: Literal["", "Webhook"] = ""
    """Webhook for a plugin that is asked over HTTP."""
    weight: NonNegative | UnsetType = UNSET
    """Factor of its scores, 1 where it is absent."""
    wait: NonNegative | UnsetType = UNSET
    """Another spelling of weight."""


class PluginSet(Struct, frozen=True, forbid_unknown_fields=True):
    """Plugins switched on and off at one extension point."""

    enabled: tuple[NamedPlugin, ...] = ()
    """Plugins that run after the default ones."""
    disabled: tuple[NamedPlugin, ...] = ()
    """Default plugins that do not run; * stands for all of them."""


class Plugins(Struct, frozen=True, forbid_unknown_fields=True):
    """The extension points of a profile."""

    filter: PluginSet = PluginSet()
    """Plugins that refuse members."""
    score: PluginSet = PluginSet()
    """Plugins that rank members."""
    select: PluginSet = PluginSet()
    """Plugins that choose among ranked members."""


class PluginConfig(Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of one plugin."""

    name: str
    """The plugin's name."""
    args: Any = None
    """Its arguments."""


class SchedulingProfileSpec(Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """Which plugins run (spec 1.4)."""

    plugins: Plugins = Plugins()
    """Which plugins run beside the default ones, or not."""
    plugin_config: tuple[PluginConfig, ...] = ()
    """Arguments of plugins."""


class SchedulingProfile(Struct, frozen=True, kw_only=True):
    """A SchedulingProfile of the repository.

    ``places``: where a plugin stands in it, as (extension point or ``pluginConfig``, name) → place of the last entry.
    """

    name: str
    spec: SchedulingProfileSpec
    location: Location
    places: Mapping[tuple[str, str], Location] = {}


class WebhookTLSConfig(Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """TLS of a webhook plugin; data is base64 PEM."""

    insecure: bool = False
    """The certificate is not checked."""
    server_name: str = ""
    """Name that the certificate must have."""
    cert_data: str = ""
    """Client certificate, base64 of PEM."""
    key_data: str = ""
    """Key of the client certificate, base64 of PEM."""
    ca_data: str = ""
    """Certificates to trust, base64 of PEM."""


class WebhookConfigurationSpec(Struct, frozen=True, forbid_unknown_fields=True, rename="camel", kw_only=True):
    """An out-of-process plugin (spec 1.5); ``failure_policy`` is ours (design, section 12, row 3)."""

    payload_versions: Annotated[tuple[str, ...], Meta(min_length=1)]
    """Versions of the payload that it understands."""
    url_prefix: str
    """Where it is: http or https, host, port, and the beginning of the path."""
    filter_path: str = ""
    """Path to filter with; empty: it filters nothing."""
    score_path: str = ""
    """Path to score with; empty: it scores nothing."""
    select_path: str = ""
    """Path to select with; empty: it selects nothing."""
    http_timeout: str = "5s"
    """How long an answer may take, e.g. 5s."""
    tls_config: WebhookTLSConfig | None = None
    """How it is reached over https."""
    failure_policy: Literal["Fail", "Ignore"] = "Fail"
    """Fail: where it does not answer, objects stay as they are. Ignore: the member is taken as refused."""


class WebhookConfiguration(Struct, frozen=True, kw_only=True):
    """A SchedulerPluginWebhookConfiguration of the repository."""

    name: str
    spec: WebhookConfigurationSpec
    location: Location


class SourceType(Struct, frozen=True, forbid_unknown_fields=True, rename="camel", kw_only=True):
    """The type that a FederatedTypeConfig is about."""

    version: str
    """API version."""
    kind: str
    """Kind."""
    plural_name: str
    """Name of the resource in URLs."""
    scope: Literal["Namespaced", "Cluster"]
    """Whether objects have a namespace."""
    group: str = ""
    """API group; empty for the core group."""


class PathDefinition(Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """Dot paths into objects of the type; empty where the type lacks the field."""

    label_selector: str = ""
    """Dot path of the selector of its pods."""
    replicas_spec: str = ""
    """Dot path of the number of replicas: with it, objects can be divided."""
    replicas_status: str = ""
    """Dot path of the replicas there are."""
    available_replicas_status: str = ""
    """Dot path of the available ones."""
    ready_replicas_status: str = ""
    """Dot path of the ready ones."""


class Enabled(Struct, frozen=True, forbid_unknown_fields=True):
    """A switch object."""

    enabled: bool = False
    """Whether it is switched on."""


class StatusCollection(Struct, frozen=True, forbid_unknown_fields=True):
    """Fields collected from members."""

    enabled: bool = False
    """Whether it is switched on."""
    fields: tuple[str, ...] = ()
    """Dot paths."""


class FederatedTypeConfigSpec(Struct, frozen=True, forbid_unknown_fields=True, rename="camel", kw_only=True):
    """How a type is federated (spec 1.7)."""

    source_type: SourceType
    """The type that this is about."""
    path_definition: PathDefinition = PathDefinition()
    """Where its replicas stand."""
    auto_migration: Enabled | None = None
    """Whether replicas of the type migrate where its policy says so. Absent: yes."""
    status_aggregation: Enabled = Enabled(enabled=True)
    """KubeAdmiral's switch of status aggregation for the type."""
    status_collection: StatusCollection = StatusCollection()
    """Fields that KubeAdmiral collects from members."""
    controllers: tuple[tuple[str, ...], ...] = ()
    """KubeAdmiral's controllers of the type; kadm has none."""


class FederatedTypeConfig(Struct, frozen=True, kw_only=True):
    """A FederatedTypeConfig of the repository."""

    name: str
    spec: FederatedTypeConfigSpec
    location: Location
