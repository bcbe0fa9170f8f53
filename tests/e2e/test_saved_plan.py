"""A plan that was saved and reviewed: carried out as it is, or refused with what differs."""

from __future__ import annotations

import base64
import json
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e.running import Tools

pytestmark = pytest.mark.e2e

CANARY = "canary-4d1c-never-saved"
NEXT = "canary-8e0f-never-saved"
ALL = "member1, member2, member3"

WEB = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: REPLICAS
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: app, image: "app:1"}]}
"""


def secret(value: str) -> str:
    return f"apiVersion: v1\nkind: Secret\nmetadata: {{name: s}}\nstringData: {{p: {value}}}\n"


def web(replicas: int) -> str:
    return WEB.replace("REPLICAS", str(replicas))


@pytest.fixture
def root(fleet: Callable[..., Path], tools: Tools) -> Path:
    """A fleet that is applied, and whose repository then asks for another number of replicas, and another secret."""
    root = fleet({"manifests/web.yaml": web(1), "manifests/s.yaml": secret(CANARY)})
    tools.kadm("-C", root, "apply", "--yes")
    (root / "manifests/web.yaml").write_text(web(2))
    (root / "manifests/s.yaml").write_text(secret(NEXT))
    return root


@pytest.fixture
def plan(root: Path, tools: Tools) -> Path:
    """The saved plan."""
    tools.kadm("-C", root, "plan", "--out", "plan.json")
    return tools.cwd / "plan.json"


def test_it_is_shown_as_it_was_planned_and_carried_out(root: Path, plan: Path, tools: Tools) -> None:
    assert stat.S_IMODE(plan.stat().st_mode) == 0o600
    planned = tools.kadm("-C", root, "plan", "-o", "json").json
    del planned["explanations"]
    assert tools.kadm("show", plan, "-o", "json").json == planned
    for output in ("text", "markdown"):
        assert tools.kadm("show", plan, "-o", output).out == tools.kadm("-C", root, "plan", "-o", output).out
    tools.kadm("-C", root, "apply", plan)
    assert [tools.get(m, "deployment/web")["spec"]["replicas"] for m in ("member1", "member2", "member3")] == [2] * 3
    assert tools.kadm("-C", root, "plan", "--detailed-exitcode").code == 0
    said = tools.kadm("-C", root, "apply", plan, code=3)
    assert f"{ALL} Deployment.apps default/web: there is nothing to update any more" in said.err


def test_it_holds_no_secret(plan: Path) -> None:
    text = plan.read_text()
    forms = [form for value in (CANARY, NEXT) for form in (value, base64.b64encode(value.encode()).decode())]
    assert [form for form in forms if form in text] == []


def test_a_file_that_cannot_be_written_is_named(root: Path, tools: Tools) -> None:
    file = root / "nowhere" / "p.json"
    said = tools.kadm("-C", root, "plan", "--out", file, code=1)
    assert said.err == f"error: the plan cannot be saved as {file}: No such file or directory (name another file)\n"


def test_what_changes_in_git_is_found_out(root: Path, plan: Path, tools: Tools) -> None:
    (root / "manifests/web.yaml").write_text(web(3))
    (root / "manifests/s.yaml").write_text(secret("another-value"))
    (root / "manifests/c.yaml").write_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n")
    said = tools.kadm("-C", root, "apply", plan, code=3)
    for line in (
        "error: the saved plan is stale: nothing was done: 10 things changed since it was made (kadm plan --out",
        f"error: {ALL} ConfigMap default/c: the plan has nothing here, and now there is something to create",
        f"error: {ALL} Deployment.apps default/web: the repository wants something else now",
        f"error: {ALL} Secret default/s: the repository wants something else now",
        "error: ConfigMap default/c: it was to go to no member, now to member1, member2, member3",
    ):
        assert line in said.err
    assert "another-value" not in said.err
    assert tools.get("member1", "deployment/web")["spec"]["replicas"] == 1


def test_live_drift_is_found_out(root: Path, plan: Path, tools: Tools) -> None:
    tools.kubectl("member1", "scale", "deployment/web", "--replicas=5")
    encoded = base64.b64encode(b"theirs").decode()
    tools.kubectl("member2", "patch", "secret/s", "--type=merge", "-p", json.dumps({"data": {"p": encoded}}))
    tools.kubectl("member3", "set", "image", "deployment/web", "app=app:9")
    said = tools.kadm("-C", root, "apply", plan, code=3)
    for line in (
        "member1 Deployment.apps default/web: it changed in the member: spec.replicas",
        "member2 Secret default/s: it changed in the member",
        "member3 Deployment.apps default/web: it changed in the member: spec.template.spec.containers",
    ):
        assert line in said.err
    assert tools.get("member1", "deployment/web")["spec"]["replicas"] == 5


def test_what_does_not_matter_does_not_make_it_stale(root: Path, plan: Path, tools: Tools) -> None:
    for command in (("init", "-q"), ("add", "."), ("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x")):
        tools.run("git", "-C", root, *command)
    tools.kubectl("member1", "annotate", "deployment/web", "note=theirs")
    tools.kubectl("member2", "delete", "pods", "--all")
    tools.kadm("-C", root, "apply", plan)
    assert tools.get("member1", "deployment/web")["spec"]["replicas"] == 2


def test_another_run_in_between_is_found_out(root: Path, plan: Path, tools: Tools) -> None:
    tools.kadm("-C", root, "apply", "--yes")
    (root / "manifests/web.yaml").write_text(web(2).replace("app:1", "app:2"))
    said = tools.kadm("-C", root, "apply", plan, code=3)
    assert f"{ALL} Secret default/s: there is nothing to update any more" in said.err


def test_it_keeps_what_it_was_made_with(root: Path, tools: Tools) -> None:
    tools.kadm("-C", root, "plan", "--cluster", "member2", "--out", "one.json")
    tools.kadm("-C", root, "apply", "one.json")
    assert [tools.get(m, "deployment/web")["spec"]["replicas"] for m in ("member1", "member2", "member3")] == [1, 2, 1]
    said = tools.kadm("-C", root, "apply", "one.json", "--allow-empty", code=1)
    assert "a saved plan holds what it was made with" in said.err


@pytest.mark.parametrize(
    ("change", "want"),
    [
        pytest.param({"fleet": "other"}, "is a plan of fleet other, this is test", id="another fleet"),
        pytest.param({"format": 99}, "has plan format 99, this kadm knows 1: kadm 0.1.0 wrote it", id="another format"),
        pytest.param({"kind": "Plan"}, "is no saved plan: it is a Plan", id="another kind"),
        pytest.param({"changes": 3}, "is no saved plan: Expected `array`, got `int` - at `$.changes`", id="damaged"),
    ],
)
def test_a_file_that_is_none(change: dict[str, object], want: str, root: Path, plan: Path, tools: Tools) -> None:
    plan.write_text(json.dumps({**json.loads(plan.read_text()), **change}))
    said = tools.kadm("-C", root, "apply", plan, code=1)
    assert want in said.err


def test_garbage(root: Path, tools: Tools) -> None:
    (tools.cwd / "garbage").write_bytes(b"\xff\x00{")
    for command in (["-C", root, "apply", "garbage"], ["show", "garbage"]):
        assert "garbage is no saved plan: it is not JSON" in tools.kadm(*command, code=1).err
    assert "No such file" in tools.kadm("show", "nowhere.json", code=1).err
