"""Suite ``scheduler``: one object through kadm's whole scheduling stage."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import msgspec

from kadm.errors import Location
from kadm.model.cluster import FederatedCluster, FederatedClusterSpec
from kadm.model.decision import MemberDecision
from kadm.model.fleet import Fleet
from kadm.model.objects import ObjectKey, gvk_of
from kadm.model.observation import ApiResource, Capacity, MemberState, Observation, Ready
from kadm.model.policy import (
    FederatedTypeConfig,
    FederatedTypeConfigSpec,
    PathDefinition,
    PolicyKey,
    PropagationPolicy,
    PropagationPolicySpec,
    SchedulingProfile,
    SchedulingProfileSpec,
    SourceType,
)
from kadm.model.repository import Manifest, Repo
from kadm.schedule.case import Case as ScheduledCase
from kadm.schedule.case import CaseReader
from kadm.schedule.fleet import FleetView
from kadm.schedule.framework import PluginError, Scored, SelectPlugin
from kadm.schedule.history import History, Past
from kadm.schedule.journal import Journal
from kadm.schedule.member import Member, members_of
from kadm.schedule.placing import Placing
from kadm.schedule.plugins.cluster_capacity_weight import dynamic_weights
from kadm.schedule.profile import Enabled, Plugins, ProfileError, profile_of
from kadm.schedule.unit import Migration, SchedulingUnit
from kadm.schedule.unit_reader import UnitError, UnitReader
from tests.vectors.case import Answer, Json
from tests.vectors.upstream.unit import UnitFault, applied_migration, migration_info, moment_of

NOW = datetime(2026, 1, 1, tzinfo=UTC)
HERE = Location("vectors.yaml")
POLICY = PolicyKey("ClusterPropagationPolicy", "", "p")
PROFILE = "s"
LIKE_UPSTREAM = {"name": "APIResources", "args": {"evict": True}}
"""KubeAdmiral leaves a member that ceased to serve a version; kadm does so where its plugin is told to."""

MAPS = ("minReplicas", "maxReplicas", "weights", "priorities", "clusterNames", "request")
"""Keys of ``unit`` of which nothing and empty mean the same, and are not told apart."""


def answer(given: Json) -> Answer:
    """kadm's decision, and what each stage on the way gave."""
    try:
        policy = _policy(given)
    except msgspec.ValidationError as error:
        return {"outcome": "error", "stage": "load", "error": str(error)}
    manifest = _manifest(given)
    repo = _repo(given, policy, manifest)
    states = {document["metadata"]["name"]: _state(document) for document in given["clusters"]}
    observation = Observation(members=dict(sorted(states.items())))
    fleet = FleetView(members_of(repo, observation))
    replicas = given.get("currentReplicas") or {}
    current = {name: replicas.get(name) for name in given.get("currentClusters") or ()}
    past = (Past(placement=dict(sorted(current.items())), triggers={}),) if current else ()
    try:
        profile_of(repo.profiles[PROFILE], Plugins())
    except ProfileError as error:
        return {"outcome": "error", "stage": "profile", "error": str(error)}
    try:
        read = CaseReader(repo, UnitReader(repo, now=NOW, learned={}), Plugins()).read(manifest, policy, past, fleet)
        unit = replace(read.unit, migration=_migration(given))
    except (UnitError, UnitFault) as error:
        return {"outcome": "error", "stage": "unit", "error": str(error)}
    try:
        return {"unit": _unit(unit)} | _decision(replace(read, unit=unit), fleet, observation)
    except PluginError as error:
        return {"outcome": "error", "stage": "schedule", "error": str(error), "unit": _unit(unit)}


def normal(answered: Mapping[str, Any]) -> Mapping[str, Any]:
    """An answer without what does not count: empty maps of ``unit``."""
    if not isinstance(answered.get("unit"), dict):
        return answered
    unit = {key: value for key, value in answered["unit"].items() if value or key not in MAPS}
    return {**answered, "unit": unit}


