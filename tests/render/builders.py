"""Repositories, decisions and observations with defaults, so that a test shows only what matters to it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from kadm.errors import Location, Problem
from kadm.model.cluster import FederatedCluster
from kadm.model.decision import Decision, Decisions, Outcome
from kadm.model.desired import Desired, DesiredObject
from kadm.model.fleet import Fleet, FleetMetadata
from kadm.model.objects import JsonObject, ObjectKey, Path, key_of, path_text
from kadm.model.observation import ApiResource, MemberState, Observation, Unread
from kadm.model.override import OverridePolicy, OverridePolicySpec
from kadm.model.policy import PolicyKey, PolicyRef, PropagationPolicy, PropagationPolicySpec
from kadm.model.record import Record, RecordedObject
from kadm.model.repository import Manifest, Repo
from kadm.render import render

POLICY = PolicyKey("ClusterPropagationPolicy", "", "everywhere")
ALONE = PolicyKey("ClusterPropagationPolicy", "", "without-followers")
OVERRIDES = PolicyKey("ClusterOverridePolicy", "", "cop")
MEMBERS = ("asia", "eu", "us")


def an_object(kind: str, name: str, api_version: str = "v1", namespace: str = "shop", **fields: Any) -> JsonObject:
    metadata = {"name": name, **({"namespace": namespace} if namespace else {}), **fields.pop("metadata", {})}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **fields}


def a_deployment(name: str = "web", pod_spec: Mapping[str, Any] | None = None, **metadata: Any) -> JsonObject:
    containers = [{"name": "c", "image": "nginx:1"}]
    template = {"metadata": {"labels": {"app": name}}, "spec": {"containers": containers, **(pod_spec or {})}}
    return an_object("Deployment", name, "apps/v1", spec={"replicas": 6, "template": template}, metadata=metadata)


def a_config(name: str = "web", **metadata: Any) -> JsonObject:
    return an_object("ConfigMap", name, data={"k": "v"}, metadata=metadata)


def annotated(**annotations: str) -> dict[str, Any]:
    return {"annotations": {f"kubeadmiral.io/{key.replace('_', '-')}": text for key, text in annotations.items()}}


USES_CONFIG = {"volumes": [{"name": "v", "configMap": {"name": "web"}}]}


def a_manifest(
    obj: JsonObject,
    policy: PolicyKey | None = POLICY,
    overrides: Sequence[PolicyKey] = (),
    via: Any = "label",
    *,
    known: bool = True,
) -> Manifest:
    path = f"manifests/{obj['metadata']['name']}.yaml"
    return Manifest(
        key=key_of(obj),
        version=obj["apiVersion"].rpartition("/")[2],
        object=obj,
        location=Location(path),
        locate=lambda at: Location(f"{path}#{path_text(at)}"),
        namespaced="namespace" in obj["metadata"] if known else None,
        propagation=None if policy is None else PolicyRef(policy, via),
        overrides=tuple(PolicyRef(key, "label") for key in overrides),
    )


def an_override_policy(*rules: dict[str, Any]) -> OverridePolicy:
    return OverridePolicy(
        key=OVERRIDES,
        spec=msgspec.convert({"overrideRules": list(rules)}, OverridePolicySpec),
        location=Location("policies/cop.yaml"),
        rule_locations=tuple(Location("policies/cop.yaml", number) for number, _ in enumerate(rules, 1)),
    )


def a_repo(*manifests: Manifest, overrides: OverridePolicy | None = None) -> Repo:
    policies = {
        key: PropagationPolicy(
            key=key,
            spec=PropagationPolicySpec(scheduling_mode="Divide", disable_follower_scheduling=key == ALONE),
            location=Location("policies/p.yaml"),
        )
        for key in (POLICY, ALONE)
    }
    return Repo(
        root="/repo",
        fleet=Fleet(api_version="kadm.io/v1alpha1", kind="Fleet", metadata=FleetMetadata("shop")),
        revision=None,
        clusters=tuple(
            FederatedCluster(name=name, location=Location(f"clusters/{name}.yaml"), labels={"region": name})
            for name in MEMBERS
        ),
        manifests=tuple(sorted(manifests, key=lambda manifest: manifest.key)),
        propagation_policies=policies,
        override_policies={} if overrides is None else {overrides.key: overrides},
        profiles={},
        webhooks={},
        type_configs={},
    )


Placement = Mapping[str, int | None] | Iterable[str]


def decided(manifest: Manifest, placement: Placement, outcome: Outcome = "scheduled", *reasons: str) -> Decision:
    members = placement if isinstance(placement, Mapping) else dict.fromkeys(placement)
    return Decision(
        key=manifest.key,
        outcome=outcome,
        policy=manifest.propagation,
        placement=dict(sorted(members.items())),
        reasons=reasons,
    )


def seen(unread: Iterable[str] = (), recorded: Mapping[str, Sequence[ObjectKey]] | None = None) -> Observation:
    lost, known = set(unread), recorded or {}
    return Observation(
        {
            name: Unread(name, Problem(what="no answer", member=name))
            if name in lost
            else MemberState(
                name=name,
                uid=name,
                version="v1.36.2",
                record=a_record(*known.get(name, ())),
                api_resources=(
                    ApiResource(group="e.io", version="v1", kind="Global", plural="globals", namespaced=False),
                    ApiResource(group="e.io", version="v1", kind="Local", plural="locals", namespaced=True),
                ),
            )
            for name in MEMBERS
        }
    )


def a_record(*keys: ObjectKey) -> Record:
    return Record(
        fleet="shop",
        member_uid="",
        objects=tuple(
            RecordedObject(group=key.group, version="v1", kind=key.kind, namespace=key.namespace, name=key.name)
            for key in keys
        ),
    )


def rendered(
    repo: Repo,
    *decisions: Decision,
    unread: Iterable[str] = (),
    recorded: Mapping[str, Sequence[ObjectKey]] | None = None,
) -> Desired:
    return render(repo, Decisions({decision.key: decision for decision in decisions}), seen(unread, recorded))


def names(desired: Desired) -> dict[str, list[str]]:
    """Member → its objects as ``Kind name``, frozen ones in brackets; members with nothing are left out."""
    return {
        name: found
        for name, member in desired.members.items()
        if (found := [_short(one.key) for one in member.objects] + [f"({_short(key)})" for key in member.frozen])
    }


def _short(key: ObjectKey) -> str:
    return f"{key.kind} {key.name}"


def one(desired: Desired, member: str, kind: str) -> DesiredObject:
    """The only object of a kind in a member."""
    (found,) = (wanted for wanted in desired.members[member].objects if wanted.key.kind == kind)
    return found


def where(path: str, at: Path) -> Location:
    return Location(f"manifests/{path}.yaml#{path_text(at)}")
