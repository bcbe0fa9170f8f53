from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from kadm.sandbox.kinds.registry import CustomVersion, PrinterColumn, ResourceKind, builtin_resource
from kadm.sandbox.store import Object
from kadm.sandbox.tables import human_duration, table

NOW = datetime(2026, 1, 1, tzinfo=UTC)
MADE = "2025-12-31T23:55:00Z"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0s"),
        (119, "119s"),
        (120, "2m"),
        (190, "3m10s"),
        (3599, "59m"),
        (3 * 3600 - 1, "179m"),
        (3 * 3600, "3h"),
        (5 * 3600 + 120, "5h2m"),
        (47 * 3600, "47h"),
        (52 * 3600, "2d4h"),
        (9 * 86400, "9d"),
        (800 * 86400, "2y70d"),
        (-5, "<invalid>"),
    ],
)
def test_durations(seconds: int, text: str) -> None:
    assert human_duration(seconds) == text


def shown(group: str, plural: str, obj: Object) -> dict[str, object]:
    """Column → cell of one object, without the wide columns."""
    kind = builtin_resource(group, "v1", plural)
    assert kind is not None
    made = table(kind, [obj], NOW, metadata={})
    cells = made["rows"][0]["cells"]
    assert len(cells) == len(made["columnDefinitions"])
    return {
        column["name"]: cell
        for column, cell in zip(made["columnDefinitions"], cells, strict=True)
        if column["priority"] == 0
    }


def a_pod(phase: str = "Running", *, deleted: bool = False, **container: object) -> Object:
    metadata = {"name": "p", "namespace": "n", "creationTimestamp": MADE}
    if deleted:
        metadata["deletionTimestamp"] = MADE
    status: Object = {"phase": phase}
    if container:
        status["containerStatuses"] = [{"name": "c", **container}]
    return {"metadata": metadata, "spec": {"containers": [{"name": "c"}]}, "status": status}


@pytest.mark.parametrize(
    ("pod", "ready", "status", "restarts"),
    [
        pytest.param(a_pod("Pending"), "0/1", "Pending", "0", id="pending"),
        pytest.param(a_pod(ready=True, state={"running": {}}), "1/1", "Running", "0", id="running"),
        pytest.param(
            a_pod("Pending", state={"waiting": {"reason": "ImagePullBackOff"}}), "0/1", "ImagePullBackOff", "0",
            id="what it waits for",
        ),
        pytest.param(
            a_pod(
                state={"waiting": {"reason": "CrashLoopBackOff"}}, restartCount=3,
                lastState={"terminated": {"finishedAt": "2025-12-31T23:59:30Z"}},
            ),
            "0/1", "CrashLoopBackOff", "3 (30s ago)", id="restarts",
        ),
        pytest.param(
            a_pod("Succeeded", state={"terminated": {"reason": "Completed", "exitCode": 0}}), "0/1", "Completed", "0",
            id="done",
        ),
        pytest.param(a_pod(deleted=True), "0/1", "Terminating", "0", id="being deleted"),
    ],
)  # fmt: skip
def test_pods(pod: Object, ready: str, status: str, restarts: str) -> None:
    want = {"Name": "p", "Ready": ready, "Status": status, "Restarts": restarts, "Age": "5m"}
    assert shown("", "pods", pod) == want


def test_deployments() -> None:
    obj = {
        "metadata": {"name": "d", "creationTimestamp": MADE},
        "spec": {"replicas": 3, "template": {"spec": {}}},
        "status": {"readyReplicas": 1, "updatedReplicas": 2, "availableReplicas": 1},
    }
    want = {"Name": "d", "Ready": "1/3", "Up-to-date": 2, "Available": 1, "Age": "5m"}
    assert shown("apps", "deployments", obj) == want


def test_services() -> None:
    obj = {
        "metadata": {"name": "s", "creationTimestamp": MADE},
        "spec": {"type": "LoadBalancer", "clusterIP": "10.96.0.7", "ports": [{"port": 80, "nodePort": 30080}]},
    }
    want = {
        "Name": "s",
        "Type": "LoadBalancer",
        "Cluster-IP": "10.96.0.7",
        "External-IP": "<pending>",
        "Port(s)": "80:30080/TCP",
        "Age": "5m",
    }
    assert shown("", "services", obj) == want


def test_a_custom_kind_shows_the_columns_of_its_definition() -> None:
    columns = (
        PrinterColumn(name="Size", type="integer", json_path=".spec.size"),
        PrinterColumn(name="Ready", type="string", json_path=".status.conditions[0].status"),
        PrinterColumn(name="Since", type="date", json_path=".metadata.creationTimestamp", priority=1),
    )
    kind = ResourceKind(
        group="x.io",
        version="v1",
        kind="Widget",
        plural="widgets",
        singular="widget",
        custom=CustomVersion(crd_name="widgets.x.io", schema={}, columns=columns),
    )
    obj = {
        "metadata": {"name": "w", "creationTimestamp": (NOW - timedelta(days=3)).isoformat()},
        "spec": {"size": 3},
    }
    made = table(kind, [obj], NOW, metadata={}, include="None")
    assert made["rows"] == [{"cells": ["w", 3, None, "3d"]}]
    assert [column["priority"] for column in made["columnDefinitions"]] == [0, 0, 0, 1]
