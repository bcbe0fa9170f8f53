"""One status out of those of all members (propagation spec 6.2 and 12); ``tests.vectors`` has KubeAdmiral's own."""

from __future__ import annotations

from typing import Any

import pytest

from kadm.errors import Location
from kadm.model.objects import JsonObject, ObjectKey
from kadm.model.repository import Manifest
from kadm.model.status import Health
from kadm.status import aggregate, workload_status
from kadm.status.aggregate import Propagated

NOW = "2026-01-01T00:00:00Z"
HERE = Location("manifests/x.yaml")


def an_object(kind: str, status: Any = None, *, generation: int = 0, **metadata: Any) -> JsonObject:
    """``kind``: ``apps/v1 Deployment``."""
    version, _, word = kind.partition(" ")
    found: JsonObject = {"apiVersion": version, "kind": word, "metadata": {"name": "x", "namespace": "d", **metadata}}
    if generation:
        found["metadata"]["generation"] = generation
    return found if status is None else {**found, "status": status}


def aggregated(kind: str, *statuses: Any) -> Any:
    """The status of a source without one, whose members m1, m2, … have these."""
    members = {f"m{number}": an_object(kind, status) for number, status in enumerate(statuses, start=1)}
    found = aggregate(an_object(kind), members, now=NOW)
    return found and found.status


def condition(kind: str, reason: str, message: str) -> dict[str, str]:
    return {
        "type": kind,
        "status": "True",
        "reason": reason,
        "message": message,
        "lastProbeTime": NOW,
        "lastTransitionTime": NOW,
    }


DEPLOYMENT, JOB, POD, SET = "apps/v1 Deployment", "batch/v1 Job", "v1 Pod", "apps/v1 StatefulSet"
DONE = {"completionTime": "2026-01-01T10:00:00Z", "succeeded": 1}
LATER = {"completionTime": "2026-01-01T12:05:00+02:00", "succeeded": 1}
FAILED = {"conditions": [{"type": "Failed", "status": "True"}], "failed": 1}


@pytest.mark.parametrize(
    ("kind", "statuses", "want"),
    [
        pytest.param(
            DEPLOYMENT,
            [{"replicas": 2, "readyReplicas": 2}, {"replicas": 3, "readyReplicas": 1, "unavailableReplicas": 2}],
            {"replicas": 5, "readyReplicas": 3, "unavailableReplicas": 2},
            id="Deployment: counts add up",
        ),
        pytest.param(DEPLOYMENT, [{"replicas": 2}, None], None, id="Deployment: a member has no status yet"),
        pytest.param(DEPLOYMENT, [{"conditions": [{}], "collisionCount": 1}], {}, id="Deployment: nothing but counts"),
        pytest.param(
            JOB,
            [DONE, LATER],
            {
                "succeeded": 2,
                "completionTime": "2026-01-01T10:05:00Z",
                "conditions": [condition("Complete", "Completed", "Job completed in clusters [m1,m2]")],
            },
            id="Job: complete everywhere, at the latest time",
        ),
        pytest.param(
            JOB,
            [DONE, FAILED],
            {
                "succeeded": 1,
                "failed": 1,
                "conditions": [
                    condition("Failed", "Mixed", "Job completed in clusters [m1] and failed in member clusters [m2]")
                ],
            },
            id="Job: mixed",
        ),
        pytest.param(
            JOB,
            [FAILED, FAILED],
            {"failed": 2, "conditions": [condition("Failed", "Failed", "Job failed in clusters [m1,m2]")]},
            id="Job: failed everywhere",
        ),
        pytest.param(JOB, [DONE, {"active": 1}], {"active": 1, "succeeded": 1}, id="Job: one still runs"),
        pytest.param(
            POD,
            [{"phase": "Running"}, {}],
            {"phase": "Pending", "message": "Pod pending in clusters [m2], and running in clusters [m1]"},
            id="Pod: no phase is Pending",
        ),
        pytest.param(
            POD,
            [{"phase": "Running", "containerStatuses": [{"name": "c", "state": {"terminated": {"exitCode": 1}}}]}],
            {
                "phase": "Running",
                "message": "Pod running in clusters [m1]",
                "containerStatuses": [
                    {
                        "name": "c (m1)",
                        "ready": False,
                        "restartCount": 0,
                        "image": "",
                        "imageID": "",
                        "lastState": {},
                        "state": {"terminated": {"exitCode": 1, "startedAt": None, "finishedAt": None}},
                    }
                ],
            },
            id="Pod: containers have the form of core/v1",
        ),
        pytest.param(SET, [{"replicas": 3, "x": {"y": 1}}], {"replicas": 3, "x": {"y": 1}}, id="StatefulSet: copied"),
        pytest.param(
            SET,
            [{"replicas": 3, "readyReplicas": 2}, {"replicas": 1, "updateRevision": "r"}],
            {"replicas": 4, "readyReplicas": 2},
            id="StatefulSet in two members: counts add up",
        ),
        pytest.param(SET, [{"replicas": 3}, None], None, id="StatefulSet in two members: one has no status yet"),
        pytest.param(
            "apps/v1 DaemonSet",
            [{"desiredNumberScheduled": 2, "numberReady": 1}, {"desiredNumberScheduled": 1}],
            {"desiredNumberScheduled": 3, "numberReady": 1, "currentNumberScheduled": 0, "numberMisscheduled": 0},
            id="DaemonSet: counts add up",
        ),
        pytest.param("v1 Service", [{"loadBalancer": {}}], None, id="other kinds: nothing"),
    ],
)
def test_aggregation(kind: str, statuses: list[Any], want: Any) -> None:
    assert aggregated(kind, *statuses) == want


