"""What profiles can set: weights, arguments of plugins, plugins of the selection."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
import pytest

from kadm.model.objects import JsonObject
from kadm.model.observation import Capacity, MemberState, Observation
from kadm.model.repository import Repo
from tests.schedule.builders import WEB, a_cluster, a_deployment, a_policy, a_repo, a_state, decide, observed

GIB = 1 << 30


def a_member(name: str, **resources: tuple[int, int]) -> MemberState:
    """``cpu`` and ``memory`` (GiB): allocatable and available."""
    return msgspec.structs.replace(
        a_state(name),
        capacity=Capacity(
            nodes=1,
            schedulable_nodes=1,
            allocatable={resource: _text(resource, pair[0]) for resource, pair in resources.items()},
            available={resource: _text(resource, pair[1]) for resource, pair in resources.items()},
        ),
    )


def _text(resource: str, amount: int) -> str:
    return f"{amount}Gi" if resource == "memory" else str(amount)


def asking_for(name: str = "web", **requests: str) -> JsonObject:
    obj = a_deployment(name)
    obj["spec"]["template"]["spec"]["containers"][0]["resources"] = {"requests": requests}
    return obj


def a_profiled_repo(profile: Mapping[str, Any], *objects: JsonObject, mode: str = "Duplicate", **policy: Any) -> Repo:
    return a_repo(
        ["ap", "eu"],
        policies=[a_policy(mode, schedulingProfile="s", **policy)],
        objects=list(objects) or None,
        profiles={"s": profile},
    )


def arguments(name: str, **args: Any) -> dict[str, Any]:
    return {"pluginConfig": [{"name": name, "args": args}]}


FIT = {"plugins": {"filter": {"enabled": [{"name": "ClusterResourcesFit"}]}}}


@pytest.mark.parametrize(
    ("options", "want"),
    [
        pytest.param({}, ["ap", "eu"], id="as KubeAdmiral: cpu and memory of the pod are not looked at"),
        pytest.param({"podRequests": True}, ["eu"], id="one replica must fit"),
    ],
)
def test_fit_can_look_at_pod_requests(options: dict[str, Any], want: list[str]) -> None:
    seen = observed(a_member("ap", cpu=(8, 1), memory=(8, 8)), a_member("eu", cpu=(8, 4), memory=(8, 8)))
    repo = a_profiled_repo({**FIT, **arguments("ClusterResourcesFit", **options)}, asking_for(cpu="2"))
    assert list(decide(repo, seen).placement) == want


@pytest.mark.parametrize(
    ("plugin", "options", "scores"),
    [
        pytest.param("ClusterResourcesLeastAllocated", {}, {"ap": 100, "eu": 100}, id="least, as KubeAdmiral"),
        pytest.param("ClusterResourcesLeastAllocated", {"podRequests": True}, {"ap": 75, "eu": 87}, id="least"),
        pytest.param("ClusterResourcesMostAllocated", {}, {"ap": 0, "eu": 0}, id="most, as KubeAdmiral"),
        pytest.param("ClusterResourcesMostAllocated", {"podRequests": True}, {"ap": 25, "eu": 12}, id="most"),
        pytest.param("ClusterResourcesBalancedAllocation", {}, {"ap": 100, "eu": 100}, id="balance, as KubeAdmiral"),
        pytest.param("ClusterResourcesBalancedAllocation", {"podRequests": True}, {"ap": 75, "eu": 87}, id="balance"),
    ],
)
def test_scores_can_look_at_pod_requests(plugin: str, options: dict[str, Any], scores: dict[str, int]) -> None:
    seen = observed(a_member("ap", cpu=(4, 4), memory=(8, 8)), a_member("eu", cpu=(8, 8), memory=(8, 8)))
    only = {"disabled": [{"name": "*"}], "enabled": [{"name": plugin}]}
    profile = {"plugins": {"score": only}, **arguments(plugin, **options)}
    decision = decide(a_profiled_repo(profile, asking_for(cpu="2"), maxClusters=1), seen)
    assert {entry.member: entry.scores[plugin] for entry in decision.members} == scores


def test_units_are_told_apart_by_their_pods_where_a_plugin_looks_at_them() -> None:
    seen = observed(a_member("ap", cpu=(8, 1), memory=(8, 8)), a_member("eu", cpu=(8, 4), memory=(8, 8)))
    profile = {**FIT, **arguments("ClusterResourcesFit", podRequests=True)}
    repo = a_profiled_repo(profile, asking_for("web", cpu="2"), asking_for("small", cpu="500m"))
    small = msgspec.structs.replace(WEB, name="small")
    assert [list(decide(repo, seen, key).placement) for key in (WEB, small)] == [["eu"], ["ap", "eu"]]


@pytest.mark.parametrize(
    ("options", "requests", "want"),
    [
        pytest.param({}, {"cpu": "1", "memory": "4Gi"}, {"ap": 5, "eu": 4}, id="as KubeAdmiral: by cpu alone"),
        pytest.param(
            {"scarcestResource": True}, {"cpu": "1", "memory": "4Gi"}, {"ap": 8, "eu": 1}, id="by pods that fit"
        ),
        pytest.param({"scarcestResource": True}, {}, {"ap": 5, "eu": 4}, id="pods that ask for nothing: by cpu"),
        pytest.param(
            {"scarcestResource": True}, {"cpu": "1", "example.com/fpga": "1"}, {"ap": 5, "eu": 4}, id="nowhere"
        ),
    ],
)
def test_dynamic_weights_can_look_at_the_scarcest_resource(
    options: dict[str, Any], requests: dict[str, str], want: dict[str, int]
) -> None:
    """In eu cpu is free, but only two pods find memory."""
    seen = observed(a_member("ap", cpu=(8, 8), memory=(32, 32)), a_member("eu", cpu=(8, 8), memory=(8, 8)))
    repo = a_profiled_repo(arguments("ClusterCapacityWeight", **options), asking_for("web", **requests), mode="Divide")
    assert decide(repo, seen).placement == want


def scored(profile: Mapping[str, Any]) -> list[str]:
    clusters = [a_cluster("ap"), a_cluster("eu")]
    seen: Observation = observed(a_member("ap", cpu=(8, 8), memory=(8, 1)), a_member("eu", cpu=(8, 5), memory=(8, 5)))
    policy = a_policy("Duplicate", schedulingProfile="s", maxClusters=1)
    return list(decide(a_repo(clusters, policies=[policy], profiles={"s": profile}), seen).placement)


@pytest.mark.parametrize(
    ("weights", "want"),
    [
        pytest.param({}, "eu", id="a weight of 1 each"),
        pytest.param({"weight": 40}, "ap", id="weight"),
        pytest.param({"wait": 40}, "ap", id="wait, as upstream spells it"),
        pytest.param({"weight": 40, "wait": 1}, "ap", id="weight goes before wait"),
        pytest.param({"weight": 0}, "eu", id="a weight of 0"),
    ],
)
def test_weights_multiply_scores(weights: dict[str, int], want: str) -> None:
    """Balance gives ap 56 and eu 100, what is allocated 43 and 37."""
    points = [{"name": "ClusterResourcesBalancedAllocation"}, {"name": "ClusterResourcesMostAllocated", **weights}]
    assert scored({"plugins": {"score": {"disabled": [{"name": "*"}], "enabled": points}}}) == [want]


def test_without_select_plugins_all_that_fit_are_selected() -> None:
    assert scored({"plugins": {"select": {"disabled": [{"name": "*"}]}}}) == ["ap", "eu"]
