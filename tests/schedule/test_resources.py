"""What one pod asks for (scheduling spec 2.3)."""

from __future__ import annotations

from typing import Any

import pytest

from kadm.model.objects import ObjectKey
from kadm.schedule.resources import RequestError, pod_request

DEPLOYMENT = ObjectKey("apps", "Deployment", "default", "web")


def container(requests: dict[str, Any] | None = None, limits: dict[str, Any] | None = None) -> dict[str, Any]:
    return {"resources": {"requests": requests or {}, "limits": limits or {}}}


def a_deployment(**pod_spec: Any) -> dict[str, Any]:
    return {"spec": {"template": {"spec": pod_spec}}}


@pytest.mark.parametrize(
    ("pod_spec", "want"),
    [
        pytest.param({}, {}, id="nothing"),
        pytest.param(
            {"containers": [container({"cpu": "100m", "memory": "1Gi"}), container({"cpu": 1})]},
            {"cpu": 1100, "memory": 2**30},
            id="sum over containers, cpu in milli",
        ),
        pytest.param(
            {"containers": [container({"cpu": "1"}, {"cpu": "4", "memory": "1Mi"})]},
            {"cpu": 1000, "memory": 2**20},
            id="the limit where no request is given",
        ),
        pytest.param(
            {"containers": [container({"cpu": "1"})], "initContainers": [container({"cpu": "3"}, {"memory": "1Gi"})]},
            {"cpu": 3000},
            id="at least each init container's request, its limits do not count",
        ),
        pytest.param(
            {"containers": [container({"cpu": "1"})], "overhead": {"cpu": "250m"}},
            {"cpu": 1250},
            id="overhead comes on top",
        ),
        pytest.param({"containers": [container({"cpu": "0.1m"})]}, {"cpu": 1}, id="rounded up"),
        pytest.param(
            {
                "containers": [
                    container({"nvidia.com/gpu": 2, "pods": 1, "requests.example.com/a": 1, "hugepages-2Mi": "4Mi"})
                ]
            },
            {"hugepages-2Mi": 4 * 2**20, "nvidia.com/gpu": 2},
            id="only what the scheduler knows",
        ),
        pytest.param({"containers": [{}], "initContainers": None}, {}, id="null is empty"),
    ],
)
def test_request(pod_spec: dict[str, Any], want: dict[str, int]) -> None:
    assert pod_request(DEPLOYMENT, a_deployment(**pod_spec)) == want


def test_other_kinds_ask_for_nothing() -> None:
    assert pod_request(ObjectKey("", "ConfigMap", "default", "c"), {}) == {}


@pytest.mark.parametrize(
    ("obj", "path"),
    [
        ({}, ("spec", "template", "spec")),
        (
            a_deployment(containers=[container({"cpu": "many"})]),
            ("spec", "template", "spec", "containers", 0, "resources", "requests", "cpu"),
        ),
        (
            a_deployment(containers=[container({"cpu": None})]),
            ("spec", "template", "spec", "containers", 0, "resources", "requests", "cpu"),
        ),
        (a_deployment(containers={}, initContainers="x"), ("spec", "template", "spec", "initContainers")),
    ],
)
def test_faults_are_located(obj: dict[str, Any], path: tuple[Any, ...]) -> None:
    with pytest.raises(RequestError) as caught:
        pod_request(DEPLOYMENT, obj)
    assert caught.value.path == path
