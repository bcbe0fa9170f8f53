"""What annotations change in a policy's rules (scheduling spec 2.4)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

import pytest

from kadm.model.policy import SelectorRequirement, SelectorTerm, Toleration
from kadm.model.selector import SelectorError, terms_match
from kadm.schedule.policy_annotations import AnnotationError, apply, migration_of
from kadm.schedule.unit import Migration, Placements, Preferred, Rules

POLICY = Rules(
    mode="Divide",
    selector={"a": "b"},
    max_clusters=7,
    placements=Placements(
        names=frozenset({"eu"}), minimums={"eu": 1}, maximums={"eu": 9}, weights={"eu": 5}, priorities={"eu": 2}
    ),
)
PREFIX = "kubeadmiral.io/"


@pytest.mark.parametrize(
    ("annotation", "text", "changes"),
    [
        pytest.param("scheduling-mode", "Duplicate", {"mode": "Duplicate"}, id="mode"),
        pytest.param("sticky-cluster", "true", {"sticky": True}, id="sticky"),
        pytest.param("maxClusters", "+3", {"max_clusters": 3}, id="a sign is allowed"),
        pytest.param("clusterSelector", "{}", {"selector": {}}, id="an empty selector lifts the policy's"),
        pytest.param("clusterSelector", "null", {"selector": {}}, id="null is empty, and there"),
        pytest.param("clusterSelector", '{"X":"y"}', {"selector": {"X": "y"}}, id="labels keep their case"),
        pytest.param(
            "tolerations",
            '[{"KEY":"k","Operator":"Exists","tolerationSeconds":3,"unknown":1},{"operator":"Maybe"}]',
            {"tolerations": (Toleration("k", "Exists"),)},
            id="fields in any case, an operator that does not exist tolerates nothing",
        ),
        pytest.param("placements", "[]", {"placements": Placements()}, id="an empty list lifts the policy's"),
        pytest.param(
            "placements",
            '[{"cluster":"us","preferences":{"minReplicas":2}},{"cluster":"ap"}]',
            {"placements": Placements(names=frozenset({"us", "ap"}), minimums={"us": 2, "ap": 0})},
            id="weights that are not set are not the policy's",
        ),
        pytest.param("affinity", "{}", {"required": None}, id="an empty affinity is no restriction"),
        pytest.param(
            "affinity",
            '{"clusterAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"clusterSelectorTerms":[]}}}',
            {"required": ()},
            id="required without terms matches no member",
        ),
        pytest.param(
            "affinity",
            '{"clusterAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":['
            '{"weight":-2,"preference":{"matchExpressions":[{"key":"k","operator":"Exists"}]}}]}}',
            {"preferred": (Preferred(weight=-2, term=SelectorTerm((SelectorRequirement("k", "Exists", ()),))),)},
            id="preferred",
        ),
    ],
)
def test_valid(annotation: str, text: str, changes: Mapping[str, Any]) -> None:
    rules, wrong = apply(POLICY, {PREFIX + annotation: text})
    plain = {name: getattr(POLICY, name) for name in asdict(POLICY)}
    assert {name: getattr(rules, name) for name in plain} == {**plain, **changes}
    assert wrong == {}


@pytest.mark.parametrize(
    ("annotation", "text"),
    [
        ("scheduling-mode", "duplicate"),
        ("sticky-cluster", "True"),
        ("maxClusters", "-1"),
        ("maxClusters", " 3"),
        ("clusterSelector", '{"a":1}'),
        ("clusterSelector", "[]"),
        ("tolerations", "{}"),
        ("tolerations", "[1]"),
        ("placements", "{"),
        ("placements", '[{"cluster":1}]'),
        ("affinity", "[]"),
    ],
)
def test_invalid_changes_nothing_and_is_reported(annotation: str, text: str) -> None:
    rules, wrong = apply(POLICY, {PREFIX + annotation: text})
    assert {name: getattr(rules, name) for name in asdict(POLICY)} == {
        name: getattr(POLICY, name) for name in asdict(POLICY)
    }
    assert list(wrong) == [PREFIX + annotation]


def test_each_field_of_placements_stands_alone() -> None:
    text = '[{"cluster":"us","preferences":{"weight":-1,"minReplicas":3,"priority":4}}]'
    rules, wrong = apply(POLICY, {PREFIX + "placements": text})
    assert rules.placements == Placements(
        names=frozenset({"us"}), minimums={"us": 3}, weights={"eu": 5}, priorities={"us": 4}
    )
    assert wrong == {PREFIX + "placements": "weight: -1 is no integer of at least 0"}


def test_an_unknown_operator_does_not_lift_the_restriction() -> None:
    text = (
        '{"clusterAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"clusterSelectorTerms":['
        '{"matchExpressions":[{"key":"k","operator":"Like","values":["v"]}]}]}}}'
    )
    rules, wrong = apply(POLICY, {PREFIX + "affinity": text})
    assert wrong == {PREFIX + "affinity": "no such operator: Like"}
    with pytest.raises(SelectorError):
        terms_match(rules.required or (), "eu", {"k": "v"})


def test_migration() -> None:
    text = (
        '{"replicasMigrations":[{"cluster":"eu","limitedCapacity":2}],'
        '"workloadMigrations":[{"cluster":"us","validUntil":"2026-01-02T03:04:05Z"}]}'
    )
    assert migration_of(text, divisible=True) == Migration(
        limited={"eu": 2}, unavailable={"us": datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)}
    )


@pytest.mark.parametrize(
    "text",
    [
        "{",
        '{"replicasMigrations":[{"cluster":"eu"}]}',
        '{"replicasMigrations":[{"cluster":"eu","limitedCapacity":-1}]}',
        '{"replicasMigrations":[{"limitedCapacity":1}]}',
        '{"replicasMigrations":[{"cluster":"eu","limitedCapacity":1},{"cluster":"eu","limitedCapacity":1}]}',
        '{"workloadMigrations":[{"cluster":"eu"}]}',
        '{"workloadMigrations":[{"cluster":"eu","validUntil":"2026-01-02"}]}',
        '{"workloadMigrations":[{"cluster":"eu","validUntil":"2026-13-02T00:00:00Z"}]}',
        (
            '{"replicasMigrations":[{"cluster":"eu","limitedCapacity":1}],'
            '"workloadMigrations":[{"cluster":"eu","validUntil":"2026-01-02T00:00:00Z"}]}'
        ),
    ],
)
def test_migration_refused(text: str) -> None:
    with pytest.raises(AnnotationError):
        migration_of(text, divisible=True)


def test_limits_need_a_replica_count() -> None:
    with pytest.raises(AnnotationError):
        migration_of('{"replicasMigrations":[{"cluster":"eu","limitedCapacity":1}]}', divisible=False)
