"""The main job on published manifests: load, plan, apply, status, drift, removal."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e.running import Tools

pytestmark = pytest.mark.e2e

Fleet = Callable[..., Path]


@pytest.fixture
def guestbook(fleet: Fleet, shared_data: Path, tools: Tools) -> Path:
    """The guestbook, applied to three members."""
    root = fleet({"manifests/guestbook.yaml": (shared_data / "real-manifests/guestbook.yaml").read_text()})
    tools.kadm("-C", root, "apply", "--yes")
    return root


def test_plan_says_what_apply_does(fleet: Fleet, shared_data: Path, tools: Tools) -> None:
    root = fleet({"manifests/guestbook.yaml": (shared_data / "real-manifests/guestbook.yaml").read_text()})
    plan = tools.kadm("-C", root, "plan", "-o", "json").json
    assert (plan["apiVersion"], plan["kind"], plan["summary"]["create"]) == ("kadm.io/v1", "Plan", 18)
    assert tools.kadm("-C", root, "plan", "--detailed-exitcode", code=2)
    tools.kadm("-C", root, "apply", "--yes")
    assert tools.kadm("-C", root, "plan", "--detailed-exitcode").code == 0


def test_status_is_native_and_aggregated(guestbook: Path, tools: Tools) -> None:
    status = tools.kadm("-C", guestbook, "status", "-o", "json").json
    assert {one["name"]: (one["ready"], one["desired"], one["health"]["code"]) for one in status["workloads"]} == {
        "frontend": (9, 9, "Healthy"),
        "redis-master": (3, 3, "Healthy"),
        "redis-replica": (6, 6, "Healthy"),
    }
    native = tools.kadm("-C", guestbook, "status", "deploy/frontend", "-o", "yaml").out
    assert "readyReplicas: 9" in native


def test_drift_is_one_field_and_is_corrected(guestbook: Path, tools: Tools) -> None:
    tools.kubectl("member2", "scale", "deployment/frontend", "--replicas=1")
    plan = tools.kadm("-C", guestbook, "plan", "-o", "json", "--detailed-exitcode", code=2).json
    assert [(one["cluster"], one["name"], one["fields"]) for one in plan["changes"]] == [
        (
            "member2",
            "frontend",
            [{"path": "spec.replicas", "before": 1, "after": 3, "manager": "kubectl"}],
        )
    ]
    tools.kadm("-C", guestbook, "apply", "--yes")
    assert tools.get("member2", "deployment/frontend")["spec"]["replicas"] == 3
    assert tools.kadm("-C", guestbook, "plan", "--detailed-exitcode").code == 0


def test_a_field_removed_from_git_goes_and_one_of_others_stays(fleet: Fleet, tools: Tools) -> None:
    text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {keep: a, drop: b}\n"
    root = fleet({"manifests/c.yaml": text})
    tools.kadm("-C", root, "apply", "--yes")
    tools.kubectl("member1", "patch", "configmap/c", "--type=merge", "-p", '{"data":{"theirs":"x"}}')
    (root / "manifests/c.yaml").write_text(text.replace(", drop: b", ""))
    tools.kadm("-C", root, "apply", "--yes")
    assert tools.get("member1", "configmap/c")["data"] == {"keep": "a", "theirs": "x"}
    assert tools.get("member2", "configmap/c")["data"] == {"keep": "a"}
    assert tools.kadm("-C", root, "plan", "--detailed-exitcode").code == 0


def test_what_leaves_git_is_deleted_within_the_guards(guestbook: Path, tools: Tools) -> None:
    (guestbook / "manifests/guestbook.yaml").unlink()
    held = tools.kadm("-C", guestbook, "plan", "-o", "json").json
    assert ({one["flag"] for one in held["held"]}, held["changes"]) == ({"--allow-empty"}, [])
    tools.kadm("-C", guestbook, "apply", "--yes", code=1)
    assert len(tools.get("member1", "deployments")["items"]) == 3
    tools.kadm("-C", guestbook, "apply", "--yes", "--allow-empty")
    assert tools.get("member1", "deployments")["items"] == []
    assert tools.kadm("-C", guestbook, "plan", "--detailed-exitcode").code == 0


def test_an_apply_with_nothing_to_change_does_not_hide_what_is_not_ready(fleet: Fleet, tools: Tools) -> None:
    text = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: "web:broken"}]}
"""
    root = fleet({"manifests/web.yaml": text}, members=1)
    for _ in range(2):
        said = tools.kadm("-C", root, "apply", "--yes", "--timeout", "1", code=1)
        assert "ImagePullBackOff" in said.err
    (root / "manifests/web.yaml").write_text(text.replace(":broken", ":1"))
    tools.kadm("-C", root, "apply", "--yes")
    assert tools.kadm("-C", root, "apply", "--yes").err == ""
