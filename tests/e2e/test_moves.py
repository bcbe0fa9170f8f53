"""Replicas that move between members: made before they are deleted, kept where the target is ill, resumed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kadm.sandbox.faults import Fault
from kadm.sandbox.options import SandboxOptions
from kadm.sandbox.process import down, inject, up
from tests.e2e.meanwhile import applying, wait_until
from tests.e2e.running import Tools
from tests.e2e.spread import WEB, files, write

pytestmark = pytest.mark.e2e

Fleet = Callable[..., Path]

MEMBERS = ("member1", "member2", "member3")


@pytest.fixture
def sandbox(tmp_path: Path) -> Iterator[Path]:
    """Members whose pods take a while to start, so that there is a time before a target is ready."""
    directory = tmp_path / "sandbox"
    up(directory, SandboxOptions(members=3, start_delay_s=0.6, ready_delay_s=0.05))
    yield directory
    down(directory)


@pytest.fixture
def root(fleet: Fleet, tools: Tools) -> Path:
    """Six replicas, applied as 4, 1, 1; the weights then say 1, 1, 4."""
    root = fleet(files(w1=4, w3=1))
    tools.kadm("-C", root, "apply", "--yes")
    write(root, w1=1, w3=4)
    return root


def replicas(tools: Tools) -> dict[str, int]:
    return {member: tools.get(member, "deployment/web")["spec"]["replicas"] for member in MEMBERS}


def ready(tools: Tools, member: str) -> int:
    found: int = tools.get(member, "deployment/web")["status"].get("readyReplicas", 0)
    return found


def finished(tools: Tools, root: Path) -> None:
    """The move has ended: the numbers are right, everything is ready, and there is nothing left to do."""
    assert replicas(tools) == {"member1": 1, "member2": 1, "member3": 4}
    assert ready(tools, "member3") == 4
    plan = tools.kadm("-C", root, "plan", "-o", "json", "--detailed-exitcode").json
    assert (plan["moves"], plan["changes"]) == ([], [])


def test_the_target_is_ready_before_the_source_shrinks(root: Path, tools: Tools) -> None:
    plan = tools.kadm("-C", root, "plan", "-o", "json").json
    assert [(one["leaves"], one["arrives"]) for one in plan["moves"]] == [({"member1": 3}, {"member3": 3})]
    seen = set()
    with applying(tools, root) as process:
        while process.poll() is None:
            # In this order: a target that is not ready at the later look was not at the earlier one.
            source = tools.get("member1", "deployment/web")["spec"]["replicas"]
            target = tools.get("member3", "deployment/web")
            seen.add((source, target["spec"]["replicas"], target["status"].get("readyReplicas", 0) == 4))
        assert process.returncode == 0
    assert (4, 4, False) in seen, "nobody looked while the target was starting"
    assert [one for one in seen if not one[2] and one[0] != 4] == [], "the source shrank too early"
    finished(tools, root)


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        pytest.param({"tag": "broken"}, "ImagePullBackOff", id="an image that cannot be pulled"),
        pytest.param({"cpu": "3"}, "Insufficient cpu", id="no capacity"),
    ],
)
def test_the_source_keeps_its_replicas_until_the_target_is_mended(
    broken: dict[str, str], reason: str, root: Path, tools: Tools
) -> None:
    write(root, w1=1, w3=4, **broken)
    for _ in range(2):
        said = tools.kadm("-C", root, "apply", "--yes", "--timeout", "2", code=1)
        assert "member1" in said.err
        assert "it keeps its replicas here until they are ready elsewhere; member3: " in said.err
        assert reason in said.err
        assert replicas(tools) == {"member1": 4, "member2": 1, "member3": 4}
        assert ready(tools, "member1") >= 3, "no more than a rolling update may take"
    write(root, w1=1, w3=4)
    tools.kadm("-C", root, "apply", "--yes")
    finished(tools, root)


def test_a_move_to_several_members_ends_in_all_of_them(root: Path, sandbox: Path, tools: Tools) -> None:
    write(root, w1=1, w3=1)
    inject(sandbox, "member3", [Fault(mode="slow", delay_s=2, methods=("GET",), path="/deployments/web")])
    tools.kadm("-C", root, "apply", "--yes")
    inject(sandbox, "member3", [])
    assert replicas(tools) == dict.fromkeys(MEMBERS, 2)
    plan = tools.kadm("-C", root, "plan", "-o", "json", "--detailed-exitcode").json
    assert (plan["moves"], plan["changes"]) == ([], []), "no record tells of a move that is done"


def test_a_move_that_is_taken_back_moves_nothing(root: Path, tools: Tools) -> None:
    write(root, w1=1, w3=4, tag="broken")
    tools.kadm("-C", root, "apply", "--yes", "--timeout", "1", code=1)
    write(root, w1=4, w3=1)
    tools.kadm("-C", root, "apply", "--yes")
    assert replicas(tools) == {"member1": 4, "member2": 1, "member3": 1}
    assert tools.kadm("-C", root, "plan", "--detailed-exitcode").code == 0


def test_killed_before_the_target_is_ready(root: Path, tools: Tools) -> None:
    write(root, w1=1, w3=4, tag="broken")
    with applying(tools, root):
        wait_until(lambda: replicas(tools)["member3"] == 4)
    assert replicas(tools)["member1"] == 4
    plan = tools.kadm("-C", root, "plan", "-o", "json").json
    assert [(one["leaves"], one["arrives"]) for one in plan["moves"]] == [({"member1": 3}, {"member3": 3})]
    write(root, w1=1, w3=4)
    tools.kadm("-C", root, "apply", "--yes")
    finished(tools, root)


def test_killed_before_the_source_shrinks(root: Path, sandbox: Path, tools: Tools) -> None:
    inject(sandbox, "member1", [Fault(mode="hang", methods=("PATCH",), path=r"/deployments/web\?(?!.*dryRun)")])
    with applying(tools, root):
        wait_until(lambda: ready(tools, "member3") == 4)
    inject(sandbox, "member1", [])
    tools.kadm("-C", root, "apply", "--yes")
    finished(tools, root)


ONLY = """\
apiVersion: core.kubeadmiral.io/v1alpha1
kind: ClusterPropagationPolicy
metadata: {{name: everywhere}}
spec:
  schedulingMode: {mode}
  placement: [{{cluster: {member}}}]
  reschedulePolicy:
    rescheduleWhen: {{policyContentChanged: true}}
    replicaRescheduling: {{avoidDisruption: false}}
"""


@pytest.mark.parametrize("mode", ["Duplicate", "Divide"])
def test_what_is_held_back_in_the_target_has_not_arrived(mode: str, fleet: Fleet, tools: Tools) -> None:
    """Somebody else's Deployment of the same name is well there, but kadm's is not there."""
    root = fleet(
        {
            "manifests/web.yaml": WEB.replace("CPU", "100m"),
            "policies/everywhere.yaml": ONLY.format(mode=mode, member="member1"),
        }
    )
    tools.kadm("-C", root, "apply", "--yes")
    tools.kubectl("member2", "create", "deployment", "web", "--image", "other:1")
    wait_until(lambda: ready(tools, "member2") == 1)
    (root / "policies/everywhere.yaml").write_text(ONLY.format(mode=mode, member="member2"))
    said = tools.kadm("-C", root, "apply", "--yes", "--allow-empty", code=1)
    assert (
        "it keeps its replicas here until they are ready elsewhere; member2: held back: it exists already" in said.err
    )
    assert ready(tools, "member1") == 6
