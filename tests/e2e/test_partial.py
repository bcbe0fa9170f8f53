"""One member is down: the others are done, it is named, what depends on it is frozen; once back, it catches up."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kadm.sandbox.faults import Fault
from kadm.sandbox.process import inject
from tests.e2e.running import Tools

pytestmark = pytest.mark.e2e

Fleet = Callable[..., Path]

MEMBERS = ("member1", "member2", "member3")
DOWN = Fault(mode="refuse")
WRITES = r"\?(?!.*dryRun)"
"""Behind a path: a write that is meant."""

SPREAD = """\
apiVersion: core.kubeadmiral.io/v1alpha1
kind: ClusterPropagationPolicy
metadata: {name: spread}
spec:
  schedulingMode: Divide
  placement:
  - {cluster: member1, preferences: {weight: 1}}
  - {cluster: member2, preferences: {weight: 1}}
  - {cluster: member3, preferences: {weight: 1}}
  reschedulePolicy:
    replicaRescheduling: {avoidDisruption: false}
"""

CONFIG = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {a: VALUE}\n"

WEB = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  labels: {kubeadmiral.io/cluster-propagation-policy-name: spread}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: app, image: "app:1"}]}
"""


@pytest.fixture
def root(fleet: Fleet, tools: Tools) -> Path:
    """A ConfigMap everywhere and a divided Deployment, applied; then the repository changes both."""
    root = fleet(
        {"policies/spread.yaml": SPREAD, "manifests/c.yaml": CONFIG.replace("VALUE", "b"), "manifests/web.yaml": WEB}
    )
    tools.kadm("-C", root, "apply", "--yes")
    (root / "manifests/c.yaml").write_text(CONFIG.replace("VALUE", "c"), encoding="utf-8")
    (root / "manifests/web.yaml").write_text(WEB.replace("replicas: 3", "replicas: 6"), encoding="utf-8")
    return root


def configs(tools: Tools) -> dict[str, str]:
    """Member → what its ConfigMap says; a member without it, or that is down, is left out."""
    found = {}
    for member in MEMBERS:
        said = tools.kubectl(member, "get", "configmap", "c", "-o", "jsonpath={.data.a}", code=None)
        if said.code == 0:
            found[member] = said.out
    return found


def replicas(tools: Tools) -> dict[str, int]:
    return {member: tools.get(member, "deployment/web")["spec"]["replicas"] for member in MEMBERS}


def objects(found: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """The (member, object) of a list in a plan's JSON."""
    return [(one["cluster"], one["name"]) for one in found]


def catches_up(tools: Tools, root: Path) -> None:
    """Everything is as the repository says, after one more apply."""
    tools.kadm("-C", root, "apply", "--yes")
    assert configs(tools) == dict.fromkeys(MEMBERS, "c")
    assert replicas(tools) == dict.fromkeys(MEMBERS, 2)
    assert tools.kadm("-C", root, "plan", "--detailed-exitcode").code == 0


def test_a_member_that_is_down(root: Path, sandbox: Path, tools: Tools) -> None:
    inject(sandbox, "member2", [DOWN])
    plan = tools.kadm("-C", root, "plan", "-o", "json", "--detailed-exitcode", code=4).json
    assert objects(plan["changes"]) == [("member1", "c"), ("member3", "c")]
    assert objects(plan["frozen"]) == [("member1", "web"), ("member3", "web")]
    assert {one["reason"].partition(":")[0] for one in plan["frozen"]} == {"it depends on member2"}
    assert [one["member"] for one in plan["unread"]] == ["member2"]
    said = tools.kadm("-C", root, "apply", "--yes", code=4)
    assert "member2" in said.err
    assert "Deployment.apps default/web" in said.err, "what depends on it is named"
    inject(sandbox, "member2", [])
    assert configs(tools) == {"member1": "c", "member2": "b", "member3": "c"}
    assert replicas(tools) == dict.fromkeys(MEMBERS, 1)
    plan = tools.kadm("-C", root, "plan", "-o", "json").json
    assert objects(plan["changes"]) == [("member1", "web"), ("member2", "c"), ("member2", "web"), ("member3", "web")]
    catches_up(tools, root)


def test_what_leaves_the_repository_leaves_a_member_once_it_is_back(root: Path, sandbox: Path, tools: Tools) -> None:
    (root / "manifests/c.yaml").unlink()
    inject(sandbox, "member2", [DOWN])
    tools.kadm("-C", root, "apply", "--yes", code=4)
    assert "member1" in configs(tools), "the frozen Deployment may still need it"
    (root / "manifests/web.yaml").write_text(WEB, encoding="utf-8")
    tools.kadm("-C", root, "apply", "--yes", code=4)
    inject(sandbox, "member2", [])
    assert configs(tools) == {"member2": "b"}
    tools.kadm("-C", root, "apply", "--yes")
    assert configs(tools) == {}
    assert tools.kadm("-C", root, "plan", "--detailed-exitcode").code == 0


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(Fault(mode="reset", methods=("PUT",), path="/configmaps/kadm-test"), id="before the first write"),
        pytest.param(Fault(mode="reset", methods=("PATCH",), path=f"/configmaps/c{WRITES}"), id="at a write"),
        pytest.param(Fault(mode="hang", methods=("PATCH",), path=f"/configmaps/c{WRITES}"), id="hanging at a write"),
        pytest.param(Fault(mode="garble", methods=("PATCH",), path=f"/configmaps/c{WRITES}"), id="garbled answers"),
    ],
)
def test_a_member_that_is_lost_on_the_way(fault: Fault, root: Path, sandbox: Path, tools: Tools) -> None:
    inject(sandbox, "member2", [fault])
    said = tools.kadm("-C", root, "apply", "--yes", "--request-timeout", "2", "--timeout", "5", code=None)
    assert (said.code in (1, 4), "member2" in said.err) == (True, True), said
    inject(sandbox, "member2", [])
    found = configs(tools)
    assert (found["member1"], found["member3"]) == ("c", "c"), "the others are done"
    catches_up(tools, root)


def test_a_write_that_a_member_refuses(root: Path, sandbox: Path, tools: Tools) -> None:
    inject(sandbox, "member2", [Fault(mode="status", status=403, methods=("PATCH",), path=f"/configmaps/c{WRITES}")])
    said = tools.kadm("-C", root, "apply", "--yes", code=1)
    assert "error: manifests/c.yaml:1:1 in member2: write forbidden (403 Forbidden)" in said.err
    inject(sandbox, "member2", [])
    assert configs(tools) == {"member1": "c", "member2": "b", "member3": "c"}
    assert replicas(tools) == dict.fromkeys(MEMBERS, 2), "the rest of that member is done, too"
    catches_up(tools, root)


def test_a_member_that_was_down_from_the_start(fleet: Fleet, sandbox: Path, tools: Tools) -> None:
    root = fleet({"manifests/c.yaml": CONFIG.replace("VALUE", "c")})
    inject(sandbox, "member2", [DOWN])
    tools.kadm("-C", root, "apply", "--yes", code=4)
    inject(sandbox, "member2", [])
    assert configs(tools) == {"member1": "c", "member3": "c"}
    tools.kadm("-C", root, "apply", "--yes")
    assert configs(tools) == dict.fromkeys(MEMBERS, "c")
    assert tools.kadm("-C", root, "plan", "--detailed-exitcode").code == 0