def _decision(case: ScheduledCase, fleet: FleetView, observation: Observation) -> dict[str, Json]:
    unit, profile = case.unit, case.profile
    placing = Placing(fleet, History(observation), Journal(), allow_empty=False)
    decided = placing.place(case, ())
    if unit.rules.sticky and any(name in fleet for name in unit.current):
        return {"outcome": "sticky", "result": decided.placement}
    judged = fleet.pipeline.judge(unit, profile, held_by=[name for name in unit.current if name in fleet])
    filtered = {
        decision.member: _refusal(decision)
        for decision in judged.decisions
        if decision.verdicts and not decision.verdicts[-1].fits
    }
    if not judged.fitting:
        return {"outcome": "nofit", "filtered": filtered, "message": _message(filtered)}
    scores = {
        entry.name: entry.plugin.normalize({member.name: entry.plugin.score(unit, member) for member in judged.fitting})
        for entry in profile.scores
    }
    weights = {entry.name: entry.weight for entry in profile.scores}
    totals = {
        member.name: sum(of[member.name] * weights[plugin] for plugin, of in scores.items())
        for member in judged.fitting
    }
    selected = _selected(unit, profile.selects, [Scored(member, totals[member.name]) for member in judged.fitting])
    found: dict[str, Json] = {
        "outcome": "scheduled",
        "filtered": filtered,
        "scores": scores,
        "totalScore": totals if scores else {},
        "selected": [member.name for member in selected],
        "result": decided.placement,
    }
    divides = unit.rules.mode == "Divide" and unit.rules.strategy == "Spread" and unit.replicas
    if divides and selected and not unit.rules.placements.weights:
        found["weights"] = dynamic_weights(unit, selected)
    return found


def _selected(unit: SchedulingUnit, plugins: Sequence[Enabled[SelectPlugin]], scored: Sequence[Scored]) -> list[Member]:
    for entry in plugins:
        scored = entry.plugin.select(unit, scored)
    return [entry.member for entry in scored]


def _unit(unit: SchedulingUnit) -> dict[str, Json]:
    placements = unit.rules.placements
    return {
        "desiredReplicas": unit.replicas,
        "currentReplicas": dict(unit.current),
        "schedulingMode": unit.rules.mode,
        "replicasStrategy": unit.rules.strategy,
        "stickyCluster": unit.rules.sticky,
        "avoidDisruption": unit.rules.avoid_disruption,
        "maxClusters": unit.rules.max_clusters,
        "minReplicas": dict(placements.minimums),
        "maxReplicas": dict(placements.maximums),
        "weights": dict(placements.weights),
        "priorities": dict(placements.priorities),
        "clusterNames": sorted(placements.names),
        "request": dict(unit.request),
    }


def _always(text: str, pattern: str) -> Callable[[str], list[str]]:
    """One of KubeAdmiral's texts, where kadm's matches ``pattern``."""
    return lambda reason: [text] if re.fullmatch(pattern, reason) else [reason]


def _taint(reason: str) -> list[str]:
    found = re.fullmatch(r"taint ([^=:]+)(?:=([^:]*))?:(?:NoSchedule|NoExecute) is not tolerated", reason)
    if not found:
        return [reason]
    return [f"cluster(s) had taint {{{found[1]}: {found[2] or ''}}}, that the schedulingUnit didn't tolerate"]


def _misfits(reason: str) -> list[str]:
    found = re.fullmatch(r"not enough (.+) is free", reason)
    return sorted(f"Insufficient {resource}" for resource in found[1].split(", ")) if found else [reason]


_UPSTREAM_WORDS: Mapping[str, Callable[[str], list[str]]] = {
    "APIResources": _always(
        "cluster(s) didn't support this APIVersion", r"it (serves .+ as .+, not .+|does not serve .+)"
    ),
    "TaintToleration": _taint,
    "PlacementFilter": _always("cluster(s) were not in placement list", r"it is not in the placement list"),
    "ClusterAffinity": _always(
        "cluster(s) didn't match cluster selector",
        r"(its label .+ is .+|it has no label .+), the cluster selector wants .+"
        r"|the cluster affinity is illegal: .+|no term of the cluster affinity matches it",
    ),
    "ClusterReady": _always("cluster(s) were unready", r"it is not ready: .+"),
    "ClusterTerminating": _always("cluster(s) were terminating", r"it is leaving the fleet"),
    "ClusterEvicted": _always(
        "cluster(s) were evicted due to custom migration configuration", r"it migrated away from it until .+"
    ),
    "KatalystResourcesExist": _always("Katalyst resource does not exist", r"it offers no Katalyst resource"),
    "ClusterResourcesFit": _misfits,
}
"""Plugin → KubeAdmiral's reasons for one of kadm's, which says more; a text that says something else stays as it is."""


def _refusal(decision: MemberDecision) -> dict[str, Json]:
    verdict = decision.verdicts[-1]
    return {"plugin": verdict.plugin, "reasons": _UPSTREAM_WORDS[verdict.plugin](verdict.reason)}


def _message(filtered: Mapping[str, Json]) -> str:
    """KubeAdmiral's text of the event, from the reasons."""
    reasons = [reason for refusal in filtered.values() for reason in refusal["reasons"]]
    listed = sorted(f"{reasons.count(reason)} {reason}" for reason in set(reasons))
    return f"0/{len(filtered)} clusters are available: {', '.join(listed)}"


# Inputs


