"""Rollouts in waves: what fails in one reaches no later one."""

from __future__ import annotations

import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.running import BIN, TIMEOUT_S, Tools

pytestmark = pytest.mark.e2e

MEMBERS = ("member1", "member2", "member3")

FLEET = """\
apiVersion: kadm.io/v1alpha1
kind: Fleet
metadata: {name: test}
spec:
  defaults: {clusterPropagationPolicy: everywhere}
  rollout:
    waves:
    - {name: canary, clusters: [member2]PAUSE}
    - {name: early, clusters: [member3]}
"""

SPREAD = """\
apiVersion: core.kubeadmiral.io/v1alpha1
kind: ClusterPropagationPolicy
metadata: {name: spread}
spec:
  schedulingMode: Divide
  placement:
  - {cluster: member1, preferences: {weight: W1}}
  - {cluster: member2, preferences: {weight: W2}}
  reschedulePolicy:
    rescheduleWhen: {policyContentChanged: true}
    replicaRescheduling: {avoidDisruption: false}
"""


def web(tag: str = "1", *, name: str = "web", policy: str = "everywhere", replicas: int = 1) -> str:
    return f"""\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {name}
  labels: {{kubeadmiral.io/cluster-propagation-policy-name: {policy}}}
spec:
  replicas: {replicas}
  selector: {{matchLabels: {{app: {name}}}}}
  template:
    metadata: {{labels: {{app: {name}}}}}
    spec: {{containers: [{{name: app, image: "app:{tag}"}}]}}
"""


@pytest.fixture
def root(fleet: Callable[..., Path], tools: Tools) -> Path:
    """A fleet with three waves (member2, member3, the rest), applied with image tag 1."""
    root = fleet({"kadm.yaml": FLEET.replace("PAUSE", ""), "manifests/web.yaml": web()})
    tools.kadm("-C", root, "apply", "--yes")
    return root


def tags(tools: Tools, name: str = "web") -> dict[str, str]:
    """Member → the image tag of the Deployment."""
    return {
        member: tools.get(member, f"deployment/{name}")["spec"]["template"]["spec"]["containers"][0]["image"][4:]
        for member in MEMBERS
    }


def versions(tools: Tools, member: str) -> Any:
    """resourceVersion of all that kadm writes in the member, but its Lease."""
    found = tools.get(member, "configmaps,deployments", "-A")["items"]
    return {one["metadata"]["name"]: one["metadata"]["resourceVersion"] for one in found if one["kind"] == "ConfigMap"}


def test_the_plan_shows_the_waves(root: Path, tools: Tools) -> None:
    (root / "manifests/web.yaml").write_text(web("2"))
    said = tools.kadm("-C", root, "plan")
    assert (
        "Waves: each is well before the next\n"
        "  canary: member2 (1 change)\n"
        "  early: member3 (1 change)\n"
        "  the rest: member1 (1 change)\n"
    ) in said.out
    assert tools.kadm("-C", root, "plan", "-o", "json").json["waves"] == [
        {"name": "canary", "clusters": ["member2"], "pause": False},
        {"name": "early", "clusters": ["member3"], "pause": False},
        {"name": "the rest", "clusters": ["member1"], "pause": False},
    ]


def test_a_wave_that_fails_stops_all_later_ones_today_and_tomorrow(root: Path, tools: Tools) -> None:
    before = {member: versions(tools, member) for member in MEMBERS}
    (root / "manifests/web.yaml").write_text(web("broken"))
    for _ in range(2):  # the second run finds the canary changed already, and still not well
        said = tools.kadm("-C", root, "apply", "--yes", "--timeout", "2", code=1)
        assert "its wave has not begun: canary is not well: member2 Deployment.apps default/web: " in said.err
        assert "ImagePullBackOff" in said.err
        assert tags(tools) == {"member1": "1", "member2": "broken", "member3": "1"}
    assert [versions(tools, member) == before[member] for member in MEMBERS] == [True, False, True]
    (root / "manifests/web.yaml").write_text(web("2"))
    tools.kadm("-C", root, "apply", "--yes")
    assert tags(tools) == dict.fromkeys(MEMBERS, "2")
    assert tools.kadm("-C", root, "plan", "--detailed-exitcode").code == 0


