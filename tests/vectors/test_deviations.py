"""Deviations are known in inputs that no file has: what KubeAdmiral would answer there, its transcription says."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping
from typing import Any

import pytest

from tests.vectors.case import Case, Json, OneOf
from tests.vectors.deviations import ALL
from tests.vectors.mutants import perturbed
from tests.vectors.running import run_case
from tests.vectors.suites import SUITES
from tests.vectors.test_running import extracted
from tests.vectors.test_vectors import EXHAUSTIVE

ROUNDS = 40 if EXHAUSTIVE else 8
"""How often each case of the extract is changed."""


def as_upstream(suite: str, given: Json, identity: str = "x") -> Case:
    """The case that KubeAdmiral's answer to ``given`` makes. Raises Open."""
    answers = {
        key: [_settled(value) for value in values] for key, values in SUITES[suite].upstream(given, frozenset()).items()
    }
    settled = {key: values[0] for key, values in answers.items() if len(values) == 1}
    return Case(identity, given, settled, {key: values for key, values in answers.items() if key not in settled})


class Open(ValueError):
    """The order of a map decides so much that the answers are not listed."""


def _settled(value: Json) -> Json:
    if isinstance(value, OneOf):
        if len(set(value.values)) > 1:
            raise Open
        return value.values[0]
    return {key: _settled(item) for key, item in value.items()} if isinstance(value, dict) else value


@pytest.mark.parametrize("suite", SUITES)
def test_changed_inputs(suite: str) -> None:
    """Whatever the input, kadm answers as KubeAdmiral does, or a row says why not."""
    chance = random.Random(suite)
    failed = []
    for case in extracted(suite):
        for number in range(ROUNDS):
            given = perturbed(case.input, chance)
            try:
                changed = as_upstream(suite, given, f"{case.id}/{number}")
            except Open:
                continue
            outcome = run_case(SUITES[suite], changed)
            failed += [f"{difference}; input {given}" for difference in outcome.differences]
    assert failed == []


def a_cluster(name: str, *, cpu: str | None = "10", free: str | None = "5", serves: bool = True) -> dict[str, Any]:
    types = [{"group": "apps", "version": "v1", "kind": "Deployment"}] if serves else []
    resources = {
        "allocatable": {} if cpu is None else {"cpu": cpu},
        "available": {} if free is None else {"cpu": free},
    }
    status = {"apiResourceTypes": types, "conditions": [{"type": "Ready", "status": "True"}], "resources": resources}
    return {"metadata": {"name": name}, "status": status}


def a_case(clusters: list[Any], *, replicas: Any = 10, policy: Mapping[str, Any] | None = None, **more: Any) -> Case:
    spec = {"template": {"spec": {"containers": [{"name": "c", "image": "x"}]}}}
    given = {
        "clusters": clusters,
        "policy": {"schedulingMode": "Divide", **(policy or {})},
        "template": {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": "nginx", "namespace": "default"},
            "spec": spec if replicas is None else {**spec, "replicas": replicas},
        },
        "type": {
            "group": "apps",
            "version": "v1",
            "kind": "Deployment",
            "plural": "deployments",
            "replicasPath": "spec.replicas",
        },
        **more,
    }
    return as_upstream("scheduler", given)


STICKY = {"reschedulePolicy": {"disableRescheduling": True}}
THREE = [a_cluster(name) for name in ("c1", "c2", "c3")]
WEIGHTS = {"placement": [{"cluster": f"c{number}", "preferences": {"weight": number}} for number in (1, 2, 3)]}
HEAVY = {"placement": [{"cluster": name, "preferences": {"weight": 10**7}} for name in ("c1", "c2")]}
NO_FILTERS = {"plugins": {"filter": {"disabled": [{"name": "*"}]}}}