def _policy(given: Json) -> PropagationPolicy:
    """The policy without the CRD's defaults and checks, as the vectors were made. Raises msgspec.ValidationError."""
    document = dict(given["policy"])
    if document.get("schedulingMode") not in ("Duplicate", "Divide"):
        document["schedulingMode"] = "Duplicate"
    if document.get("replicasStrategy") != "Binpack":
        document["replicasStrategy"] = "Spread"
    reschedule = dict(document.get("reschedulePolicy") or {})
    replicas = {"avoidDisruption": False, **(reschedule.get("replicaRescheduling") or {})}
    document["reschedulePolicy"] = {**reschedule, "replicaRescheduling": replicas}
    document["clusterAffinity"] = [
        {kind: [{"values": [], **requirement} for requirement in requirements] for kind, requirements in term.items()}
        for term in document.get("clusterAffinity") or ()
    ]
    document["schedulingProfile"] = PROFILE
    written = {key: value for key, value in document.items() if value is not None}
    return PropagationPolicy(key=POLICY, spec=msgspec.convert(written, PropagationPolicySpec), location=HERE)


def _manifest(given: Json) -> Manifest:
    gvk, metadata = gvk_of(given["template"]), given["template"]["metadata"]
    annotations = {
        key: text
        for key, text in (given.get("annotations") or {}).items()
        if not key.endswith(("auto-migration-info", "applied-migration-configuration"))
    }
    return Manifest(
        key=ObjectKey(gvk.group, gvk.kind, metadata.get("namespace", ""), metadata["name"]),
        version=gvk.version,
        object={**given["template"], "metadata": {**metadata, "annotations": annotations}},
        location=HERE,
        locate=lambda path: HERE,
    )


def _migration(given: Json) -> Migration:
    """What KubeAdmiral notes on the object: kadm takes it from the user's annotation and from its memory.

    Raises UnitFault where it is illegible.
    """
    annotations = given.get("annotations") or {}
    applied = applied_migration(annotations)
    info = migration_info(annotations) if given["policy"].get("autoMigration") is not None else {}
    return Migration(
        limited=applied.get("limitedCapacity") or {},
        unavailable={
            entry["cluster"]: moment_of(entry["validUntil"]) for entry in applied.get("unavailableClusters") or ()
        },
        estimated=info.get("estimatedCapacity") or {},
        scheduled=info.get("scheduledReplicas") or {},
    )


def _repo(given: Json, policy: PropagationPolicy, manifest: Manifest) -> Repo:
    kind, profile = given["type"], {"pluginConfig": [LIKE_UPSTREAM], **(given.get("profile") or {})}
    config = FederatedTypeConfig(
        name="t",
        spec=FederatedTypeConfigSpec(
            source_type=SourceType(
                group=kind.get("group", ""),
                version=kind["version"],
                kind=kind["kind"],
                plural_name=kind["plural"],
                scope="Namespaced",
            ),
            path_definition=PathDefinition(replicas_spec=kind.get("replicasPath", "")),
        ),
        location=HERE,
    )
    fleet = {
        "apiVersion": "kadm.io/v1alpha1",
        "kind": "Fleet",
        "metadata": {"name": "f"},
        "spec": {"katalyst": bool(given.get("enableKatalystSupport"))},
    }
    return Repo(
        root="",
        fleet=msgspec.convert(fleet, Fleet),
        revision=None,
        clusters=tuple(_cluster(document) for document in given["clusters"]),
        manifests=(manifest,),
        propagation_policies={POLICY: policy},
        override_policies={},
        profiles={
            PROFILE: SchedulingProfile(
                name=PROFILE, spec=msgspec.convert(profile, SchedulingProfileSpec), location=HERE
            )
        },
        webhooks={},
        type_configs={config.name: config},
    )


def _cluster(document: Json) -> FederatedCluster:
    metadata = document["metadata"]
    taints = (document.get("spec") or {}).get("taints") or []
    return FederatedCluster(
        name=metadata["name"],
        location=HERE,
        labels=metadata.get("labels") or {},
        terminating=bool(metadata.get("deletionTimestamp")),
        spec=msgspec.convert({"taints": taints}, FederatedClusterSpec),
    )


def _state(document: Json) -> MemberState:
    status = document.get("status") or {}
    resources = status.get("resources") or {}
    conditions = status.get("conditions") or ()
    ready: Ready = "True" if any(one["type"] == "Ready" and one["status"] == "True" for one in conditions) else "False"
    return MemberState(
        name=document["metadata"]["name"],
        uid="",
        version="v1.36.2",
        ready=ready,
        api_resources=tuple(
            ApiResource(group=t.get("group", ""), version=t["version"], kind=t["kind"], plural="", namespaced=True)
            for t in status.get("apiResourceTypes") or ()
        ),
        capacity=Capacity(
            nodes=1,
            schedulable_nodes=1,
            allocatable=resources.get("allocatable") or {},
            available=resources.get("available") or {},
        ),
    )
