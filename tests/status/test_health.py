"""When a live object is ready, and why it is not: a case per rule of each kind."""

from __future__ import annotations

from typing import Any

import pytest

from kadm.model.objects import JsonObject
from kadm.model.status import Health
from kadm.status import health, troubles

HEALTHY = Health("Healthy")


def an_object(api_version: str, kind: str, spec: JsonObject, status: JsonObject, **metadata: Any) -> JsonObject:
    return {
        "apiVersion": api_version,
        "kind": kind,
        "metadata": {"name": "a", "generation": 2, **metadata},
        "spec": spec,
        "status": status,
    }


def deployment(wanted: int = 3, **status: Any) -> JsonObject:
    return an_object("apps/v1", "Deployment", {"replicas": wanted}, {"observedGeneration": 2, **status})


def statefulset(spec: JsonObject | None = None, **status: Any) -> JsonObject:
    return an_object("apps/v1", "StatefulSet", {"replicas": 3, **(spec or {})}, {"observedGeneration": 2, **status})


def job(spec: JsonObject | None = None, **status: Any) -> JsonObject:
    return an_object("batch/v1", "Job", spec or {}, status)


def condition(kind: str, status: str = "True", reason: str = "", message: str = "") -> JsonObject:
    return {"type": kind, "status": status, "reason": reason, "message": message}


DONE = {"replicas": 3, "updatedReplicas": 3, "readyReplicas": 3, "availableReplicas": 3}


@pytest.mark.parametrize(
    ("live", "want"),
    [
        pytest.param(deployment(**DONE), HEALTHY, id="deployment: all there"),
        pytest.param(
            deployment(**{**DONE, "observedGeneration": 1}),
            Health("Progressing", "the controller has not seen the current spec yet"),
            id="deployment: counts of an older spec",
        ),
        pytest.param(
            deployment(**{**DONE, "updatedReplicas": 1}),
            Health("Progressing", "1 of 3 replicas updated"),
            id="deployment: rolling out",
        ),
        pytest.param(
            deployment(**{**DONE, "replicas": 5}),
            Health("Progressing", "2 old replicas still to go"),
            id="deployment: old replicas left",
        ),
        pytest.param(
            deployment(**{**DONE, "readyReplicas": 2}),
            Health("Progressing", "2 of 3 replicas ready"),
            id="deployment: not ready",
        ),
        pytest.param(
            deployment(**{**DONE, "availableReplicas": 2}),
            Health("Progressing", "2 of 3 replicas available"),
            id="deployment: not available",
        ),
        pytest.param(
            deployment(
                **DONE, conditions=[condition("Progressing", "False", "ProgressDeadlineExceeded", "it has timed out")]
            ),
            Health("Failed", "ProgressDeadlineExceeded: it has timed out"),
            id="deployment: past its deadline",
        ),
        pytest.param(
            deployment(conditions=[condition("ReplicaFailure", "True", "FailedCreate", "exceeded quota")]),
            Health("Failed", "FailedCreate: exceeded quota"),
            id="deployment: pods cannot be made",
        ),
        pytest.param(deployment(wanted=0), HEALTHY, id="deployment: scaled to nothing"),
        pytest.param(
            statefulset(readyReplicas=1, replicas=3),
            Health("Progressing", "1 of 3 replicas ready"),
            id="statefulset: not ready",
        ),
        pytest.param(
            statefulset({"updateStrategy": {"type": "OnDelete"}}), HEALTHY, id="statefulset: OnDelete waits for nobody"
        ),
        pytest.param(
            statefulset(
                {"updateStrategy": {"rollingUpdate": {"partition": 2}}},
                readyReplicas=3,
                replicas=3,
                updatedReplicas=1,
                currentRevision="a",
                updateRevision="b",
            ),
            HEALTHY,
            id="statefulset: a partition holds the others back",
        ),
        pytest.param(
            statefulset(readyReplicas=3, replicas=3, updatedReplicas=3, currentRevision="a", updateRevision="b"),
            Health("Progressing", "the new revision is not current yet"),
            id="statefulset: between revisions",
        ),
        pytest.param(
            an_object(
                "apps/v1",
                "DaemonSet",
                {},
                {"observedGeneration": 2, "desiredNumberScheduled": 2, "updatedNumberScheduled": 2, "numberReady": 1},
            ),
            Health("Progressing", "0 of 2 pods available"),
            id="daemonset: not available",
        ),
        pytest.param(job(), Health("Progressing", "not started yet"), id="job: not started"),
        pytest.param(
            job(startTime="t", active=1), Health("Healthy", "running, 1 active, 0 succeeded"), id="job: running is fine"
        ),
        pytest.param(
            job(conditions=[condition("Complete")], succeeded=2),
            Health("Healthy", "complete, 2 succeeded"),
            id="job: complete",
        ),
        pytest.param(
            job(conditions=[condition("Failed", "True", "BackoffLimitExceeded", "no more tries")]),
            Health("Failed", "BackoffLimitExceeded: no more tries"),
            id="job: failed",
        ),
        pytest.param(job({"suspend": True}), Health("Suspended", "spec.suspend is true"), id="job: suspended"),
        pytest.param(an_object("v1", "Namespace", {}, {"phase": "Active"}), HEALTHY, id="namespace: active"),
        pytest.param(
            an_object("apiextensions.k8s.io/v1", "CustomResourceDefinition", {}, {"conditions": None}),
            Health("Progressing", "not established yet"),
            id="crd: conditions are null at first",
        ),
        pytest.param(
            an_object("v1", "ConfigMap", {}, {}, deletionTimestamp="t"),
            Health("Terminating", "it is being deleted"),
            id="anything: being deleted",
        ),
        pytest.param(
            an_object(
                "example.com/v1", "Thing", {}, {"conditions": [condition("Ready", "False", "Waiting", "for it")]}
            ),
            Health("Progressing", "Waiting: for it"),
            id="unknown kind: its Ready condition",
        ),
        pytest.param(an_object("example.com/v1", "Thing", {}, {}), HEALTHY, id="unknown kind without status"),
    ],
)
def test_health(live: JsonObject, want: Health) -> None:
    assert health(live) == want


def pod(**status: Any) -> JsonObject:
    return an_object("v1", "Pod", {}, status)


def waiting(reason: str) -> JsonObject:
    return {"containerStatuses": [{"name": "web", "state": {"waiting": {"reason": reason}}}]}


def test_troubles_count_equal_reasons() -> None:
    unschedulable = {"conditions": [condition("PodScheduled", "False", "Unschedulable", "Insufficient cpu")]}
    pods = [pod(**waiting("ImagePullBackOff")), pod(**unschedulable), pod(**unschedulable), pod(phase="Running")]
    assert troubles(pods) == "2 pods Unschedulable: Insufficient cpu; 1 pod ImagePullBackOff in container web"


def test_starting_is_no_trouble() -> None:
    assert troubles([pod(**waiting("ContainerCreating"))]) == ""
