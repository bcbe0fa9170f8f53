"""A manifest in the form that every API server takes and keeps (facts on API servers, 11; propagation spec 2.3, 5.3).

What servers own is left out, what they would only rewrite is written as they do, and what makes server-side apply fail
or fight is mended. Nothing is defaulted beyond that: a field that git does not hold is not kadm's.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping

from msgspec import Struct

from kadm.errors import Problem
from kadm.model.objects import JsonObject, JsonValue, Path, at
from kadm.model.quantity import canonical_quantity
from kadm.model.repository import Manifest
from kadm.model.workload import workload_kind
from kadm.render.rewriting import EACH, REMOVED, Pattern, rewritten, without

KUBEADMIRAL_DOMAIN = "kubeadmiral.io"
"""Labels and annotations of this domain and those below it speak to kadm, and never reach a member."""

SERVER_METADATA = frozenset(
    {
        "creationTimestamp",
        "deletionGracePeriodSeconds",
        "deletionTimestamp",
        "finalizers",  # never copied from git: live ones are authoritative (propagation spec, section 10, 15)
        "generateName",  # only ever beside a name: kadm's objects have one
        "generation",
        "managedFields",
        "ownerReferences",
        "resourceVersion",
        "selfLink",
        "uid",
    }
)

OVERRIDABLE_METADATA = frozenset({"finalizers", "ownerReferences"})
"""What an override policy may give a member although no manifest does."""

WRITTEN_BY_CONTROLLERS = frozenset(
    {
        "deployment.kubernetes.io/revision",
        "deprecated.daemonset.template.generation",
        "kubectl.kubernetes.io/last-applied-configuration",  # holds a Secret's values in clear
    }
)
"""Annotations that only exported manifests carry."""

GENERATED_JOB_LABELS = (
    "controller-uid",
    "job-name",
    "batch.kubernetes.io/controller-uid",
    "batch.kubernetes.io/job-name",
)
PLACEHOLDER_CA_BUNDLES = (None, "", "Cg==")

_CONTAINER_LISTS = ("containers", "initContainers", "ephemeralContainers")
_AMOUNTS = ("limits", "requests")


class Normalised(Struct, frozen=True):
    """The object, sharing with the manifest what needs no change, and warnings about what is left out."""

    object: JsonObject
    problems: tuple[Problem, ...] = ()


def normalise(manifest: Manifest) -> Normalised:
    """The manifest's object as every member takes it, still without what differs between members."""
    key = (manifest.key.group, manifest.key.kind)
    problems: list[Problem] = []
    obj: JsonObject = {field: value for field, value in manifest.object.items() if field != "status"}
    obj["metadata"] = _metadata(manifest, problems)
    pods = workload_kind(*key)
    if pods is not None:
        obj = _pods(obj, tuple(str(step) for step in pods.pod_spec_path))
    for pattern in _QUANTITIES.get(key, ()):
        obj = rewritten(obj, pattern, _quantity)
    if (rule := _KINDS.get(key)) is not None:
        obj = rule(obj, manifest, problems)
    return Normalised(obj, tuple(problems))


def is_server_owned(path: Path) -> bool:
    """Whether the field at this path is the server's alone, so that no override can set it."""
    if path[:1] == ("status",):
        return True
    return path[:1] == ("metadata",) and len(path) > 1 and path[1] in SERVER_METADATA - OVERRIDABLE_METADATA


def without_server_owned(obj: JsonObject) -> JsonObject:
    """The object without the fields of ``is_server_owned``; itself where it has none of them."""
    obj = without(obj, "status")
    for field in sorted(SERVER_METADATA - OVERRIDABLE_METADATA):
        obj = without(obj, "metadata", field)
    return obj


def without_empty_maps(obj: JsonObject) -> JsonObject:
    """The object without empty labels and annotations, which would make every comparison differ."""
    for field in ("labels", "annotations"):
        if field in obj["metadata"] and not obj["metadata"][field]:
            obj = without(obj, "metadata", field)
    return obj


def _metadata(manifest: Manifest, problems: list[Problem]) -> JsonObject:
    metadata = {field: value for field, value in manifest.object["metadata"].items() if field not in SERVER_METADATA}
    for field in ("labels", "annotations"):
        found = metadata.get(field)
        if isinstance(found, dict):
            metadata[field] = {key: value for key, value in found.items() if not _for_kadm(key)}
        elif field in metadata:
            metadata[field] = {}
    finalizers = manifest.object["metadata"].get("finalizers") or ()
    if any("/" in name and not name.startswith("kubernetes.io/") for name in finalizers):
        problems.append(
            _left_out(manifest, ("metadata", "finalizers"), "metadata.finalizers", "finalizers belong to each member")
        )
    return metadata


