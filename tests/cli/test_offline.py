"""Without members: what ``--offline`` renders and explains is what the files record, and nobody is asked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kadm.cli.main import main
from tests.repo.fleets import a_fleet, a_member

STATUS = """\
status:
  conditions: [{type: Ready, status: "True"}]
  apiResourceTypes: [{group: apps, version: v1, kind: Deployment, pluralName: deployments, scope: Namespaced}]
"""
NOT_SERVING = STATUS.replace("kind: Deployment", "kind: DaemonSet")
WEB = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: nginx}]}
"""
DEFAULTS = "spec: {defaults: {clusterPropagationPolicy: everywhere}}\n"
FLEET = f"apiVersion: kadm.io/v1alpha1\nkind: Fleet\nmetadata: {{name: shop}}\n{DEFAULTS}"


@pytest.fixture(autouse=True)
def _nobody_can_be_asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No kubeconfig: whoever asks a member is told that it cannot be read, and ends with another exit code."""
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "no-kubeconfig"))


def _fleet(tmp_path: Path, **members: str) -> str:
    files: dict[str, str | None] = {"kadm.yaml": FLEET, "manifests/web.yaml": WEB, "clusters/us.yaml": None}
    files |= {f"clusters/{name}.yaml": a_member(name) + status for name, status in members.items()}
    return str(a_fleet(tmp_path / "fleet", files))


def test_render_takes_what_is_recorded(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fleet = _fleet(tmp_path, eu=STATUS, us=NOT_SERVING)
    code = main(["-C", fleet, "render", "--offline", "-o", "json"])
    told = capsys.readouterr()
    rendered = {
        cluster["name"]: [f"{one['kind']}/{one['metadata']['name']}" for one in cluster["objects"]]
        for cluster in json.loads(told.out)["clusters"]
    }
    assert (code, rendered, told.err) == (0, {"eu": ["Deployment/web"], "us": []}, "")


def test_render_names_what_is_not_recorded(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["-C", _fleet(tmp_path, eu=STATUS, us=""), "render", "--offline", "-o", "json"])
    told = capsys.readouterr()
    assert (code, [line.partition(": it counts")[0] for line in told.err.splitlines()]) == (
        0,
        [
            "warning: the file of us does not record whether the member is ready",
            "warning: the file of us does not record which types the member serves",
        ],
    )


def test_explain_takes_what_is_recorded(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["-C", _fleet(tmp_path, eu=STATUS, us=NOT_SERVING), "explain", "deploy/web", "--offline", "-o", "json"])
    document = json.loads(capsys.readouterr().out)
    (found,) = document["explanations"]
    assert (code, document["kind"], document["offline"]) == (0, "Explanation", True)
    assert {member["member"]: member["filters"][-1] for member in found["members"]} == {
        "eu": {"plugin": "ClusterEvicted", "fits": True, "reason": ""},
        "us": {"plugin": "APIResources", "fits": False, "reason": "it does not serve apps/v1 Deployment"},
    }


def test_without_it_members_are_asked(tmp_path: Path) -> None:
    assert main(["-C", _fleet(tmp_path, eu=STATUS), "explain", "deploy/web"]) == 4


@pytest.mark.parametrize(
    ("names", "told"),
    [
        pytest.param(["deploy/web"], ["Deployment default/web"], id="an object"),
        pytest.param(["cpp/everywhere"], ["Deployment default/web"], id="what a policy binds"),
        pytest.param(["deployments"], ["Deployment default/web"], id="all of a kind"),
    ],
)
def test_what_can_be_named(
    tmp_path: Path, names: list[str], told: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["-C", _fleet(tmp_path, eu=STATUS), "explain", *names, "--offline"]) == 0
    assert [line.partition("  ")[0] for line in capsys.readouterr().out.splitlines()[:1]] == told


@pytest.mark.parametrize(
    ("name", "error"),
    [
        pytest.param(
            "deploy/wep",
            "error: nothing in the repository is called deploy/wep (did you mean deployment/web?)\n",
            id="an object",
        ),
        pytest.param("cpp/", "error: cpp/ is not KIND/NAME (for example deploy/web)\n", id="no name"),
        pytest.param(
            "cpp/nowhere",
            "error: there is no policy cpp/nowhere (policies are: ClusterPropagationPolicy everywhere)\n",
            id="a policy",
        ),
    ],
)
def test_what_is_not_there_is_an_error(
    tmp_path: Path, name: str, error: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["-C", _fleet(tmp_path, eu=STATUS), "explain", name, "--offline"]) == 1
    assert capsys.readouterr().err == error
