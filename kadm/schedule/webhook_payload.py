"""What is sent to webhook plugins: payload v1alpha1 (scheduling spec 7.3).

Arrays are sorted, so that the same state gives the same bytes; and placements hold priorities, which KubeAdmiral leaves
out. ``resourceRequest`` holds what a pod asks for, where KubeAdmiral sends 0 for cpu and memory. KubeAdmiral's own
labels and annotations are left out, as they are not part of what members get.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import msgspec
from msgspec import Struct

from kadm.model.cluster import FederatedCluster
from kadm.model.objects import GroupVersionKind
from kadm.model.observation import Capacity, MemberState, Observation
from kadm.model.policy import SelectorTerm, Toleration
from kadm.model.quantity import format_quantity
from kadm.model.repository import Repo
from kadm.schedule.framework import Scored
from kadm.schedule.member import Member
from kadm.schedule.resources import CPU, EPHEMERAL_STORAGE, MEMORY, Amounts
from kadm.schedule.unit import Placements, SchedulingUnit

_API_VERSION = "core.kubeadmiral.io/v1alpha1"
_DOMAIN = "kubeadmiral.io"
_LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"  # it may hold a Secret's values in clear


class _Preferences(Struct, rename="camel", omit_defaults=True):
    min_replicas: int = 0
    max_replicas: int | None = None
    weight: int | None = None
    priority: int | None = None


class _Placement(Struct):
    cluster: str
    preferences: _Preferences


class _Unit(Struct, rename="camel", omit_defaults=True, kw_only=True):
    """``schedulingUnit`` on the wire; what is empty is left out, but for what has no default here."""

    api_version: str
    kind: str
    resource: str
    namespace: str = ""
    name: str
    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}
    scheduling_mode: str
    desired_replicas: int | None = None
    resource_request: dict[str, str] = {}
    current_clusters: list[str]
    current_replica_distribution: dict[str, int] = {}
    cluster_selector: dict[str, str] = {}
    cluster_affinity: list[dict[str, Any]] = []
    tolerations: list[dict[str, Any]] = []
    max_clusters: int | None = None
    placements: list[_Placement] = []


class Payloads:
    """Makes the bodies of calls. What is sent of a member is made once for all units."""

    def __init__(self, repo: Repo, observation: Observation) -> None:
        self._clusters: Mapping[str, FederatedCluster] = {cluster.name: cluster for cluster in repo.clusters}
        self._states = observation.read
        self._encoded: dict[str, msgspec.Raw] = {}
        self._plurals = {
            GroupVersionKind(source.group, source.version, source.kind): source.plural_name
            for config in repo.type_configs.values()
            if (source := config.spec.source_type)
        }

    def about_members(self, unit: SchedulingUnit, members: Sequence[Member]) -> list[bytes]:
        """A filter's or score's body for each member."""
        encoded = self._unit(unit)
        return [
            msgspec.json.encode({"schedulingUnit": encoded, "cluster": self._cluster(member.name)})
            for member in members
        ]

    def select(self, unit: SchedulingUnit, scored: Sequence[Scored]) -> bytes:
        """A selection's body; the members stand in the order that the plugins before gave them."""
        scores = [{"cluster": self._cluster(entry.member.name), "score": entry.score} for entry in scored]
        return msgspec.json.encode({"schedulingUnit": self._unit(unit), "clusterScores": scores})

    def _unit(self, unit: SchedulingUnit) -> msgspec.Raw:
        rules = unit.rules
        divided = rules.mode == "Divide"
        wire = _Unit(
            api_version=unit.gvk.api_version,
            kind=unit.gvk.kind,
            resource=self._plural(unit.gvk),
            namespace=unit.key.namespace,
            name=unit.key.name,
            labels=_foreign(unit.labels),
            annotations=_foreign(unit.annotations),
            scheduling_mode=rules.mode,
            desired_replicas=unit.replicas if divided else None,
            resource_request=_quantities(unit.pod_request),
            current_clusters=sorted(unit.current),
            current_replica_distribution=(
                {name: replicas or 0 for name, replicas in sorted(unit.current.items())} if divided else {}
            ),
            cluster_selector=dict(sorted(rules.selector.items())),
            cluster_affinity=[_term(term) for term in rules.required or ()],
            tolerations=[_toleration(toleration) for toleration in rules.tolerations],
            max_clusters=rules.max_clusters,
            placements=_placements(rules.placements),
        )
        return msgspec.Raw(msgspec.json.encode(wire))

    def _plural(self, gvk: GroupVersionKind) -> str:
        """The type's resource: as its FederatedTypeConfig says, else as a member serves it; empty: nobody knows it."""
        if gvk not in self._plurals:
            served = (state.serving(gvk) for state in self._states.values())
            self._plurals[gvk] = next((resource.plural for resource in served if resource), "")
        return self._plurals[gvk]

    def _cluster(self, name: str) -> msgspec.Raw:
        if name not in self._encoded:
            document = _cluster_document(self._clusters[name], self._states[name])
            self._encoded[name] = msgspec.Raw(msgspec.json.encode(document))
        return self._encoded[name]


