"""The policies: KubeAdmiral's kinds, with the defaults that an API server would fill in (scheduling spec, 1)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from msgspec import Struct, structs

from kadm.errors import Problem, RepoError
from kadm.model.duration import duration_s
from kadm.model.objects import JsonObject, Path
from kadm.model.override import OverridePolicy, OverridePolicySpec
from kadm.model.policy import (
    FAIL_OVER_AFTER,
    MIGRATION_COOL_DOWN,
    FederatedTypeConfig,
    FederatedTypeConfigSpec,
    PolicyKey,
    PolicyKind,
    PropagationPolicy,
    PropagationPolicySpec,
    ReplicaRescheduling,
    SchedulingProfile,
    SchedulingProfileSpec,
    SelectorTerm,
    WebhookConfiguration,
    WebhookConfigurationSpec,
)
from kadm.model.selector import SelectorError, check_labels, expressions_match, term_matches
from kadm.model.webhook import configuration_fault
from kadm.repo.clusters import KUBEADMIRAL_VERSION
from kadm.repo.decode import decode, suggestion
from kadm.repo.documents import Document
from kadm.repo.headers import Header, header_problems, read_header

_LONGEST_POLICY_NAME = 63
"""A policy is named by the value of a label (scheduling spec 1.1)."""


class _Fields(Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """What a document of these kinds may hold; status is a host API server's and unused."""

    api_version: str
    kind: str
    metadata: dict[str, Any]
    spec: dict[str, Any] = {}
    status: dict[str, Any] = {}


@dataclass
class Policies:
    """All policies of a repository by kind, with the documents that they came from."""

    propagation: dict[PolicyKey, PropagationPolicy] = field(default_factory=dict)
    override: dict[PolicyKey, OverridePolicy] = field(default_factory=dict)
    profiles: dict[str, SchedulingProfile] = field(default_factory=dict)
    webhooks: dict[str, WebhookConfiguration] = field(default_factory=dict)
    type_configs: dict[str, FederatedTypeConfig] = field(default_factory=dict)
    documents: dict[tuple[str, str, str], Document] = field(default_factory=dict)
    """(kind, namespace, name) → its document."""

    @property
    def keys(self) -> set[PolicyKey]:
        """Every policy that objects may name; also those with faults, which are told once, at the policy."""
        named = self.documents.keys()
        return {PolicyKey(_POLICY_KINDS[kind], space, name) for kind, space, name in named if kind in _POLICY_KINDS}

    def add(self, document: Document, namespace: str) -> list[Problem]:
        """Take in a document, and return what is wrong with it. ``namespace`` is that of policies that state none."""
        try:
            header = read_header(document)
            read = _reader(header, document)
        except RepoError as error:
            return list(error.problems)
        namespaced = header.kind in ("PropagationPolicy", "OverridePolicy")
        space = (header.metadata.namespace or namespace) if namespaced else ""
        problems = header_problems(header, document)
        problems += _header_problems(header, document, namespaced=namespaced)
        identity = (header.kind, space, header.metadata.name)
        if earlier := self.documents.get(identity):
            problems.append(twice(f"{header.kind} {header.metadata.name}", document, earlier))
        self.documents.setdefault(identity, document)
        try:
            decode(document, _Fields)
        except RepoError as error:
            problems += error.problems
        try:
            problems += read(self, document, header.metadata.name, space)
        except RepoError as error:
            problems += error.problems
        return problems


def twice(what: str, document: Document, earlier: Document) -> Problem:
    """The problem of an object that an earlier document describes already; both places are named."""
    return Problem(
        what=f"{what} is there twice",
        where=document.location,
        why=f"it stands first at {earlier.location}",
        hint="remove or rename one of them",
    )


_Read = Callable[[Policies, Document, str, str], list[Problem]]


def _reader(header: Header, document: Document) -> _Read:
    if header.api_version == KUBEADMIRAL_VERSION and header.kind in _READERS:
        return _READERS[header.kind]
    what = f"{header.api_version} {header.kind} is no policy"
    hint = f"here stand kinds of {KUBEADMIRAL_VERSION}; " + suggestion(header.kind, list(_READERS))
    if header.api_version != KUBEADMIRAL_VERSION and header.kind not in _READERS:
        hint = "native objects belong to what spec.manifests of kadm.yaml names"
    elif header.kind in _READERS:
        hint = f"write apiVersion: {KUBEADMIRAL_VERSION}, if one of KubeAdmiral's is meant"
    raise RepoError([Problem(what=what, where=document.locate(("kind",)), hint=hint)])


