"""Small fleets for the tests of the scheduling stage: builders with defaults, so that only what matters shows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, Literal

import msgspec
from msgspec.structs import replace

from kadm.errors import Location, Problem
from kadm.model.cluster import FederatedCluster, FederatedClusterSpec, Taint
from kadm.model.decision import Decision, Decisions
from kadm.model.fleet import Fleet
from kadm.model.objects import JsonObject, ObjectKey, gvk_of
from kadm.model.observation import ApiResource, Capacity, MemberState, Observation, Ready, Unread
from kadm.model.policy import (
    FederatedTypeConfig,
    PolicyKey,
    PolicyRef,
    PropagationPolicy,
    PropagationPolicySpec,
    SchedulingProfile,
    SchedulingProfileSpec,
    WebhookConfiguration,
    WebhookConfigurationSpec,
)
from kadm.model.record import Record, RecordedObject, RecordedWorkload
from kadm.model.repository import Manifest, Repo
from kadm.schedule import schedule

NOW = datetime(2026, 1, 1, tzinfo=UTC)
POLICY = PolicyKey("ClusterPropagationPolicy", "", "p")
WEB = ObjectKey("apps", "Deployment", "default", "web")
SERVED = (("apps", "v1", "Deployment"), ("apps", "v1", "StatefulSet"), ("batch", "v1", "Job"), ("", "v1", "ConfigMap"))


def at(path: str, line: int = 1) -> Location:
    return Location(path, line)


def a_cluster(
    name: str, *, labels: Mapping[str, str] | None = None, taints: Iterable[Taint] = (), terminating: bool = False
) -> FederatedCluster:
    return FederatedCluster(
        name=name,
        location=at(f"clusters/{name}.yaml"),
        labels=dict(labels or {}),
        terminating=terminating,
        spec=FederatedClusterSpec(taints=tuple(taints)),
    )


def a_state(
    name: str,
    *,
    ready: Ready = "True",
    served: Iterable[tuple[str, str, str]] = SERVED,
    undiscovered: Mapping[str, str] | None = None,
    record: Record | None = None,
    cpu: tuple[str, str] | None = None,
    version: str = "v1.36.2",
) -> MemberState:
    """``cpu``: allocatable and available."""
    return MemberState(
        name=name,
        uid=f"uid-{name}",
        version=version,
        ready=ready,
        api_resources=tuple(
            sorted(
                ApiResource(group=group, version=version, kind=kind, plural=kind.lower() + "s", namespaced=True)
                for group, version, kind in served
            )
        ),
        undiscovered=undiscovered or {},
        record=record,
        capacity=cpu and Capacity(nodes=1, schedulable_nodes=1, allocatable={"cpu": cpu[0]}, available={"cpu": cpu[1]}),
    )


def unread(name: str) -> Unread:
    return Unread(name, Problem(what="connection refused", member=name))


def observed(*states: MemberState | Unread) -> Observation:
    return Observation(members={state.name: state for state in sorted(states, key=lambda state: state.name)})


def a_policy(mode: str = "Divide", *, key: PolicyKey = POLICY, **spec: Any) -> PropagationPolicy:
    """A policy; further fields by their names in YAML."""
    document = {"schedulingMode": mode, **spec}
    return PropagationPolicy(
        key=key, spec=msgspec.convert(document, PropagationPolicySpec), location=at("policies/p.yaml")
    )


def placement(**weights: int | Mapping[str, int] | None) -> list[dict[str, Any]]:
    """A placement list: member → weight, or its preferences, or nothing."""
    return [
        {
            "cluster": name,
            "preferences": {"weight": given} if isinstance(given, int) else dict(given or {}),
        }
        for name, given in weights.items()
    ]


def a_deployment(
    name: str = "web", *, replicas: Any = 9, annotations: Mapping[str, str] | None = None, kind: str = "Deployment"
) -> JsonObject:
    spec: dict[str, Any] = {"template": {"spec": {"containers": [{"name": "c", "image": "nginx"}]}}}
    if replicas is not None:
        spec["replicas"] = replicas
    return {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": {"name": name, "namespace": "default", "annotations": dict(annotations or {})},
        "spec": spec,
    }


def an_object(api_version: str, kind: str, name: str = "o", **fields: Any) -> JsonObject:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": name, "namespace": "default"}, **fields}


def a_manifest(
    obj: JsonObject, policy: PolicyKey | None = POLICY, *, via: Literal["label", "entry", "default"] = "label"
) -> Manifest:
    gvk, metadata = gvk_of(obj), obj["metadata"]
    here = at("manifests/o.yaml")
    return Manifest(
        key=ObjectKey(gvk.group, gvk.kind, metadata["namespace"], metadata["name"]),
        version=gvk.version,
        object=obj,
        location=here,
        locate=lambda path: here,
        propagation=PolicyRef(policy, via) if policy else None,
    )


def a_repo(
    clusters: Iterable[FederatedCluster | str],
    *,
    policies: Iterable[PropagationPolicy] = (),
    objects: Iterable[JsonObject | Manifest] | None = None,
    profiles: Mapping[str, Any] | None = None,
    types: Iterable[FederatedTypeConfig] = (),
    webhooks: Mapping[str, Any] | None = None,
    annotations_count: bool = True,
) -> Repo:
    """A repository; without ``objects`` it holds one Deployment of 9 replicas under POLICY."""
    manifests = [
        given if isinstance(given, Manifest) else a_manifest(given)
        for given in (objects if objects is not None else [a_deployment()])
    ]
    fleet = {
        "apiVersion": "kadm.io/v1alpha1",
        "kind": "Fleet",
        "metadata": {"name": "shop"},
        "spec": {"allowPlacementAnnotations": annotations_count},
    }
    found = [a_cluster(cluster) if isinstance(cluster, str) else cluster for cluster in clusters]
    return Repo(
        root="",
        fleet=msgspec.convert(fleet, Fleet),
        revision=None,
        clusters=tuple(sorted(found, key=lambda cluster: cluster.name)),
        manifests=tuple(sorted(manifests, key=lambda manifest: manifest.key)),
        propagation_policies={policy.key: policy for policy in policies},
        override_policies={},
        profiles={
            name: SchedulingProfile(
                name=name, spec=msgspec.convert(spec, SchedulingProfileSpec), location=at("policies/s.yaml")
            )
            for name, spec in (profiles or {}).items()
        },
        webhooks={
            name: WebhookConfiguration(
                name=name, spec=msgspec.convert(spec, WebhookConfigurationSpec), location=at("policies/w.yaml")
            )
            for name, spec in (webhooks or {}).items()
        },
        type_configs={config.name: config for config in types},
    )


def decide(repo: Repo, observation: Observation, key: ObjectKey = WEB, **asked: Any) -> Decision:
    """The decision about one object."""
    return schedule(repo, observation, now=NOW, **asked).by_key[key]


def apply(observation: Observation, decisions: Decisions) -> Observation:
    """The observation after ``decisions`` were applied in every member that was read."""
    members: dict[str, MemberState | Unread] = {}
    for name, state in observation.members.items():
        members[name] = state if isinstance(state, Unread) else replace(state, record=_record(state, decisions))
    return Observation(members=members)


def _record(state: MemberState, decisions: Decisions) -> Record:
    before = {workload.key: workload for workload in (state.record.workloads if state.record else ())}
    workloads, objects = [], []
    for key, decision in decisions.by_key.items():
        if decision.outcome == "frozen":
            workloads += [before[key]] if key in before else []
        elif state.name in decision.placement:
            workloads.append(
                RecordedWorkload(
                    group=key.group,
                    kind=key.kind,
                    namespace=key.namespace,
                    name=key.name,
                    replicas=decision.placement[state.name],
                    policy=str(decision.policy.policy) if decision.policy else "",
                    triggers=dict(decision.triggers),
                    placement=dict(decision.placement),
                    blocks=dict(decision.blocks),
                )
            )
        if state.name in decision.placement:
            objects.append(
                RecordedObject(
                    group=key.group,
                    version="v1",
                    kind=key.kind,
                    namespace=key.namespace,
                    name=key.name,
                    uid=f"uid-{key.name}",
                )
            )
    return Record(
        fleet="shop", member_uid=state.uid, member=state.name, workloads=tuple(workloads), objects=tuple(objects)
    )


def changed(observation: Observation, *states: MemberState | Unread) -> Observation:
    """The observation with other states of some members, which keep their records."""
    members = dict(observation.members)
    for state in states:
        before = members.get(state.name)
        if isinstance(state, MemberState) and isinstance(before, MemberState) and state.record is None:
            members[state.name] = replace(state, record=before.record)
        else:
            members[state.name] = state
    return Observation(members=dict(sorted(members.items())))
