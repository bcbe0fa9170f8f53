"""What a Job does next, as a pure decision."""

from __future__ import annotations

from typing import Any

import pytest

from kadm.sandbox.controllers.actions import Create, Delete, Update
from kadm.sandbox.controllers.job import INDEX, TRACKING, compressed, decide, expanded
from tests.sandbox.controllers.builders import NOW, a_pod, a_template, at

Object = dict[str, Any]


def a_job(*, status: Object | None = None, **spec: Any) -> Object:
    """Job ``web``, one completion."""
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "web", "namespace": "ns", "uid": "uid-web", "generation": 1},
        "spec": {"completions": 1, "parallelism": 1, "backoffLimit": 6, "template": a_template(), **spec},
        "status": status or {},
    }


def a_job_pod(name: str, *, index: int | None = None, tracked: bool = True, **more: Any) -> Object:
    """A pod of the Job whose end is not counted yet."""
    pod = a_pod(name, owner="Job/web", **more)
    if tracked:
        pod["metadata"]["finalizers"] = [TRACKING]
    if index is not None:
        pod["metadata"]["annotations"] = {INDEX: str(index)}
    return pod


def told(job: Object, pods: list[Object]) -> list[str]:
    """The actions as text."""
    names: list[str] = []
    for action in decide(job, pods, NOW).actions:
        match action:
            case Create(_, obj):
                names.append(f"create {obj['metadata'].get('annotations', {}).get(INDEX, '')}".strip())
            case Delete(_, obj):
                names.append(f"delete {obj['metadata']['name']}")
            case Update(_, obj):
                names.append(f"release {obj['metadata']['name']}")
    return names


INDEXED: Object = {"completionMode": "Indexed", "completions": 3, "parallelism": 2}
DONE = {"type": "Complete", "status": "True", "lastTransitionTime": at(-10)}


@pytest.mark.parametrize(
    ("job", "pods", "want"),
    [
        pytest.param(a_job(), [], ["create"], id="one pod"),
        pytest.param(a_job(completions=5, parallelism=3), [], ["create"] * 3, id="as many as are allowed"),
        pytest.param(a_job(completions=5, parallelism=3, status={"succeeded": 4}), [], ["create"], id="the last one"),
        pytest.param(a_job(suspend=True), [a_job_pod("p", phase="Running")], ["delete p"], id="suspended"),
        pytest.param(a_job(), [a_job_pod("p", phase="Succeeded")], ["release p"], id="done"),
        pytest.param(a_job(), [a_job_pod("p", phase="Failed")], ["release p", "create"], id="failed: once more"),
        pytest.param(a_job(backoffLimit=0), [a_job_pod("p", phase="Failed")], ["release p"], id="failed for good"),
        pytest.param(a_job(**INDEXED), [], ["create 0", "create 1"], id="indexes from 0"),
        pytest.param(
            a_job(**INDEXED),
            [a_job_pod("p0", index=0, phase="Succeeded"), a_job_pod("p1", index=1, phase="Running")],
            ["release p0", "create 2"],
            id="the next index",
        ),
        pytest.param(
            a_job(status={"conditions": [DONE]}), [a_job_pod("p", phase="Running")], ["delete p"], id="after the end"
        ),
        pytest.param(
            a_job(activeDeadlineSeconds=5, status={"startTime": at(-6)}),
            [a_job_pod("p", phase="Running")],
            ["delete p"],
            id="too late",
        ),
    ],
)
def test_actions(job: Object, pods: list[Object], want: list[str]) -> None:
    assert told(job, pods) == want


def test_status_of_a_complete_job() -> None:
    pods = [a_job_pod("p", phase="Succeeded")]
    condition = {"status": "True", "lastProbeTime": at(0), "lastTransitionTime": at(0)}
    why = {"reason": "CompletionsReached", "message": "Reached expected number of succeeded pods"}
    assert decide(a_job(), pods, NOW).status == {
        "startTime": at(0),
        "succeeded": 1,
        "ready": 0,
        "terminating": 0,
        "uncountedTerminatedPods": {},
        "conditions": [
            {"type": "SuccessCriteriaMet", **condition, **why},
            {"type": "Complete", **condition, **why},
        ],
        "completionTime": at(0),
    }


def test_a_pod_is_counted_once() -> None:
    counted = a_job(completions=2, status={"succeeded": 1, "startTime": at(-5)})
    assert decide(counted, [a_job_pod("p", phase="Succeeded", tracked=False)], NOW).status["succeeded"] == 1


@pytest.mark.parametrize(
    ("indexes", "text"),
    [
        pytest.param(set(), "", id="none"),
        pytest.param({0, 1, 2}, "0-2", id="a run"),
        pytest.param({0, 2, 3, 5, 6, 7}, "0,2,3,5-7", id="a pair is no run"),
    ],
)
def test_index_text(indexes: set[int], text: str) -> None:
    assert (compressed(indexes), expanded(text)) == (text, indexes)