def _header_problems(header: Header, document: Document, *, namespaced: bool) -> Iterator[Problem]:
    metadata = header.metadata
    if len(metadata.name) > _LONGEST_POLICY_NAME and header.kind in _POLICY_KINDS:
        what = f"the name of a {header.kind} has {_LONGEST_POLICY_NAME} characters at most: labels name it"
        yield Problem(what=what, where=document.locate(("metadata", "name")))
    if metadata.namespace and not namespaced:
        what = f"a {header.kind} has no namespace"
        yield Problem(what=what, where=document.locate(("metadata", "namespace")), hint="remove it", severity="warning")


_POLICY_KINDS: dict[str, PolicyKind] = {
    "PropagationPolicy": "PropagationPolicy",
    "ClusterPropagationPolicy": "ClusterPropagationPolicy",
    "OverridePolicy": "OverridePolicy",
    "ClusterOverridePolicy": "ClusterOverridePolicy",
}


def _read_propagation(policies: Policies, document: Document, name: str, namespace: str) -> list[Problem]:
    written, aliases = _without_aliases(document)
    spec = decode(document, PropagationPolicySpec, path=("spec",), instead=written)
    spec, problems = _with_aliases(spec, aliases, document)
    problems += _propagation_problems(spec, document)
    kind = _POLICY_KINDS[document.value["kind"]]
    key = PolicyKey(kind, namespace, name)
    annotations = read_header(document).metadata.annotations
    policy = PropagationPolicy(key=key, spec=spec, location=document.location, annotations=annotations)
    policies.propagation.setdefault(key, policy)
    if policy.fail_over_after:
        path: Path = ("metadata", "annotations", FAIL_OVER_AFTER)
        hint = "write how long a member must be silent, e.g. 10m; without the annotation nothing leaves it"
        problems += _duration_problems(policy.fail_over_after, document, path, hint=hint)
    problems += _cool_down_problems(policy, document)
    return problems


def _cool_down_problems(policy: PropagationPolicy, document: Document) -> Iterator[Problem]:
    written = policy.annotations.get(MIGRATION_COOL_DOWN)
    if written is None:
        return
    path: Path = ("metadata", "annotations", MIGRATION_COOL_DOWN)
    hint = "write e.g. 10m: without one replicas would travel to and fro"
    yield from _duration_problems(written, document, path, hint=hint)
    if policy.spec.auto_migration is None:
        what = f"{MIGRATION_COOL_DOWN} does nothing: the policy has no spec.autoMigration"
        yield Problem(what=what, where=document.locate(path, key=True), severity="warning", hint="add it")


class _Aliases(Struct, frozen=True, rename="camel"):
    """Fields of earlier KubeAdmiral versions (scheduling spec, V1 and K of section 1)."""

    sticky_cluster: bool | None = None
    replica_rescheduling: ReplicaRescheduling | None = None


def _without_aliases(document: Document) -> tuple[JsonObject, _Aliases]:
    """The spec with old names replaced by new ones where that is all, and without those that need more."""
    spec = document.value.get("spec")
    if not isinstance(spec, dict):
        return {} if spec is None else spec, _Aliases()
    aliases = decode(document, _Aliases, path=("spec",))
    written = {key: value for key, value in spec.items() if key not in ("stickyCluster", "replicaRescheduling")}
    placement = written.get("placement")
    if isinstance(placement, list):
        written["placement"] = [_with_cluster(one) for one in placement]
    return written, aliases


def _with_cluster(placement: Any) -> Any:
    """A placement whose cluster is called ``cluster``, as it is since May 2023."""
    if not isinstance(placement, dict) or "clusterName" not in placement or "cluster" in placement:
        return placement
    return {"cluster" if key == "clusterName" else key: value for key, value in placement.items()}


