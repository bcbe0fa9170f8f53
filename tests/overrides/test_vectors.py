"""What KubeAdmiral itself made of 627 objects and policies: kadm makes the same of them, but for what it deviates in.

Deviations: one bad rule fails the members that it hits, not all (design, section 12, row 12); command and args default
to overwrite (row 13); operators and image components are closed sets that the loader refuses.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import msgspec
import pytest

from kadm.errors import Location
from kadm.model.override import OverridePolicy, OverridePolicySpec
from kadm.model.policy import PolicyKey
from kadm.overrides import Overridden, apply_overrides

DATA = os.environ.get("KADM_TEST_DATA")
pytestmark = pytest.mark.skipif(DATA is None, reason="KADM_TEST_DATA is unset")

Case = dict[str, Any]


def cases() -> list[Case]:
    if DATA is None:
        return []
    decoded: dict[str, Any] = msgspec.json.decode((Path(DATA) / "vectors" / "override.json").read_bytes())
    return list(decoded["cases"])


def entries(case: Case, *overriders: str) -> list[dict[str, Any]]:
    return [
        entry
        for policy in case["input"]["policies"]
        for rule in policy["spec"].get("overrideRules", ())
        for name in overriders
        for entry in (rule.get("overriders") or {}).get(name) or ()
    ]


def outside_the_enums(case: Case) -> bool:
    return (
        any(entry.get("operator") not in OPERATORS for entry in entries(case, "command", "args"))
        or any(entry.get("operator") not in MAP_OPERATORS for entry in entries(case, "envs", "annotations", "labels"))
        or any(entry.get("operator") not in PATCH_OPERATORS for entry in entries(case, "jsonpatch"))
        or any(
            operation.get("operator") not in IMAGE_OPERATORS or operation["imageComponent"] not in COMPONENTS
            for entry in entries(case, "image")
            for operation in entry.get("operations") or ()
        )
    )


OPERATORS = {None, "append", "overwrite", "delete"}
MAP_OPERATORS = {None, "addIfAbsent", "overwrite", "delete"}
IMAGE_OPERATORS = MAP_OPERATORS
PATCH_OPERATORS = {None, "add", "remove", "replace", "test"}
COMPONENTS = {"Registry", "Repository", "Tag", "Digest"}


def policies(case: Case) -> tuple[OverridePolicy, ...]:
    for policy in case["input"]["policies"]:
        for rule in policy["spec"].get("overrideRules", ()):
            for term in (rule.get("targetClusters") or {}).get("clusterAffinity") or ():
                for requirement in term.get("matchExpressions") or ():
                    requirement.setdefault("values", [])  # the CRD demands it, the function behind the vectors does not
    for entry in entries(case, "command", "args", "envs"):
        if entry.get("value", ()) is None:
            del entry["value"]  # Go's nil; an API server takes no null here
    return tuple(
        OverridePolicy(
            key=PolicyKey(policy["kind"], "" if policy["kind"].startswith("Cluster") else "ns", policy["name"]),
            spec=msgspec.convert(policy["spec"], OverridePolicySpec),
            location=Location("policies/overrides.yaml"),
        )
        for policy in case["input"]["policies"]
    )


def overridden(case: Case) -> dict[str, Overridden]:
    bound = policies(case)
    return {
        cluster["metadata"]["name"]: apply_overrides(
            case["input"]["template"],
            cluster["metadata"]["name"],
            cluster["metadata"].get("labels") or {},
            policies=bound,
        )
        for cluster in case["input"]["clusters"]
    }


def patches(result: Overridden) -> list[dict[str, Any]]:
    return [{"op": patch.op, "path": patch.path, "value": patch.value} for patch in result.patches]


REFUSED = "refused"


def outcome(result: Overridden) -> Any:
    return REFUSED if result.problems else (patches(result), result.object)


def wanted(case: Case, member: str) -> Any:
    patched = case["expect"]["patched"].get(member)
    if patched is None:
        return [], case["input"]["template"]
    if "applyError" in patched:
        return REFUSED
    stored = case["expect"]["overrides"][member]
    return [{"op": patch.get("op", "replace"), **{key: patch[key] for key in ("path", "value")}} for patch in stored], (
        patched
    )


@pytest.mark.parametrize("case", [pytest.param(case, id=case["id"]) for case in cases()])
def test_vector(case: Case) -> None:
    if outside_the_enums(case):
        with pytest.raises(msgspec.ValidationError, match="Invalid enum value"):
            policies(case)
        return
    before = msgspec.json.encode(case["input"]["template"])
    results = overridden(case)
    assert msgspec.json.encode(case["input"]["template"]) == before, "the input was changed"
    error = case["expect"].get("error")
    if error is None:
        assert {name: outcome(result) for name, result in results.items()} == {
            name: wanted(case, name) for name in results
        }
    elif error.endswith("unsupported operator:"):
        for entry in entries(case, "command", "args"):
            entry.setdefault("operator", "overwrite")
        assert results == overridden(case)
    else:
        assert any(result.problems for result in results.values())
