"""What is seen of a workload's pods: who found no node, whose node is lost, who cannot be created."""

from __future__ import annotations

from typing import Any

import pytest

from kadm.model.objects import JsonObject
from kadm.watch.migration import Sight, seconds
from kadm.watch.sighting import counts_say, creates_no_more, newest, sight

SINCE = "2026-01-02T03:04:05Z"
AT = seconds(SINCE)
FULL = "0/2 nodes are available"


def a_workload(*, replicas: int = 3, generation: int = 1, **status: Any) -> JsonObject:
    return {
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "a", "uid": "d", "generation": generation},
        "spec": {"replicas": replicas},
        "status": {"observedGeneration": 1, **status},
    }


def a_pod(*, scheduled: bool = True, node: str = "", owner: str = "rs", going: bool = False) -> JsonObject:
    condition: JsonObject = {"type": "PodScheduled", "status": "True"}
    if not scheduled:
        condition = {
            "type": "PodScheduled",
            "status": "False",
            "reason": "Unschedulable",
            "message": FULL,
            "lastTransitionTime": SINCE,
        }
    return {
        "metadata": {
            "ownerReferences": [{"uid": owner}],
            "creationTimestamp": SINCE,
            **({"deletionTimestamp": SINCE} if going else {}),
        },
        "spec": {"nodeName": node} if node else {},
        "status": {"conditions": [condition]},
    }


WAITS = a_pod(scheduled=False)
RUNS = a_pod()
LOST_NODE: JsonObject = {
    "status": {"conditions": [{"type": "Ready", "status": "Unknown", "reason": "Dead", "lastTransitionTime": SINCE}]}
}
QUOTA = {
    "type": "ReplicaFailure",
    "status": "True",
    "reason": "FailedCreate",
    "message": "exceeded quota",
    "lastTransitionTime": SINCE,
}


@pytest.mark.parametrize(
    ("workload", "pods", "given", "want"),
    [
        pytest.param(
            a_workload(readyReplicas=1),
            [RUNS, WAITS, WAITS],
            {},
            Sight(desired=3, ready=1, pods=3, stuck=(AT, AT), why=f"Unschedulable: {FULL}"),
            id="two found no node",
        ),
        pytest.param(
            a_workload(),
            [WAITS, a_pod(scheduled=False, going=True), a_pod(scheduled=False, owner="old")],
            {},
            Sight(desired=3, ready=0, pods=1, stuck=(AT,), why=f"Unschedulable: {FULL}"),
            id="those that go and those of an old template do not count",
        ),
        pytest.param(
            a_workload(readyReplicas=1),
            [RUNS, a_pod(node="n1"), a_pod(node="n2")],
            {"nodes": {"n1": LOST_NODE, "n2": None}},
            Sight(desired=3, ready=1, pods=3, stuck=(AT,), why="its node is not ready: Dead"),
            id="one is on a lost node, another one's node is gone",
        ),
        pytest.param(
            a_workload(readyReplicas=1, conditions=[QUOTA]),
            [RUNS],
            {},
            Sight(desired=3, ready=1, pods=1, uncreated_since=AT, why="exceeded quota"),
            id="a quota",
        ),
        pytest.param(
            a_workload(readyReplicas=3, conditions=[QUOTA]),
            [RUNS, RUNS, RUNS],
            {},
            Sight(desired=3, ready=3, pods=3),
            id="a quota that does no harm",
        ),
        pytest.param(
            a_workload(readyReplicas=1),
            [RUNS],
            {"missing_since": 5.0},
            Sight(desired=3, ready=1, pods=1, uncreated_since=5.0, why="its pods are not created"),
            id="nobody says why",
        ),
    ],
)
def test_sight(workload: JsonObject, pods: list[JsonObject], given: dict[str, Any], want: Sight) -> None:
    assert sight(workload, pods, **{"owner": "rs", "nodes": {}, **given}) == want


@pytest.mark.parametrize(
    ("ready", "start", "want"),
    [
        pytest.param((), 0, 0, id="none is ready"),
        pytest.param((0, 1), 0, 2, id="the last one waits"),
        pytest.param((1, 2), 0, 3, id="the first one waits"),
        pytest.param((1000, 1001), 1000, 2, id="a block of ordinals"),
    ],
)
def test_a_stateful_set_gives_up_its_last_pods_first(ready: tuple[int, ...], start: int, want: int) -> None:
    workload = {**a_workload(), "kind": "StatefulSet", "spec": {"replicas": 3, "ordinals": {"start": start}}}
    pods = []
    for ordinal in range(start, start + 3):
        pod = a_pod(scheduled=ordinal in ready, owner="d")
        pod["metadata"]["name"] = f"web-{ordinal}"
        if ordinal in ready:
            pod["status"]["conditions"].append({"type": "Ready", "status": "True"})
        pods.append(pod)
    assert sight(workload, pods, owner="d", nodes={}).least == want


@pytest.mark.parametrize(
    ("workload", "want"),
    [
        pytest.param(a_workload(replicas=3, readyReplicas=3), Sight(desired=3, ready=3, pods=3), id="all run"),
        pytest.param(a_workload(readyReplicas=2, replicas=3), None, id="one does not"),
        pytest.param(a_workload(generation=2, readyReplicas=3), None, id="the counts are old"),
    ],
)
def test_what_the_counts_say(workload: JsonObject, want: Sight | None) -> None:
    assert counts_say(workload) == want


@pytest.mark.parametrize(
    ("status", "want"),
    [
        pytest.param({"replicas": 2, "readyReplicas": 2}, True, id="two of three, and both run"),
        pytest.param({"replicas": 2, "readyReplicas": 1}, False, id="one is under way"),
        pytest.param({"replicas": 3, "readyReplicas": 3}, False, id="all are there"),
    ],
)
def test_creates_no_more(status: dict[str, int], want: bool) -> None:
    workload = {**a_workload(), "status": {"observedGeneration": 1, **status}}
    assert creates_no_more(workload) is want


def test_the_newest_replica_set_is_that_of_the_highest_revision() -> None:
    def a_set(uid: str, revision: str, owner: str = "d") -> JsonObject:
        annotations = {"deployment.kubernetes.io/revision": revision}
        return {"metadata": {"uid": uid, "annotations": annotations, "ownerReferences": [{"uid": owner}]}}

    assert newest([a_set("a", "9"), a_set("b", "10"), a_set("c", "99", owner="other")], "d") == "b"
    assert newest([], "d") == ""