def _with_aliases(
    spec: PropagationPolicySpec, aliases: _Aliases, document: Document
) -> tuple[PropagationPolicySpec, list[Problem]]:
    """The spec with old fields joined in, after the defaults: before them they would switch all triggers off."""
    policy = spec.reschedule_policy
    problems = []
    written = document.value["spec"].get("reschedulePolicy") or {}
    if aliases.sticky_cluster is not None:
        now = policy.disable_rescheduling
        if "disableRescheduling" in written and now != aliases.sticky_cluster:
            problems.append(_disagreement("stickyCluster", "reschedulePolicy.disableRescheduling", document))
        policy = structs.replace(policy, disable_rescheduling=now or aliases.sticky_cluster)
    if aliases.replica_rescheduling is not None:
        avoid = aliases.replica_rescheduling.avoid_disruption
        if "replicaRescheduling" in written:
            now = policy.replica_rescheduling.avoid_disruption
            if now != avoid:
                problems.append(_disagreement("replicaRescheduling", "reschedulePolicy.replicaRescheduling", document))
            avoid = avoid or now
        policy = structs.replace(policy, replica_rescheduling=ReplicaRescheduling(avoid_disruption=avoid))
    return structs.replace(spec, reschedule_policy=policy), problems


def _disagreement(old: str, new: str, document: Document) -> Problem:
    what = f"`spec.{old}` and `spec.{new}` disagree; the one that is true holds"
    hint = f"remove {old}, the name of earlier versions"
    return Problem(what=what, where=document.locate(("spec", old), key=True), hint=hint, severity="warning")


def _propagation_problems(spec: PropagationPolicySpec, document: Document) -> list[Problem]:
    problems = list(_selector_problems(spec.cluster_selector, document, ("spec", "clusterSelector")))
    problems += _term_problems(spec.cluster_affinity, document, ("spec", "clusterAffinity"))
    seen: dict[str, int] = {}
    for index, placement in enumerate(spec.placement):
        path: Path = ("spec", "placement", index)
        if placement.cluster in seen:
            what = f"member {placement.cluster} is listed twice"
            hint = f"it stands in spec.placement[{seen[placement.cluster]}] already: list each member once"
            problems.append(Problem(what=what, where=document.locate((*path, "cluster")), hint=hint))
        seen.setdefault(placement.cluster, index)
        least, most = placement.preferences.min_replicas, placement.preferences.max_replicas
        if most is not None and least > most:
            what = f"member {placement.cluster} shall get at least {least} replicas and at most {most}"
            where = document.locate((*path, "preferences", "minReplicas"))
            problems.append(Problem(what=what, where=where, hint="minReplicas may not be above maxReplicas"))
    if spec.max_clusters == 0:
        what = "`spec.maxClusters` is 0: the objects go nowhere, and leave the members where they are"
        where = document.locate(("spec", "maxClusters"))
        problems.append(Problem(what=what, where=where, severity="warning", hint="leave it out for no limit"))
    if "reschedulePolicy" in document.value["spec"] and not spec.reschedule_policy.disable_rescheduling:
        problems += _trigger_problems(spec, document)
    written = document.value["spec"].get("autoMigration") or {}
    path = ("spec", "autoMigration", "when")
    if written.get("when") == {}:
        what = "`spec.autoMigration.when` is empty"
        hint = "write podUnschedulableFor, or leave `when` out: one minute"
        problems.append(Problem(what=what, where=document.locate(path), hint=hint))
    if spec.auto_migration is not None:
        problems += _duration_problems(
            spec.auto_migration.when.pod_unschedulable_for,
            document,
            (*path, "podUnschedulableFor"),
            hint="write how long a pod may find no node, e.g. 1m",
            zero=True,
        )
    return problems


def _trigger_problems(spec: PropagationPolicySpec, document: Document) -> Iterator[Problem]:
    """KubeAdmiral fills in what triggers only where reschedulePolicy is left out whole (scheduling spec, 1.2)."""
    if spec.reschedule_policy.reschedule_when is None:
        what = "`spec.reschedulePolicy` has no rescheduleWhen: changes of the policy or of clusters place nothing anew"
        yield Problem(
            what=what,
            where=document.locate(("spec", "reschedulePolicy"), key=True),
            severity="warning",
            hint="add `rescheduleWhen: {}`, and changes of the policy do",
        )


def _read_override(policies: Policies, document: Document, name: str, namespace: str) -> list[Problem]:
    spec = decode(document, OverridePolicySpec, path=("spec",))
    problems: list[Problem] = []
    for index, rule in enumerate(spec.override_rules):
        if rule.target_clusters is not None:
            path: Path = ("spec", "overrideRules", index, "targetClusters")
            problems += _selector_problems(rule.target_clusters.cluster_selector, document, (*path, "clusterSelector"))
            problems += _term_problems(rule.target_clusters.cluster_affinity, document, (*path, "clusterAffinity"))
    locations = tuple(document.locate(("spec", "overrideRules", index)) for index in range(len(spec.override_rules)))
    key = PolicyKey(_POLICY_KINDS[document.value["kind"]], namespace, name)
    policy = OverridePolicy(key=key, spec=spec, location=document.location, rule_locations=locations)
    policies.override.setdefault(key, policy)
    return problems


