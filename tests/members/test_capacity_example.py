"""The example of a member's resources in propagation spec, section 12."""

from __future__ import annotations

from typing import Any

import msgspec

from kadm.members.capacity import Node, Pod, capacity_of


def a_node(cpu: str, ready: str = "True", **spec: Any) -> Node:
    conditions = [{"type": "Ready", "status": ready}] if ready else []
    return msgspec.convert({"spec": spec, "status": {"allocatable": {"cpu": cpu}, "conditions": conditions}}, Node)


def a_pod(*containers: dict[str, Any], phase: str = "Running", **spec: Any) -> Pod:
    resources = [{"resources": container} for container in containers]
    return msgspec.convert({"spec": {"containers": resources, **spec}, "status": {"phase": phase}}, Pod)


def test_example() -> None:
    nodes = [
        a_node("4"),
        a_node("4", unschedulable=True),
        a_node("2", taints=[{"key": "a", "effect": "NoExecute"}]),
        a_node("2", ready=""),
    ]
    half = {"requests": {"cpu": "500m"}}
    pods = [
        a_pod(half, half, initContainers=[{"resources": {"requests": {"cpu": "2"}}}]),
        a_pod({"requests": {"cpu": "1"}}),
        a_pod({"limits": {"cpu": "250m"}}, phase="Pending"),
        a_pod({"requests": {"cpu": "3"}}, phase="Succeeded"),
    ]
    found = capacity_of(nodes, pods)
    assert (found.schedulable_nodes, found.allocatable, found.available) == (2, {"cpu": "6"}, {"cpu": "2750m"})
