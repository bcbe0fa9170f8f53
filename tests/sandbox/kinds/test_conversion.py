"""Objects in other versions of their kind."""

from __future__ import annotations

import pytest

from kadm.model.objects import JsonObject
from kadm.sandbox.kinds.conversion import convert
from kadm.sandbox.kinds.registry import ResourceKind, builtin_kind

CPU = {"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 50}}}
MEMORY = {
    "type": "Resource",
    "resource": {"name": "memory", "target": {"type": "Utilization", "averageUtilization": 70}},
}
TARGET = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "x"}


def a_kind(group: str, version: str, kind: str) -> ResourceKind:
    found = builtin_kind(group, version, kind)
    assert found is not None
    return found


def an_autoscaler(version: str, spec: JsonObject, status: JsonObject, **metadata: JsonObject) -> JsonObject:
    return {
        "apiVersion": f"autoscaling/{version}",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "h", **metadata},
        "spec": {"scaleTargetRef": TARGET, "maxReplicas": 5, **spec},
        "status": status,
    }


MEMORY_NOTE = {
    "autoscaling.alpha.kubernetes.io/metrics": (
        '[{"type":"Resource","resource":{"name":"memory","targetAverageUtilization":70}}]'
    )
}


@pytest.mark.parametrize(
    ("v2", "v1"),
    [
        pytest.param(
            an_autoscaler("v2", {"metrics": [CPU]}, {"desiredReplicas": 0, "currentMetrics": None}),
            an_autoscaler("v1", {"targetCPUUtilizationPercentage": 50}, {"desiredReplicas": 0, "currentReplicas": 0}),
            id="cpu is a field",
        ),
        pytest.param(
            an_autoscaler("v2", {"metrics": [MEMORY]}, {"desiredReplicas": 1, "currentMetrics": None}),
            an_autoscaler("v1", {}, {"desiredReplicas": 1, "currentReplicas": 0}, annotations=MEMORY_NOTE),
            id="other metrics are an annotation",
        ),
    ],
)
def test_autoscalers_there_and_back(v2: JsonObject, v1: JsonObject) -> None:
    there = convert(a_kind("autoscaling", "v1", "HorizontalPodAutoscaler"), v2)
    back = convert(a_kind("autoscaling", "v2", "HorizontalPodAutoscaler"), there)
    assert (there, back) == (v1, v2)


def test_events_rename_their_fields() -> None:
    core = {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": "e"},
        "message": "m",
        "involvedObject": {"name": "x"},
    }
    there = convert(a_kind("events.k8s.io", "v1", "Event"), core)
    assert (there, convert(a_kind("", "v1", "Event"), there)) == (
        {
            "apiVersion": "events.k8s.io/v1",
            "kind": "Event",
            "metadata": {"name": "e"},
            "note": "m",
            "regarding": {"name": "x"},
        },
        core,
    )


def test_an_object_in_the_wanted_version_is_returned_itself() -> None:
    obj = an_autoscaler("v2", {}, {})
    assert convert(a_kind("autoscaling", "v2", "HorizontalPodAutoscaler"), obj) is obj