def _read_profile(policies: Policies, document: Document, name: str, namespace: str) -> list[Problem]:
    spec = decode(document, SchedulingProfileSpec, path=("spec",))
    plugins = {"filter": spec.plugins.filter, "score": spec.plugins.score, "select": spec.plugins.select}
    places = {
        (point, plugin.name): document.locate(("spec", "plugins", point, "enabled", index, "name"))
        for point, changes in plugins.items()
        for index, plugin in enumerate(changes.enabled)
    }
    places |= {
        ("pluginConfig", config.name): document.locate(("spec", "pluginConfig", index, "name"))
        for index, config in enumerate(spec.plugin_config)
    }
    policies.profiles.setdefault(
        name, SchedulingProfile(name=name, spec=spec, location=document.location, places=places)
    )
    return []


def _read_webhook(policies: Policies, document: Document, name: str, namespace: str) -> list[Problem]:
    spec = decode(document, WebhookConfigurationSpec, path=("spec",))
    policies.webhooks.setdefault(name, WebhookConfiguration(name=name, spec=spec, location=document.location))
    problems = list(_duration_problems(spec.http_timeout, document, ("spec", "httpTimeout")))
    if not problems and (fault := configuration_fault(spec)):
        what = f"webhook plugin {name} cannot be called as it is configured"
        problems.append(Problem(what=what, where=document.locate(("spec",)), why=fault))
    return problems


def _read_type_config(policies: Policies, document: Document, name: str, namespace: str) -> list[Problem]:
    spec = decode(document, FederatedTypeConfigSpec, path=("spec",))
    policies.type_configs.setdefault(name, FederatedTypeConfig(name=name, spec=spec, location=document.location))
    return []


_READERS: dict[str, _Read] = {
    "PropagationPolicy": _read_propagation,
    "ClusterPropagationPolicy": _read_propagation,
    "OverridePolicy": _read_override,
    "ClusterOverridePolicy": _read_override,
    "SchedulingProfile": _read_profile,
    "SchedulerPluginWebhookConfiguration": _read_webhook,
    "FederatedTypeConfig": _read_type_config,
}
"""The kinds of policies → what reads them."""


def _selector_problems(selector: dict[str, str], document: Document, path: Path) -> Iterator[Problem]:
    for key, value in selector.items():
        try:
            check_labels({key: value})
        except SelectorError as error:
            yield Problem(what=f"no selector of labels: {error}", where=document.locate((*path, key), key=True))


def _term_problems(terms: tuple[SelectorTerm, ...], document: Document, path: Path) -> Iterator[Problem]:
    """Requirements that Kubernetes would refuse, each of them; KubeAdmiral notices them only when it gets there."""
    for index, term in enumerate(terms):
        for number, requirement in enumerate(term.match_expressions):
            try:
                expressions_match((requirement,), {})
            except SelectorError as error:
                where = document.locate((*path, index, "matchExpressions", number))
                yield Problem(what=f"no selector of members: {error}", where=where)
        for number, requirement in enumerate(term.match_fields):
            try:
                term_matches(SelectorTerm(match_fields=(requirement,)), "", {})
            except SelectorError as error:
                where = document.locate((*path, index, "matchFields", number))
                yield Problem(what=f"no selector of members: {error}", where=where)
        if not term.match_expressions and not term.match_fields:
            what = "a term with neither matchExpressions nor matchFields matches no member"
            yield Problem(what=what, where=document.locate((*path, index)), severity="warning")


def _duration_problems(
    text: str, document: Document, path: Path, *, hint: str = "", zero: bool = False
) -> Iterator[Problem]:
    """What is wrong with a duration. With a hint it has to be above 0, or with ``zero`` no less than that."""
    try:
        seconds = duration_s(text)
    except ValueError:
        what = f'"{text[:60]}" is no duration'
        yield Problem(what=what, where=document.locate(path), hint="write e.g. 90s, 1m30s, 2h")
        return
    if hint and (seconds < 0 or (seconds == 0 and not zero)):
        bound = "may not be below 0" if zero else "must be above 0"
        yield Problem(what=f"{path[-1]} is {text}, and {bound}", where=document.locate(path), hint=hint)
