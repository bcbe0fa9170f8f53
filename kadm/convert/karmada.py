"""Karmada's policies and clusters as KubeAdmiral's kinds.

The great difference: Karmada's policies select objects, KubeAdmiral's objects name their policy, by a label. So for
every policy the label is given, and the objects among the files that Karmada would have bound to it.

Source: Karmada's API reference, policy.karmada.io/v1alpha1 and cluster.karmada.io/v1alpha1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from msgspec.structs import replace

from kadm.convert.converted import Converted, Converting
from kadm.convert.fields import Fields
from kadm.convert.karmada_overrides import override_spec
from kadm.convert.karmada_propagation import propagation_spec
from kadm.convert.karmada_selection import Selector, rank, selectors_of
from kadm.errors import Problem, RepoError
from kadm.model.objects import JsonObject, ObjectKey, at
from kadm.repo.clusters import CLUSTER_KIND, KUBEADMIRAL_VERSION
from kadm.repo.documents import Document
from kadm.repo.keys import CLUSTER_OVERRIDE_POLICY, CLUSTER_PROPAGATION_POLICY, OVERRIDE_POLICY, PROPAGATION_POLICY
from kadm.repo.manifests import expanded

POLICIES = "policy.karmada.io/v1alpha1"
CLUSTERS = "cluster.karmada.io/v1alpha1"

_LABELS = {
    "PropagationPolicy": PROPAGATION_POLICY,
    "ClusterPropagationPolicy": CLUSTER_PROPAGATION_POLICY,
    "OverridePolicy": OVERRIDE_POLICY,
    "ClusterOverridePolicy": CLUSTER_OVERRIDE_POLICY,
}
_CLOSEST = 3
_SERVER_OWNED = ("creationTimestamp", "finalizers", "generation", "managedFields", "resourceVersion", "uid")


@dataclass
class _Policy:
    """A policy on its way: what it selects, and what it is bound to in the end."""

    converted: Converted
    kind: str
    name: str
    namespace: str
    selectors: tuple[Selector, ...]
    priority: int
    bound: list[ObjectKey] = field(default_factory=list)


def convert_karmada(documents: Iterable[Document], namespace: str = "default") -> Converting:
    """Every document of Karmada as one of ours; others are objects that policies may select.

    ``namespace`` is that of objects and policies without one.
    """
    policies: list[_Policy] = []
    others: list[Converted] = []
    natives: dict[ObjectKey, JsonObject] = {}
    problems: list[Problem] = []
    for whole in documents:
        try:
            parts = list(expanded(whole))
        except RepoError as error:
            problems += error.problems
            continue
        for document in parts:
            kind, version = str(document.value.get("kind", "")), str(document.value.get("apiVersion", ""))
            if version == POLICIES and kind in _LABELS:
                policies.append(_policy(document, kind, namespace))
            elif (version, kind) == (CLUSTERS, "Cluster"):
                others.append(_cluster(document))
            elif version.rpartition("/")[0].endswith("karmada.io"):
                what = f"{kind} of {version} has no counterpart"
                problems.append(Problem(what=what, where=document.location, severity="warning"))
            elif (key := _key(document.value, namespace)) is not None:
                natives[key] = document.value
    _bind(policies, natives)
    converted = [*(replace(one.converted, bound=tuple(sorted(one.bound))) for one in policies), *others]
    return Converting(converted=tuple(sorted(converted, key=lambda one: one.where)), problems=tuple(problems))


def _policy(document: Document, kind: str, namespace: str) -> _Policy:
    notes: list[str] = []
    name, space, metadata = _metadata(document, "" if kind.startswith("Cluster") else namespace)
    spec = Fields(_mapping(document.value.get("spec")), "spec", notes)
    selectors = selectors_of(spec, space)
    priority = spec.number("priority") or 0
    make: Callable[[Fields], JsonObject] = propagation_spec if kind.endswith("PropagationPolicy") else override_spec
    made = make(spec)
    spec.close()
    converted = Converted(
        object={"apiVersion": KUBEADMIRAL_VERSION, "kind": kind, "metadata": metadata, "spec": made},
        origin=f"{kind} {space}/{name}" if space else f"{kind} {name}",
        where=document.location,
        notes=tuple(notes),
        label=f"{_LABELS[kind]}: {name}",
        selects=tuple(selector.words for selector in selectors),
    )
    return _Policy(converted, kind, name, space, selectors, priority)


def _cluster(document: Document) -> Converted:
    notes: list[str] = []
    name, _, metadata = _metadata(document, "")
    given = Fields(_mapping(document.value.get("spec")), "spec", notes)
    spec: JsonObject = {}
    if taints := given.any("taints"):
        kept = ("key", "value", "effect")
        spec["taints"] = [{key: one[key] for key in kept if key in one} for one in taints if isinstance(one, dict)]
    for unused in (
        "apiEndpoint",
        "id",
        "syncMode",
        "secretRef",
        "impersonatorSecretRef",
        "insecureSkipTLSVerification",
    ):
        given.any(unused)
    labels = dict(metadata.get("labels") or {})
    for where in ("provider", "region", "zone"):
        if value := given.text(where):
            labels.setdefault(where, value)
            given.note(where, f"became label {where}")
    given.any("zones")
    given.close()
    notes.append(f"spec.kubeconfig says how kadm reaches it; absent: context {name} of your kubeconfig")
    if labels:
        metadata["labels"] = dict(sorted(labels.items()))
    found: JsonObject = {"apiVersion": KUBEADMIRAL_VERSION, "kind": CLUSTER_KIND, "metadata": metadata}
    return Converted(
        object={**found, "spec": spec}, origin=f"Cluster {name}", where=document.location, notes=tuple(notes)
    )


def _metadata(document: Document, namespace: str) -> tuple[str, str, dict[str, Any]]:
    """Name, namespace, and what is kept of the metadata."""
    given = _mapping(document.value.get("metadata"))
    kept = {key: value for key, value in given.items() if key not in _SERVER_OWNED and value}
    space = str(given.get("namespace") or namespace) if namespace else ""
    kept.pop("namespace", None)
    named = {"name": str(given.get("name", ""))} | ({"namespace": space} if space else {})
    return str(given.get("name", "")), space, {**named, **{key: value for key, value in kept.items() if key != "name"}}


def _bind(policies: Sequence[_Policy], natives: dict[ObjectKey, JsonObject]) -> None:
    """Give each object the one policy of a kind that Karmada gives it, or notes that there are several overrides."""
    for key, obj in sorted(natives.items()):
        for kinds in (
            ("PropagationPolicy", "ClusterPropagationPolicy"),
            ("ClusterOverridePolicy",),
            ("OverridePolicy",),
        ):
            for kind in kinds:
                hits = [
                    (_CLOSEST - rank(one.selectors, key, obj), one)
                    for one in policies
                    if one.kind == kind and one.namespace in ("", key.namespace) and rank(one.selectors, key, obj)
                ]
                hits.sort(key=lambda hit: (-hit[1].priority, hit[0], hit[1].name))
                if not hits:
                    continue
                hits[0][1].bound.append(key)
                if kind.endswith("OverridePolicy"):
                    for _, further in hits[1:]:
                        text = f"{key} is bound to {hits[0][1].name}: an object has one {kind}, so join their rules"
                        further.converted = replace(further.converted, notes=(*further.converted.notes, text))
                break


def _key(value: JsonObject, namespace: str) -> ObjectKey | None:
    """What names an object that may be selected; None for what is no object."""
    version, kind, name = value.get("apiVersion"), value.get("kind"), at(value, ("metadata", "name"))
    if not isinstance(version, str) or not isinstance(kind, str) or not isinstance(name, str):
        return None
    space = at(value, ("metadata", "namespace"))
    return ObjectKey(version.rpartition("/")[0], kind, str(space or namespace), name)


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
