"""What a member has and what is left of it (propagation spec 8.5)."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from kadm.members.capacity import Node, Pod, capacity_of
from kadm.model.observation import Capacity


def a_node(cpu: str = "4", memory: str = "8Gi", ready: str = "True", **spec: Any) -> Node:
    conditions = [{"type": "Ready", "status": ready}] if ready else []
    allocatable = {"cpu": cpu, "memory": memory, "pods": "110"}
    return msgspec.convert({"spec": spec, "status": {"allocatable": allocatable, "conditions": conditions}}, Node)


def a_pod(*requests: dict[str, str], phase: str = "Running", **spec: Any) -> Pod:
    containers = [{"resources": {"requests": request}} for request in requests]
    return msgspec.convert({"spec": {"containers": containers, **spec}, "status": {"phase": phase}}, Pod)


@pytest.mark.parametrize(
    ("node", "counted"),
    [
        pytest.param(a_node(), True, id="ready"),
        pytest.param(a_node(ready=""), True, id="no Ready condition"),
        pytest.param(a_node(ready="False"), False, id="not ready"),
        pytest.param(a_node(ready="Unknown"), False, id="unknown"),
        pytest.param(a_node(unschedulable=True), False, id="cordoned"),
        pytest.param(a_node(taints=[{"key": "a", "effect": "NoSchedule"}]), False, id="NoSchedule"),
        pytest.param(a_node(taints=[{"key": "a", "effect": "NoExecute"}]), False, id="NoExecute"),
        pytest.param(a_node(taints=[{"key": "a", "effect": "PreferNoSchedule"}]), True, id="PreferNoSchedule"),
    ],
)
def test_which_nodes_count(node: Node, counted: bool) -> None:
    found = capacity_of([node], [])
    assert (found.nodes, found.schedulable_nodes) == (1, int(counted))


@pytest.mark.parametrize(
    ("pod", "cpu"),
    [
        pytest.param(a_pod({"cpu": "500m"}, {"cpu": "1"}), "2500m", id="the sum of containers"),
        pytest.param(a_pod({"cpu": "1"}, phase="Pending"), "3", id="pending"),
        pytest.param(a_pod({"cpu": "1"}, phase="Succeeded"), "4", id="done"),
        pytest.param(a_pod({"cpu": "1"}, phase="Failed"), "4", id="failed"),
        pytest.param(
            a_pod({"cpu": "1"}, initContainers=[{"resources": {"requests": {"cpu": "3"}}}]), "1", id="init container"
        ),
        pytest.param(
            a_pod({"cpu": "1"}, initContainers=[{"resources": {"limits": {"cpu": "3"}}}]), "3", id="init limit"
        ),
        pytest.param(a_pod({"cpu": "1"}, overhead={"cpu": "250m"}), "2750m", id="overhead"),
        pytest.param(a_pod(containers=[{"resources": {"limits": {"cpu": "3"}}}]), "1", id="a limit without request"),
        pytest.param(
            a_pod(containers=[{"resources": {"limits": {"cpu": "3"}, "requests": {"cpu": "1"}}}]), "3", id="both"
        ),
        pytest.param(a_pod({"cpu": "9"}), "-5", id="more than there is"),
        pytest.param(a_pod({"example.com/gpu": "1"}), "4", id="a resource that no node has"),
        pytest.param(a_pod(containers=None), "4", id="no containers"),
    ],
)
def test_what_a_pod_takes(pod: Pod, cpu: str) -> None:
    assert capacity_of([a_node()], [pod]).available["cpu"] == cpu


def test_capacity() -> None:
    nodes = [a_node(), a_node("2500m", "1048576Ki"), a_node(unschedulable=True)]
    pods = [a_pod({"cpu": "1", "memory": "512Mi"}), a_pod({"memory": "100M"})]
    assert capacity_of(nodes, pods) == Capacity(
        nodes=3,
        schedulable_nodes=2,
        allocatable={"cpu": "6500m", "memory": "9Gi"},
        available={"cpu": "5500m", "memory": "9026805504"},
    )