def _cluster_document(cluster: FederatedCluster, state: MemberState) -> dict[str, Any]:
    """The FederatedCluster as a control plane would hold it. How kadm reaches the member is nobody else's business."""
    metadata: dict[str, Any] = {"name": cluster.name}
    if cluster.labels:
        metadata["labels"] = dict(sorted(cluster.labels.items()))
    if cluster.annotations:
        metadata["annotations"] = _foreign(cluster.annotations)
    taints = sorted(cluster.spec.taints, key=lambda taint: (taint.key, taint.value, taint.effect))
    ready: dict[str, str] = {"type": "Ready", "status": state.ready}
    if state.ready_reason:
        ready["message"] = state.ready_reason
    return {
        "apiVersion": _API_VERSION,
        "kind": "FederatedCluster",
        "metadata": metadata,
        "spec": {
            "apiEndpoint": cluster.spec.api_endpoint,
            "taints": [_without_empty(msgspec.to_builtins(taint)) for taint in taints],
        },
        "status": {
            "conditions": [{"type": "Joined", "status": "True"}, ready],
            "resources": _resources(state.capacity) if state.capacity else {},
            "apiResourceTypes": [
                {
                    "group": resource.group,
                    "version": resource.version,
                    "kind": resource.kind,
                    "pluralName": resource.plural,
                    "scope": "Namespaced" if resource.namespaced else "Cluster",
                }
                for resource in state.api_resources
            ],
        },
    }


def _resources(capacity: Capacity) -> dict[str, Any]:
    return {
        "schedulableNodes": capacity.schedulable_nodes,
        "allocatable": dict(sorted(capacity.allocatable.items())),
        "available": dict(sorted(capacity.available.items())),
    }


def _placements(placements: Placements) -> list[_Placement]:
    return [
        _Placement(
            name,
            _Preferences(
                min_replicas=placements.minimums.get(name, 0),
                max_replicas=placements.maximums.get(name),
                weight=placements.weights.get(name),
                priority=placements.priorities.get(name),
            ),
        )
        for name in sorted(placements.names)
    ]


def _quantities(request: Amounts) -> dict[str, str]:
    """What one pod asks for, always with cpu, memory and ephemeral storage."""
    amounts = {CPU: 0, EPHEMERAL_STORAGE: 0, MEMORY: 0, **request}
    return {
        resource: format_quantity(Fraction(amount, 1000) if resource == CPU else amount)
        for resource, amount in sorted(amounts.items())
    }


def _foreign(texts: Mapping[str, str]) -> dict[str, str]:
    """Labels or annotations that are neither KubeAdmiral's nor a copy of the whole object."""
    return {
        key: text
        for key, text in sorted(texts.items())
        if key != _LAST_APPLIED
        and not (key.partition("/")[0] == _DOMAIN or key.partition("/")[0].endswith(f".{_DOMAIN}"))
    }


def _term(term: SelectorTerm) -> dict[str, Any]:
    written: dict[str, Any] = msgspec.to_builtins(term)
    return _without_empty(written)


def _toleration(toleration: Toleration) -> dict[str, Any]:
    written: dict[str, Any] = msgspec.to_builtins(toleration)
    return _without_empty(written)


def _without_empty(document: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in document.items() if value not in ("", None, [], ())}