def test_a_pause_ends_the_run_and_the_next_goes_on(root: Path, tools: Tools) -> None:
    (root / "kadm.yaml").write_text(FLEET.replace("PAUSE", ", pause: true"))
    (root / "manifests/web.yaml").write_text(web("2"))
    said = tools.kadm("-C", root, "apply", "--yes", code=4)
    assert "there is a pause after canary; the next apply goes on" in said.err
    assert tags(tools) == {"member1": "1", "member2": "2", "member3": "1"}
    tools.kadm("-C", root, "apply", "--yes")
    assert tags(tools) == dict.fromkeys(MEMBERS, "2")


def spread(first: int, second: int) -> str:
    return SPREAD.replace("W1", str(first)).replace("W2", str(second))


def replicas(tools: Tools) -> dict[str, int]:
    return {m: tools.get(m, "deployment/moving")["spec"]["replicas"] for m in ("member1", "member2")}


@pytest.mark.parametrize(
    ("first", "second"),
    [
        pytest.param((1, 3), (3, 1), id="a shrink in the first wave waits for a grow in the last"),
        pytest.param((3, 1), (1, 3), id="a grow in the first wave, a shrink in the last"),
    ],
)
def test_moves_between_waves(first: tuple[int, int], second: tuple[int, int], root: Path, tools: Tools) -> None:
    (root / "policies/spread.yaml").write_text(spread(*first))
    (root / "manifests/moving.yaml").write_text(web(name="moving", policy="spread", replicas=4))
    tools.kadm("-C", root, "apply", "--yes")
    assert replicas(tools) == {"member1": first[0], "member2": first[1]}
    (root / "policies/spread.yaml").write_text(spread(*second))
    tools.kadm("-C", root, "apply", "--yes", "--timeout", "30")
    assert replicas(tools) == {"member1": second[0], "member2": second[1]}
    assert tools.kadm("-C", root, "plan", "--detailed-exitcode").code == 0


def test_a_shrink_needs_no_turn_of_its_member(root: Path, tools: Tools) -> None:
    (root / "policies/spread.yaml").write_text(spread(3, 1))
    (root / "manifests/moving.yaml").write_text(web(name="moving", policy="spread", replicas=4))
    tools.kadm("-C", root, "apply", "--yes")
    (root / "policies/spread.yaml").write_text(spread(1, 3))
    (root / "manifests/web.yaml").write_text(web("broken"))
    tools.kadm("-C", root, "apply", "--yes", "--timeout", "3", code=1)
    assert replicas(tools) == {"member1": 1, "member2": 3}, "its targets are ready, whatever else is not"
    assert tags(tools) == {"member1": "1", "member2": "broken", "member3": "1"}


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 1)])
def test_a_signal_ends_it_said_and_released(number: signal.Signals, code: int, root: Path, tools: Tools) -> None:
    (root / "manifests/web.yaml").write_text(web("broken"))
    process = subprocess.Popen(
        [str(BIN / "kadm"), "-v", "-C", str(root), "apply", "--yes"],
        cwd=tools.cwd,
        env=tools.environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    told = ""
    for line in process.stderr:
        told += line
        if "waiting" in line and "web" in line:
            break
    began = time.monotonic()
    process.send_signal(number)
    out, err = process.communicate(timeout=TIMEOUT_S)
    assert (process.returncode, time.monotonic() - began < 10) == (code, True)
    assert "Applied 1 of 3 changes to test: 1 updated." in out
    assert "member2 Deployment.apps default/web: interrupted while waiting for it" in err
    assert "member1, member3 Deployment default/web: not done (update): interrupted before it was done" in err
    lease = tools.get("member2", "lease/kadm-test", "-n", "kadm-system")["spec"]
    assert "holderIdentity" not in lease
    assert "Traceback" not in told + err
