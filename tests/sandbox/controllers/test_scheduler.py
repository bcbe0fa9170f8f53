"""Where pods go, and why not."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from kadm.sandbox.controllers.placement import NodeState, choose, requests
from kadm.sandbox.controllers.scheduler import unschedulable
from tests.sandbox.controllers.builders import NOW, a_node, a_pod, at

Object = dict[str, Any]
TAINT = {"key": "gpu", "value": "yes", "effect": "NoSchedule"}
NO_PREEMPTION = (
    "no new claims to deallocate, preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling."
)


def states(*nodes: tuple[Object, list[Object]]) -> list[NodeState]:
    """Nodes with what runs on them."""
    made = [NodeState(node) for node, _ in nodes]
    for state, (_, pods) in zip(made, nodes, strict=True):
        for pod in pods:
            state.place(pod)
    return made


def affinity(kind: str, *, zone: str = "kubernetes.io/hostname") -> Object:
    """Required pod (anti-)affinity to app=web."""
    term = {"labelSelector": {"matchLabels": {"app": "web"}}, "topologyKey": zone}
    return {kind: {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}


def node_affinity(*expressions: Object) -> Object:
    """Required node affinity with one term."""
    terms = [{"matchExpressions": list(expressions)}]
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}


EMPTY, OTHER = a_node(), a_node("node-1", labels={"disk": "ssd", "zone": "b"})
CASES = [
    pytest.param(a_pod(), [(EMPTY, []), (OTHER, [])], "node-0", id="the first by name of equals"),
    pytest.param(a_pod(), [(EMPTY, [a_pod("x")]), (OTHER, [])], "node-1", id="the one with fewer pods"),
    pytest.param(
        a_pod(requests={"cpu": "1"}),
        [(EMPTY, [a_pod("x", requests={"cpu": "2"})]), (OTHER, [a_pod("y"), a_pod("z")])],
        "node-1",
        id="the one with more room",
    ),
    pytest.param(
        a_pod(requests={"cpu": "3"}),
        [(EMPTY, [a_pod("x", requests={"cpu": "1500m"})]), (OTHER, [])],
        "node-1",
        id="the one it fits on",
    ),
    pytest.param(a_pod(nodeSelector={"disk": "ssd"}), [(EMPTY, []), (OTHER, [])], "node-1", id="nodeSelector"),
    pytest.param(
        a_pod(affinity=node_affinity({"key": "disk", "operator": "DoesNotExist"})),
        [(OTHER, []), (EMPTY, [])],
        "node-0",
        id="node affinity",
    ),
    pytest.param(
        a_pod(tolerations=[{"key": "gpu", "operator": "Exists"}]),
        [(a_node(taints=[TAINT]), []), (OTHER, [a_pod("x")])],
        "node-0",
        id="a tolerated taint",
    ),
    pytest.param(a_pod(), [(a_node(taints=[TAINT]), []), (OTHER, [a_pod("x")])], "node-1", id="a taint"),
    pytest.param(a_pod(), [(a_node(unschedulable=True), []), (OTHER, [a_pod("x")])], "node-1", id="a cordoned node"),
    pytest.param(
        a_pod(affinity=affinity("podAntiAffinity")), [(EMPTY, [a_pod("x")]), (OTHER, [])], "node-1", id="anti-affinity"
    ),
    pytest.param(
        a_pod(),
        [(EMPTY, [a_pod("x", affinity=affinity("podAntiAffinity"))]), (OTHER, [a_pod("y", labels={"app": "db"})])],
        "node-1",
        id="the anti-affinity of those that are there",
    ),
    pytest.param(
        a_pod(affinity=affinity("podAffinity")),
        [(EMPTY, []), (OTHER, [a_pod("x")])],
        "node-1",
        id="affinity",
    ),
    pytest.param(
        a_pod(affinity=affinity("podAffinity")), [(EMPTY, []), (OTHER, [])], "node-0", id="the first of its kind"
    ),
]


@pytest.mark.parametrize(("pod", "nodes", "want"), CASES)
def test_chosen_node(pod: Object, nodes: list[tuple[Object, list[Object]]], want: str) -> None:
    chosen, message = choose(pod, states(*nodes))
    assert (chosen.name if chosen else None, message) == (want, "")


@pytest.mark.parametrize(
    ("pod", "nodes", "want"),
    [
        pytest.param(
            a_pod(requests={"cpu": "64"}),
            [(EMPTY, []), (OTHER, [])],
            f"0/2 nodes are available: 2 Insufficient cpu. {NO_PREEMPTION}",
            id="recorded in ctl-unschedulable",
        ),
        pytest.param(
            a_pod(nodeSelector={"no": "such"}),
            [(EMPTY, []), (OTHER, [])],
            f"0/2 nodes are available: 2 node(s) didn't match Pod's node affinity/selector. {NO_PREEMPTION}",
            id="recorded in ctl-unschedulable-selector",
        ),
        pytest.param(
            a_pod(requests={"cpu": "64", "memory": "64Gi"}),
            [(EMPTY, []), (a_node("node-1", taints=[TAINT]), [])],
            "0/2 nodes are available: 1 Insufficient cpu, 1 Insufficient memory, 1 node(s) had untolerated taint "
            f"{{gpu: yes}}. {NO_PREEMPTION}",
            id="reasons are counted and sorted",
        ),
        pytest.param(a_pod(), [], "no nodes available to schedule pods", id="no nodes"),
    ],
)
def test_why_not(pod: Object, nodes: list[tuple[Object, list[Object]]], want: str) -> None:
    assert choose(pod, states(*nodes)) == (None, want)


def test_spread_constraint_balances_zones() -> None:
    selector = {"matchLabels": {"app": "web"}}
    constraint = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": selector}
    nodes = states(
        (a_node(labels={"zone": "a"}), [a_pod("x")]),
        (OTHER, [a_pod("y", labels={"app": "db"}), a_pod("z", labels={"app": "db"})]),
    )
    chosen, _ = choose(a_pod(topologySpreadConstraints=[constraint]), nodes)
    assert chosen is not None
    assert chosen.name == "node-1"


def container(**amounts: str) -> Object:
    """A container with requests."""
    return {"name": "c", "image": "i", "resources": {"requests": amounts}}


@pytest.mark.parametrize(
    ("spec", "want"),
    [
        pytest.param({"containers": [container(cpu="1"), container(cpu="500m")]}, Fraction(3, 2), id="the sum"),
        pytest.param(
            {"containers": [container(cpu="1")], "initContainers": [container(cpu="3")]}, Fraction(3), id="a big init"
        ),
        pytest.param(
            {"containers": [container(cpu="1")], "initContainers": [{**container(cpu="1"), "restartPolicy": "Always"}]},
            Fraction(2),
            id="a sidecar adds up",
        ),
        pytest.param({"containers": [container(cpu="1")], "overhead": {"cpu": "1"}}, Fraction(2), id="overhead"),
        pytest.param(
            {"containers": [container(cpu="1")], "resources": {"requests": {"cpu": "2"}}},
            Fraction(2),
            id="the pod's own",
        ),
    ],
)
def test_requests(spec: Object, want: Fraction) -> None:
    assert requests({"spec": spec})["cpu"] == want


def test_unschedulable_keeps_the_time_of_the_first_refusal() -> None:
    first = unschedulable(a_pod(), "no", NOW)
    [condition] = first["status"]["conditions"]
    assert (unschedulable(first, "no", NOW), condition) == (
        first,
        {
            "type": "PodScheduled",
            "observedGeneration": 1,
            "status": "False",
            "lastProbeTime": None,
            "lastTransitionTime": at(0),
            "reason": "Unschedulable",
            "message": "no",
        },
    )