def _for_kadm(key: str) -> bool:
    if key in WRITTEN_BY_CONTROLLERS:
        return True
    domain = key.partition("/")[0] if "/" in key else ""
    return domain == KUBEADMIRAL_DOMAIN or domain.endswith("." + KUBEADMIRAL_DOMAIN)


def _left_out(manifest: Manifest, path: Path, field: str, why: str) -> Problem:
    return Problem(
        what=f"{field} is not sent to members",
        severity="warning",
        where=manifest.locate(path),
        object=str(manifest.key),
        why=why,
        hint="remove it, or set it with an override policy",
    )


def _pods(obj: JsonObject, pod_spec: Pattern) -> JsonObject:
    for pattern in _POD_PORTS:
        obj = rewritten(obj, (*pod_spec, *pattern), _with_protocol)
    for pattern in _POD_QUANTITIES:
        obj = rewritten(obj, (*pod_spec, *pattern), _quantity)
    if len(pod_spec) > 1:  # a template, whose metadata stands beside its spec
        obj = without(obj, *pod_spec[:-1], "metadata", "creationTimestamp")
    return obj


def _with_protocol(port: JsonValue) -> JsonValue:
    """The port with the protocol that is part of its key in the list."""
    return port if not isinstance(port, dict) or port.get("protocol") else {**port, "protocol": "TCP"}


def _quantity(amount: JsonValue) -> JsonValue:
    """A number as the text that typed patches demand; texts stay as they are written."""
    if isinstance(amount, bool) or not isinstance(amount, int | float):
        return amount
    return str(amount) if isinstance(amount, int) else canonical_quantity(amount)


def _service(obj: JsonObject, manifest: Manifest, problems: list[Problem]) -> JsonObject:
    obj = rewritten(obj, ("spec", "ports", EACH), _with_protocol)
    address = at(obj, ("spec", "clusterIP"))
    if address == "None":
        return obj
    if address:
        path = ("spec", "clusterIP")
        problems.append(_left_out(manifest, path, "spec.clusterIP", "each member allocates its own"))
    return without(without(obj, "spec", "clusterIP"), "spec", "clusterIPs")


def _secret(obj: JsonObject, manifest: Manifest, problems: list[Problem]) -> JsonObject:
    """Data and stringData in one: a key renamed in stringData would leave the old one live for ever."""
    obj = rewritten(obj, ("data", EACH), _without_newlines)
    texts = obj.get("stringData")
    if not isinstance(texts, dict):
        return without(obj, "stringData")
    encoded = {key: base64.b64encode(str(text).encode()).decode() for key, text in texts.items()}
    return {**without(obj, "stringData"), "data": {**(obj.get("data") or {}), **encoded}}


def _config_map(obj: JsonObject, manifest: Manifest, problems: list[Problem]) -> JsonObject:
    return rewritten(obj, ("binaryData", EACH), _without_newlines)


def _without_newlines(text: JsonValue) -> JsonValue:
    """Base64 as the server writes it back: folded lines joined."""
    if not isinstance(text, str) or ("\n" not in text and "\r" not in text):
        return text
    return text.replace("\n", "").replace("\r", "")


def _job(obj: JsonObject, manifest: Manifest, problems: list[Problem]) -> JsonObject:
    """Without the labels that the server generates and refuses from anybody else."""
    if at(obj, ("spec", "manualSelector")) is True:
        return obj
    for holder in (("spec", "template", "metadata", "labels"), ("spec", "selector", "matchLabels")):
        for label in GENERATED_JOB_LABELS:
            obj = without(obj, *holder, label)
    if at(obj, ("spec", "selector")) in ({}, {"matchLabels": {}}):
        obj = without(obj, "spec", "selector")
    return obj


def _pod(obj: JsonObject, manifest: Manifest, problems: list[Problem]) -> JsonObject:
    return without(obj, "spec", "ephemeralContainers")


def _stateful_set(obj: JsonObject, manifest: Manifest, problems: list[Problem]) -> JsonObject:
    claims = ("spec", "volumeClaimTemplates", EACH)
    obj = without(obj, *claims, "status")
    return without(obj, *claims, "metadata", "creationTimestamp")