SEEN = {"m1": an_object(DEPLOYMENT, {"replicas": 1, "observedGeneration": 4})}


@pytest.mark.parametrize(
    ("propagated", "want"),
    [
        pytest.param(Propagated(up_to_date=True, generations={"m1": 4}), 7, id="everybody has seen it"),
        pytest.param(Propagated(up_to_date=True, generations={"m1": 5}), 6, id="a controller is behind"),
        pytest.param(Propagated(up_to_date=True), 6, id="it is not known what was written"),
        pytest.param(Propagated(generations={"m1": 4}), 6, id="members are behind the source"),
    ],
)
def test_observed_generation(propagated: Propagated, want: int) -> None:
    source = an_object(DEPLOYMENT, {"observedGeneration": 6}, generation=7)
    found = aggregate(source, SEEN, now=NOW, propagated=propagated)
    assert found is not None
    assert found.status == {"replicas": 1, "observedGeneration": want}


def test_a_second_pass_changes_nothing() -> None:
    first = aggregate(an_object(DEPLOYMENT), SEEN, now=NOW)
    assert first is not None
    assert (first.annotations, first.changed) == ({"kubeadmiral.io/latest-replicaset-digests": "[]"}, True)
    again = aggregate(an_object(DEPLOYMENT, first.status, annotations=first.annotations), SEEN, now=NOW)
    assert again is not None
    assert (again.status, again.annotations, again.changed) == (first.status, first.annotations, False)


def test_the_native_object_holds_the_status_and_no_annotation_of_it() -> None:
    source = an_object(DEPLOYMENT)
    manifest = Manifest(
        key=ObjectKey("apps", "Deployment", "d", "x"), version="v1", object=source, location=HERE, locate=lambda _: HERE
    )
    status = {"replicas": 1, "readyReplicas": 1, "updatedReplicas": 1, "availableReplicas": 1}
    live = {**an_object(DEPLOYMENT, status), "spec": {"replicas": 1}}
    found = workload_status(manifest, {"m1": 1}, {"m1": live}, pods={}, unread={}, now=NOW)
    assert found.aggregated == {**source, "status": status}
    nowhere = workload_status(manifest, {"m1": 1}, {}, pods={}, unread={}, now=NOW)
    assert nowhere.aggregated == source


@pytest.mark.parametrize(
    ("unsaid", "want"),
    [
        pytest.param([], Health("Missing", "in no member yet"), id="all were read"),
        pytest.param(
            ["m2", "m1"], Health("Unknown", "in no member that could be read; m1, m2 could not"), id="two not"
        ),
    ],
)
def test_what_is_in_no_member_is_missing_only_where_all_were_read(unsaid: list[str], want: Health) -> None:
    source = an_object(DEPLOYMENT)
    manifest = Manifest(
        key=ObjectKey("apps", "Deployment", "d", "x"), version="v1", object=source, location=HERE, locate=lambda _: HERE
    )
    assert workload_status(manifest, {}, {}, pods={}, unread={}, unsaid=unsaid, now=NOW).health == want


def test_a_job_that_finished_and_was_removed_is_well() -> None:
    source = an_object("batch/v1 Job")
    manifest = Manifest(
        key=ObjectKey("batch", "Job", "d", "x"), version="v1", object=source, location=HERE, locate=lambda _: HERE
    )
    found = workload_status(manifest, {"m1": None, "m2": None}, {}, pods={}, unread={}, done=["m1", "m2"], now=NOW)
    one_is_not_there = workload_status(manifest, {"m1": None, "m2": None}, {}, pods={}, unread={}, done=["m1"], now=NOW)
    assert ([one.health.reason for one in found.members], found.health.code, one_is_not_there.health) == (
        ["finished, and removed by the member"] * 2,
        "Healthy",
        Health("Missing", "m2: not there yet"),
    )
