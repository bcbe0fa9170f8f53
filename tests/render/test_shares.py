"""Dividing whole numbers among members, and the fields that are divided."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kadm.model.objects import ObjectKey, Path, path_text
from kadm.render.shares import autoscaler_shares, budget_shares, proportional, workload_shares

DEPLOYMENT = ObjectKey("apps", "Deployment", "shop", "web")
STATEFUL_SET = ObjectKey("apps", "StatefulSet", "shop", "db")
JOB = ObjectKey("batch", "Job", "shop", "load")
REPLICAS: Path = ("spec", "replicas")
PARALLELISM: Path = ("spec", "parallelism")


def told(shares: Mapping[str, Any]) -> dict[str, Any]:
    """Member → path as text → value."""
    return {
        member: share and {path_text(path).removeprefix("spec."): value for path, value in share.items()}
        for member, share in shares.items()
    }


@pytest.mark.parametrize(
    ("total", "weights", "want"),
    [
        (10, {"b": 5, "a": 5}, {"a": 5, "b": 5}),
        (10, {"a": 1, "b": 1, "c": 1}, {"a": 4, "b": 3, "c": 3}),
        (3, {"a": 0, "b": 1}, {"a": 0, "b": 3}),
        (3, {"b": 0, "a": 0}, {"a": 3, "b": 0}),
        (1, {"a": 1, "b": 2}, {"a": 0, "b": 1}),
    ],
)
def test_proportional(total: int, weights: dict[str, int], want: dict[str, int]) -> None:
    assert proportional(total, weights) == want


@given(st.integers(0, 10**6), st.dictionaries(st.text(max_size=3), st.integers(0, 10**4), min_size=1))
def test_sums_hold_and_weight_0_gets_nothing(total: int, weights: dict[str, int]) -> None:
    parts = proportional(total, weights)
    assert sum(parts.values()) == total
    if any(weights.values()):
        assert not any(parts[member] for member, weight in weights.items() if weight == 0)
    assert parts == proportional(total, dict(reversed(weights.items())))


@pytest.mark.parametrize(
    ("placement", "want"),
    [
        pytest.param({"eu": 2, "us": 0}, {"eu": {"replicas": 2}, "us": {"replicas": 0}}, id="divided"),
        pytest.param({"eu": None, "us": None}, {}, id="duplicated"),
    ],
)
def test_a_deployment(placement: dict[str, int | None], want: Any) -> None:
    obj = {"spec": {"replicas": 2}}
    assert told(workload_shares(DEPLOYMENT, obj, REPLICAS, placement, blocks={})) == want


@pytest.mark.parametrize(
    ("spec", "placement", "want"),
    [
        pytest.param(
            {},
            {"eu": 2, "us": 1},
            {"eu": {"replicas": 2}, "us": {"replicas": 1, "ordinals.start": 1000}},
            id="block 0 is as in the manifest",
        ),
        pytest.param(
            {"ordinals": {"start": 5}},
            {"eu": 2, "us": 1},
            {"eu": {"replicas": 2}, "us": {"replicas": 1, "ordinals.start": 1005}},
            id="the manifest begins elsewhere",
        ),
        pytest.param(
            {}, {"eu": None, "us": None}, {"us": {"ordinals.start": 1000}}, id="not divided any more, but live"
        ),
    ],
)
def test_a_stateful_set_has_blocks_of_ordinals(spec: Any, placement: dict[str, int | None], want: Any) -> None:
    blocks = {"ap": 2, "eu": 0, "us": 1}
    assert told(workload_shares(STATEFUL_SET, {"spec": spec}, REPLICAS, placement, blocks=blocks)) == want


@pytest.mark.parametrize(
    ("spec", "placement", "want"),
    [
        pytest.param(
            {"parallelism": 6, "completions": 11},
            {"eu": 4, "us": 2},
            {"eu": {"parallelism": 4, "completions": 7}, "us": {"parallelism": 2, "completions": 4}},
            id="completions go with parallelism",
        ),
        pytest.param(
            {"parallelism": 3}, {"eu": 2, "us": 1}, {"eu": {"parallelism": 2}, "us": {"parallelism": 1}}, id="a queue"
        ),
        pytest.param(
            {"parallelism": 10, "completions": 3},
            {"eu": 2, "us": 1},
            {"eu": {"parallelism": 7, "completions": 2}, "us": {"parallelism": 3, "completions": 1}},
            id="more parallelism than completions",
        ),
        pytest.param(
            {"parallelism": 9, "completions": 11},
            {"eu": 4, "us": 2},
            {"eu": {"parallelism": 4, "completions": 7}, "us": {"parallelism": 2, "completions": 4}},
            id="a later edit of parallelism does not divide it anew",
        ),
        pytest.param(
            {"parallelism": 0, "completions": 0},
            {"eu": 0, "us": 0},
            {"eu": {"parallelism": 0, "completions": 0}, "us": {"parallelism": 0, "completions": 0}},
            id="nothing to do",
        ),
    ],
)
def test_a_job(spec: Any, placement: dict[str, int | None], want: Any) -> None:
    assert told(workload_shares(JOB, {"spec": spec}, PARALLELISM, placement, blocks={})) == want


@given(
    st.integers(1, 500), st.integers(1, 500), st.dictionaries(st.sampled_from("abcdef"), st.integers(0, 50), min_size=1)
)
def test_sums_of_a_job_are_exact(parallelism: int, completions: int, weights: dict[str, int]) -> None:
    placement = {
        name: number for name, number in proportional(min(parallelism, completions), weights).items() if number
    }
    obj = {"spec": {"parallelism": parallelism, "completions": completions}}
    shares = workload_shares(JOB, obj, PARALLELISM, placement, blocks={})
    exact = parallelism if parallelism > completions else sum(placement.values())
    assert sum(share[PARALLELISM] for share in shares.values()) == exact
    assert sum(share[("spec", "completions")] for share in shares.values()) == completions
    assert all(share[("spec", "completions")] for share in shares.values())


@pytest.mark.parametrize(
    ("spec", "placement", "want"),
    [
        pytest.param(
            {"minReplicas": 3, "maxReplicas": 9},
            {"eu": 2, "us": 1},
            {"eu": {"minReplicas": 2, "maxReplicas": 6}, "us": {"minReplicas": 1, "maxReplicas": 3}},
            id="both",
        ),
        pytest.param(
            {"maxReplicas": 4},
            {"eu": 2, "us": 2},
            {"eu": {"minReplicas": 1, "maxReplicas": 2}, "us": {"minReplicas": 1, "maxReplicas": 2}},
            id="at least 1",
        ),
        pytest.param(
            {"minReplicas": 2, "maxReplicas": 4},
            {"eu": 4, "us": 0},
            {"eu": {"minReplicas": 2, "maxReplicas": 4}, "us": None},
            id="a share of 0 gets none",
        ),
        pytest.param({"maxReplicas": 4}, {"eu": None, "us": None}, {}, id="of a workload that is not divided"),
    ],
)
def test_an_autoscaler(spec: Any, placement: dict[str, int | None], want: Any) -> None:
    assert told(autoscaler_shares({"spec": spec}, placement)) == want


@pytest.mark.parametrize(
    ("spec", "placements", "want"),
    [
        pytest.param(
            {"minAvailable": 6},
            [{"eu": 6, "us": 3}],
            {"eu": {"minAvailable": 4}, "us": {"minAvailable": 2}},
            id="minimum",
        ),
        pytest.param(
            {"maxUnavailable": 3},
            [{"eu": 8, "us": 1}],
            {"eu": {"maxUnavailable": 2}, "us": {"maxUnavailable": 1}},
            id="every member can drain",
        ),
        pytest.param(
            {"maxUnavailable": 1},
            [{"eu": 8, "us": 1}],
            {"eu": {"maxUnavailable": 1}, "us": {"maxUnavailable": 1}},
            id="even where 1 is too few for all",
        ),
        pytest.param(
            {"maxUnavailable": 0},
            [{"eu": 8, "us": 1}],
            {"eu": {"maxUnavailable": 0}, "us": {"maxUnavailable": 0}},
            id="0 is meant",
        ),
        pytest.param({"minAvailable": "50%"}, [{"eu": 8, "us": 1}], {}, id="percentages stay"),
        pytest.param(
            {"minAvailable": 4},
            [{"eu": 1}, {"eu": 1, "us": 2}],
            {"eu": {"minAvailable": 2}, "us": {"minAvailable": 2}},
            id="of two workloads",
        ),
        pytest.param({"minAvailable": 4}, [{"eu": 1}, {"eu": None}], {}, id="one of them is not divided"),
        pytest.param({"minAvailable": 4}, [], {}, id="of none"),
    ],
)
def test_a_budget(spec: Any, placements: list[dict[str, int | None]], want: Any) -> None:
    assert told(budget_shares({"spec": spec}, placements)) == want
