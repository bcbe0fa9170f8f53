"""Suite ``override``: the override engine."""

from __future__ import annotations

import copy
from typing import Any

import msgspec

from kadm.errors import Location
from kadm.model.override import OverridePolicy, OverridePolicySpec
from kadm.model.policy import PolicyKey
from kadm.overrides import Overridden, apply_overrides
from tests.vectors.case import Answer, Json


def answer(given: Json) -> Answer:
    """kadm's patches and objects; ``refused`` lists the clusters that a rule fails for, where others are served."""
    try:
        policies = _policies(given)
    except msgspec.ValidationError as error:
        return {"error": str(error)}
    results = {
        cluster["metadata"]["name"]: apply_overrides(
            given["template"],
            cluster["metadata"]["name"],
            cluster["metadata"].get("labels") or {},
            policies=policies,
        )
        for cluster in given["clusters"]
    }
    refused = sorted(name for name, result in results.items() if result.object is None)
    if refused and len(refused) == len(results):
        return {"error": str(results[refused[0]].problems[0])}
    changed = {name: result for name, result in results.items() if result.patches}
    found: dict[str, Json] = {
        "overrides": {name: _patches(result) for name, result in changed.items()},
        "patched": {name: result.object for name, result in changed.items()},
    }
    return found | ({"refused": refused} if refused else {})


def normal(answered: Answer) -> Answer:
    """An answer with the operator of every patch: an absent one means replace."""
    patches = answered.get("overrides")
    if not isinstance(patches, dict):
        return answered
    return {**answered, "overrides": {name: _with_operators(listed) for name, listed in patches.items()}}


def _with_operators(patches: Json) -> Json:
    if not isinstance(patches, list):
        return patches
    return [{"op": "replace", **patch} if isinstance(patch, dict) else patch for patch in patches]


def _patches(result: Overridden) -> list[dict[str, Json]]:
    return [{"op": patch.op, "path": patch.path, "value": patch.value} for patch in result.patches]


def _policies(given: Json) -> tuple[OverridePolicy, ...]:
    """The policies in the form that the CRD demands, which the function behind the vectors does not."""
    found = []
    for policy in given["policies"]:
        spec: dict[str, Any] = copy.deepcopy(policy["spec"])
        for rule in spec.get("overrideRules") or ():
            for term in (rule.get("targetClusters") or {}).get("clusterAffinity") or ():
                for requirement in term.get("matchExpressions") or ():
                    requirement.setdefault("values", [])
            for entries in (rule.get("overriders") or {}).values():
                for entry in entries:
                    if "path" not in entry and entry.get("value", ()) is None:
                        del entry["value"]  # Go's nil
        found.append(
            OverridePolicy(
                key=PolicyKey(policy["kind"], "" if policy["kind"].startswith("Cluster") else "ns", policy["name"]),
                spec=msgspec.convert(spec, OverridePolicySpec),
                location=Location("policies.yaml"),
            )
        )
    return tuple(found)