@pytest.mark.parametrize(
    ("case", "rows"),
    [
        pytest.param(a_case(THREE), [], id="map order: any of the alternatives"),
        pytest.param(
            a_case([a_cluster("c1", cpu="0"), a_cluster("c2", cpu="9", free="0")]),
            ["spec 2"],
            id="what is free is where nothing is allocatable",
        ),
        pytest.param(
            a_case(
                THREE, policy={"placement": [{"cluster": "c1", "preferences": {"weight": 0}}]}, currentClusters=["c1"]
            ),
            ["spec 8"],
            id="all weights are 0: it stays",
        ),
        pytest.param(a_case(THREE, replicas=2**60, policy=HEAVY), ["spec 10"], id="int64 overflows"),
        pytest.param(a_case(THREE, replicas=0, policy=WEIGHTS), ["spec 13"], id="0 replicas"),
        pytest.param(
            a_case(THREE, policy=STICKY, currentClusters=["c1", "c2"], currentReplicas={"c1": 3, "c2": 3}),
            ["spec 14"],
            id="sticky, and the total changed",
        ),
        pytest.param(
            a_case(THREE, policy=STICKY, currentClusters=["c1", "c2"], currentReplicas={"c1": 5, "c2": 5}),
            [],
            id="sticky, and nothing changed",
        ),
        pytest.param(
            a_case(
                THREE,
                policy=WEIGHTS,
                profile={"plugins": {"score": {"enabled": [{"name": "ClusterResourcesMostAllocated", "wait": 3}]}}},
            ),
            ["spec 15"],
            id="a profile's weight",
        ),
        pytest.param(a_case(THREE, policy={"maxClusters": -1}), ["spec 26"], id="negative maxClusters"),
        pytest.param(a_case(THREE, policy={"maxClusters": 0}), [], id="maxClusters 0"),
        pytest.param(
            a_case(
                THREE[::-1],
                policy={**WEIGHTS, "maxClusters": 2},
                profile={"plugins": {"select": {"disabled": [{"name": "PrioritySort"}]}}},
            ),
            ["spec 26"],
            id="the order of members without PrioritySort",
        ),
        pytest.param(a_case(THREE, replicas=None, policy=WEIGHTS), ["design 1"], id="replicas are absent"),
        pytest.param(a_case(THREE, replicas=-1, policy=WEIGHTS), ["design 1"], id="negative replicas"),
        pytest.param(a_case(THREE, replicas="3", policy=WEIGHTS), [], id="replicas are text"),
        pytest.param(
            a_case(
                [a_cluster("c1", serves=False), a_cluster("c2")],
                policy=WEIGHTS,
                profile=NO_FILTERS,
                currentClusters=["c1"],
                currentReplicas={"c1": 1},
            ),
            ["design s6"],
            id="a member that ceased to serve the version, and no filter that says so",
        ),
        pytest.param(
            a_case(THREE, profile={"plugins": {"filter": {"enabled": [{"name": "ClusterReady"}]}}}),
            [],
            id="a plugin twice: both refuse",
        ),
        pytest.param(
            a_case(
                THREE,
                policy={
                    "placement": [{"cluster": "c1", "preferences": {"weight": 1, "minReplicas": 5, "maxReplicas": 2}}]
                },
            ),
            [],
            id="min above max: the engine does the same, and the loader refuses it",
        ),
    ],
)
def test_rows_of_the_scheduler(case: Case, rows: list[str]) -> None:
    outcome = run_case(SUITES["scheduler"], case)
    assert (outcome.differences, sorted(outcome.claims)) == ([], rows)


def test_every_row_is_needed() -> None:
    """No row is there for nothing: without it, the transcription gives another answer than kadm somewhere."""
    seen: Counter[str] = Counter()
    for suite in SUITES:
        for case in extracted(suite):
            seen += run_case(SUITES[suite], case).claims
    shown_above = {"spec 1", "spec 2", "spec 10", "spec 15", "design s6"}
    assert set(seen) | shown_above == ALL
