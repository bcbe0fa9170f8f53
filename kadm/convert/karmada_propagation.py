"""Karmada's PropagationPolicy as KubeAdmiral's.

Source: Karmada's API reference, policy.karmada.io/v1alpha1 (PropagationSpec).
"""

from __future__ import annotations

from kadm.convert.fields import Fields
from kadm.convert.karmada_members import Affinity, affinity_of
from kadm.model.objects import JsonObject

_MODES = {"": "Divide", "Divided": "Divide", "Duplicated": "Duplicate"}


def propagation_spec(spec: Fields) -> JsonObject:
    """The spec of a PropagationPolicy of ours; what it cannot say is noted."""
    placement = spec.part("placement")
    if placement.has("clusterAffinities"):
        groups = placement.parts("clusterAffinities")
        for group in groups[1:]:
            group.note("affinityName", "is a group to fall back to, which has no counterpart, and is left out")
        groups[0].text("affinityName")
        affinity = affinity_of(groups[0])
    else:
        affinity = affinity_of(placement.part("clusterAffinity"))
    mode, weights, strategy = _division(placement, affinity)
    found: JsonObject = {"schedulingMode": mode}
    if strategy:
        found["replicasStrategy"] = strategy
    found |= affinity.selectors
    if tolerations := placement.any("clusterTolerations"):
        found["tolerations"] = tolerations
    if (most := _max_clusters(placement)) is not None:
        found["maxClusters"] = most
    names = affinity.names or tuple(weights)
    if names:
        found["placement"] = [
            {"cluster": name, "preferences": {"weight": weights.get(name, 0)}} if weights else {"cluster": name}
            for name in names
        ]
    placement.close()
    if not spec.flag("propagateDeps"):
        found["disableFollowerScheduling"] = True
    _rest(spec)
    return found


def _division(placement: Fields, affinity: Affinity) -> tuple[str, dict[str, int], str]:
    """schedulingMode, member → weight, and replicasStrategy, empty for the default one."""
    if not placement.has("replicaScheduling"):
        return "Duplicate", {}, ""
    scheduling = placement.part("replicaScheduling")
    kind = scheduling.text("replicaSchedulingType")
    mode = _MODES.get(kind, "Divide")
    preference = scheduling.text("replicaDivisionPreference")
    weighting = scheduling.part("weightPreference")
    weights: dict[str, int] = {}
    if mode == "Divide" and preference == "Weighted":
        weights = _weights(weighting, affinity)
    weighting.close()
    scheduling.close()
    return mode, weights, "Binpack" if mode == "Divide" and preference == "Aggregated" else ""


def _weights(weighting: Fields, affinity: Affinity) -> dict[str, int]:
    """Member → weight; empty: by what members have free."""
    if weighting.text("dynamicWeight"):
        weighting.any("staticWeightList")
        return {}
    found: dict[str, int] = {}
    rules = weighting.parts("staticWeightList")
    for rule in rules:
        target = affinity_of(rule.part("targetCluster"))
        weight = rule.number("weight") or 0
        for name in target.names:
            found[name] = max(weight, found.get(name, 0))
        if target.selectors or not target.names:
            rule.note("targetCluster", f"chooses members by labels: list them in spec.placement with weight {weight}")
        rule.close()
    if not rules and affinity.names:
        return dict.fromkeys(affinity.names, 1)
    if not rules:
        weighting.note("staticWeightList", "is absent, which means equal weights: list the members in spec.placement")
    return found


def _max_clusters(placement: Fields) -> int | None:
    most = None
    for constraint in placement.parts("spreadConstraints"):
        if constraint.text("spreadByField", "cluster") == "cluster" and not constraint.has("spreadByLabel"):
            most = constraint.number("maxGroups")
            if (least := constraint.number("minGroups")) is not None and least > 1:
                constraint.note("minGroups", f"{least} has no counterpart, and is left out")
        else:
            constraint.note("spreadByField", "other than cluster has no counterpart, and is left out")
            constraint.number("maxGroups")
            constraint.number("minGroups")
        constraint.close()
    return most


def _rest(spec: Fields) -> None:
    """What belongs elsewhere."""
    if spec.text("conflictResolution") == "Overwrite":
        spec.note(
            "conflictResolution",
            "Overwrite: kadm apply --adopt-all takes over what exists, or annotations kubeadmiral.io/"
            "conflict-resolution and clusters-to-adopt on the objects do",
        )
    if spec.flag("preserveResourcesOnDeletion"):
        spec.note("preserveResourcesOnDeletion", "is annotation kubeadmiral.io/orphan: all on the objects")
    if spec.has("suspension"):
        spec.note("suspension", 'is annotation kadm.io/suspend: "true" on the objects')
    if spec.has("failover"):
        spec.note("failover", "is annotation kadm.io/fail-over-after of the policy, and spec.autoMigration")
    if spec.text("schedulerName", "default-scheduler") != "default-scheduler":
        spec.note("schedulerName", "has no counterpart, and is left out")
    spec.text("preemption")
    spec.text("activationPreference")