def _cluster_role(obj: JsonObject, manifest: Manifest, problems: list[Problem]) -> JsonObject:
    """The controller fills the rules of an aggregated role: sending them would be a fight without end."""
    return without(obj, "rules") if obj.get("aggregationRule") else obj


def _without_placeholder(*holder: str) -> Callable[[JsonObject, Manifest, list[Problem]], JsonObject]:
    """A rule that leaves out an empty caBundle: applying it would wipe the one that a controller injected."""

    def rule(obj: JsonObject, manifest: Manifest, problems: list[Problem]) -> JsonObject:
        return rewritten(
            obj, (*holder, "caBundle"), lambda bundle: REMOVED if bundle in PLACEHOLDER_CA_BUNDLES else bundle
        )

    return rule


_WEBHOOKS = _without_placeholder("webhooks", EACH, "clientConfig")

_KINDS: Mapping[tuple[str, str], Callable[[JsonObject, Manifest, list[Problem]], JsonObject]] = {
    ("", "ConfigMap"): _config_map,
    ("", "Pod"): _pod,
    ("", "Secret"): _secret,
    ("", "Service"): _service,
    ("apps", "StatefulSet"): _stateful_set,
    ("batch", "Job"): _job,
    ("rbac.authorization.k8s.io", "ClusterRole"): _cluster_role,
    ("admissionregistration.k8s.io", "MutatingWebhookConfiguration"): _WEBHOOKS,
    ("admissionregistration.k8s.io", "ValidatingWebhookConfiguration"): _WEBHOOKS,
    ("apiextensions.k8s.io", "CustomResourceDefinition"): _without_placeholder(
        "spec", "conversion", "webhook", "clientConfig"
    ),
    ("apiregistration.k8s.io", "APIService"): _without_placeholder("spec"),
}
"""(group, kind) → what only this kind needs."""

_POD_PORTS: tuple[Pattern, ...] = tuple((name, EACH, "ports", EACH) for name in _CONTAINER_LISTS)

_POD_QUANTITIES: tuple[Pattern, ...] = (
    *((name, EACH, "resources", amounts, EACH) for name in _CONTAINER_LISTS for amounts in _AMOUNTS),
    *((name, EACH, "env", EACH, "valueFrom", "resourceFieldRef", "divisor") for name in _CONTAINER_LISTS),
    *(("resources", amounts, EACH) for amounts in _AMOUNTS),
    ("overhead", EACH),
    ("volumes", EACH, "emptyDir", "sizeLimit"),
    ("volumes", EACH, "downwardAPI", "items", EACH, "resourceFieldRef", "divisor"),
    ("volumes", EACH, "projected", "sources", EACH, "downwardAPI", "items", EACH, "resourceFieldRef", "divisor"),
    *(
        ("volumes", EACH, "ephemeral", "volumeClaimTemplate", "spec", "resources", amounts, EACH)
        for amounts in _AMOUNTS
    ),
)
"""Quantity fields of a pod spec (core/v1)."""

_METRIC_SOURCES = ("resource", "containerResource", "pods", "object", "external")

_QUANTITIES: Mapping[tuple[str, str], tuple[Pattern, ...]] = {
    ("", "PersistentVolumeClaim"): tuple(("spec", "resources", amounts, EACH) for amounts in _AMOUNTS),
    ("", "PersistentVolume"): (("spec", "capacity", EACH),),
    ("", "ResourceQuota"): (("spec", "hard", EACH),),
    ("", "LimitRange"): tuple(
        ("spec", "limits", EACH, bound, EACH)
        for bound in ("max", "min", "default", "defaultRequest", "maxLimitRequestRatio")
    ),
    ("apps", "StatefulSet"): tuple(
        ("spec", "volumeClaimTemplates", EACH, "spec", "resources", amounts, EACH) for amounts in _AMOUNTS
    ),
    ("autoscaling", "HorizontalPodAutoscaler"): (
        *(
            ("spec", "metrics", EACH, source, "target", field)
            for source in _METRIC_SOURCES
            for field in ("value", "averageValue")
        ),
        *(
            ("spec", "metrics", EACH, source, field)
            for source in _METRIC_SOURCES
            for field in ("targetValue", "targetAverageValue", "averageValue")
        ),
    ),
    ("node.k8s.io", "RuntimeClass"): (("overhead", "podFixed", EACH),),
}
"""(group, kind) → its Quantity fields outside pod specs, in any version of the kind."""
