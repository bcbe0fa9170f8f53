"""Which policies an object is bound to: its labels', else its entry's, else the Fleet's (design, section 3).

A namespaced policy is looked for in the object's own namespace, before the cluster one of the same source
(scheduling spec 1.1); an object of cluster scope sees cluster policies only. A label that names nothing is an error: an
object whose policy is missing would be held, and one whose label were ignored would go elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass
from typing import Literal

from kadm.errors import Location, Problem
from kadm.model.fleet import Defaults, Entry
from kadm.model.policy import PolicyKey, PolicyKind, PolicyRef
from kadm.repo.decode import suggestion
from kadm.repo.keys import CLUSTER_OVERRIDE_POLICY, CLUSTER_PROPAGATION_POLICY, OVERRIDE_POLICY, PROPAGATION_POLICY
from kadm.repo.manifests import NativeObject

_KIND_OF_LABEL: dict[str, PolicyKind] = {
    PROPAGATION_POLICY: "PropagationPolicy",
    CLUSTER_PROPAGATION_POLICY: "ClusterPropagationPolicy",
    OVERRIDE_POLICY: "OverridePolicy",
    CLUSTER_OVERRIDE_POLICY: "ClusterOverridePolicy",
}

LABEL_OF_KIND: dict[PolicyKind, str] = {kind: label for label, kind in _KIND_OF_LABEL.items()}
"""Kind of policy → the label of an object that names one."""


@dataclass(frozen=True)
class Source:
    """What binds objects that do not say it themselves. ``where`` has a place in kadm.yaml per named policy kind."""

    via: Literal["entry", "default"]
    names: Mapping[PolicyKind, str]
    where: Mapping[PolicyKind, Location]


def source_of(via: Literal["entry", "default"], said: Entry | Defaults, where: Mapping[PolicyKind, Location]) -> Source:
    """The policies that an entry of kadm.yaml or its defaults name; empty names are none."""
    names: dict[PolicyKind, str] = {
        "PropagationPolicy": said.propagation_policy,
        "ClusterPropagationPolicy": said.cluster_propagation_policy,
        "OverridePolicy": said.override_policy,
        "ClusterOverridePolicy": said.cluster_override_policy,
    }
    return Source(via, {kind: name for kind, name in names.items() if name}, where)


@dataclass(frozen=True)
class Binding:
    """What an object is bound to. Both are empty for what goes where others need it."""

    propagation: PolicyRef | None = None
    overrides: tuple[PolicyRef, ...] = ()


class Binder:
    """Binds objects to the policies of one repository, and collects what names a policy that does not exist."""

    def __init__(self, policies: Set[PolicyKey]) -> None:
        self._policies = policies
        self._problems: dict[tuple[PolicyKey, Location | None], Problem] = {}

    @property
    def problems(self) -> list[Problem]:
        """One problem for each missing policy and place that names it."""
        return list(self._problems.values())

    def bind(self, native: NativeObject, sources: tuple[Source, ...]) -> Binding:
        """The object's policies; ``sources`` are asked in order where its labels say nothing."""
        if (native.key.group, native.key.kind) == ("", "Namespace"):
            sources = ()  # a namespace goes where something in it goes (design, section 12, row 18)
        propagation = self._first(native, sources, ("PropagationPolicy", "ClusterPropagationPolicy"))
        overrides = [self._first(native, sources, (kind,)) for kind in ("ClusterOverridePolicy", "OverridePolicy")]
        return Binding(propagation, tuple(ref for ref in overrides if ref is not None))

    def check(self, source: Source) -> None:
        """Notes the cluster policies of ``source`` that do not exist, whether or not an object needs them."""
        for kind, name in source.names.items():
            key = PolicyKey(kind, "", name)
            if kind.startswith("Cluster") and key not in self._policies:
                self._missing(key, source.where.get(kind))

    def _first(
        self, native: NativeObject, sources: tuple[Source, ...], kinds: tuple[PolicyKind, ...]
    ) -> PolicyRef | None:
        usable = [kind for kind in kinds if native.key.namespace or kind.startswith("Cluster")]
        for kind in usable:
            label = next(label for label, of in _KIND_OF_LABEL.items() if of == kind)
            name = native.header.metadata.labels.get(label)
            if name is not None:
                key = _key(kind, name, native)
                if key not in self._policies:
                    self._missing(key, native.document.locate(("metadata", "labels", label)))
                return PolicyRef(key, "label")
        for source in sources:
            for kind in usable:
                if kind in source.names:
                    key = _key(kind, source.names[kind], native)
                    if key not in self._policies:
                        self._missing(key, source.where.get(kind))
                    return PolicyRef(key, source.via, source.where.get(kind))
        return None

    def _missing(self, key: PolicyKey, where: Location | None) -> None:
        known = sorted(one.name for one in self._policies if (one.kind, one.namespace) == (key.kind, key.namespace))
        if not key.name:
            what = f"the label that names a {key.kind} is empty"
        elif key.namespace:
            what = f"there is no {key.kind} {key.name} in namespace {key.namespace}"
        else:
            what = f"there is no {key.kind} {key.name}"
        self._problems[key, where] = Problem(what=what, where=where, hint=suggestion(key.name, known))


def _key(kind: PolicyKind, name: str, native: NativeObject) -> PolicyKey:
    return PolicyKey(kind, "" if kind.startswith("Cluster") else native.key.namespace, name)


def ignored_label_problems(native: NativeObject) -> list[Problem]:
    """Labels that name a namespaced policy on an object of cluster scope, where KubeAdmiral passes them over."""
    if native.key.namespace or native.namespaced is None:
        return []
    return [
        Problem(
            what=f"label {label} has no effect: a {native.key.kind} has no namespace to look for the policy in",
            where=native.document.locate(("metadata", "labels", label)),
            hint=f"use {instead}",
            severity="warning",
        )
        for label, instead in (
            (PROPAGATION_POLICY, CLUSTER_PROPAGATION_POLICY),
            (OVERRIDE_POLICY, CLUSTER_OVERRIDE_POLICY),
        )
        if label in native.header.metadata.labels
    ]
