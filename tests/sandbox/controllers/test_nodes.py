"""Taints that follow a node's state, and what they do to its pods."""

from __future__ import annotations

from typing import Any

import pytest

from kadm.sandbox.controllers.nodes import evicted_in, taints, unready
from tests.sandbox.controllers.builders import NOW, a_node, a_pod, at

Object = dict[str, Any]
MINE = {"key": "gpu", "value": "yes", "effect": "NoSchedule"}


def ours(name: str, effect: str, since: float = 0) -> Object:
    """A taint of the node lifecycle controller."""
    return {"key": f"node.kubernetes.io/{name}", "effect": effect, "timeAdded": at(since)}


@pytest.mark.parametrize(
    ("node", "want"),
    [
        pytest.param(a_node(), [], id="all is well"),
        pytest.param(a_node(taints=[MINE]), [MINE], id="what others put stays"),
        pytest.param(a_node(unschedulable=True), [ours("unschedulable", "NoSchedule")], id="cordoned"),
        pytest.param(a_node(taints=[ours("unschedulable", "NoSchedule")]), [], id="uncordoned"),
        pytest.param(
            a_node(ready="False"), [ours("not-ready", "NoSchedule"), ours("not-ready", "NoExecute")], id="not ready"
        ),
        pytest.param(
            a_node(ready="Unknown", taints=[ours("unreachable", "NoSchedule", -9)]),
            [ours("unreachable", "NoSchedule", -9), ours("unreachable", "NoExecute")],
            id="the time of a taint stays",
        ),
    ],
)
def test_taints(node: Object, want: list[Object]) -> None:
    assert taints(node, NOW) == want


def tolerating(seconds: int | None) -> Object:
    """A toleration of unreachable nodes."""
    found = {"key": "node.kubernetes.io/unreachable", "operator": "Exists", "effect": "NoExecute"}
    return found if seconds is None else {**found, "tolerationSeconds": seconds}


@pytest.mark.parametrize(
    ("tolerations", "want"),
    [
        pytest.param([], 0.0, id="at once"),
        pytest.param([tolerating(None)], None, id="never"),
        pytest.param([tolerating(300)], 290.0, id="after its time"),
        pytest.param([tolerating(300), tolerating(60)], 50.0, id="after the shorter of two"),
        pytest.param([tolerating(5)], 0.0, id="its time is over"),
    ],
)
def test_eviction(tolerations: list[Object], want: float | None) -> None:
    assert evicted_in(a_pod(tolerations=tolerations), [ours("unreachable", "NoExecute", -10)], NOW) == want


def test_a_pod_of_a_silent_node_is_not_ready() -> None:
    [condition] = unready(a_pod(phase="Running", ready=True), NOW)["status"]["conditions"]
    assert condition == {"type": "Ready", "status": "False", "lastTransitionTime": at(0), "reason": "NodeNotReady"}
