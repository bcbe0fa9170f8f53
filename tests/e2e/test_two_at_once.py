"""Two applies at once: one waits, or is refused, and the members end with one commit; a killed one stops nobody."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.meanwhile import applying, until_it_waits
from tests.e2e.running import TIMEOUT_S, Tools

pytestmark = pytest.mark.e2e

MEMBERS = ("member1", "member2", "member3")

SLOW = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: slow}
spec:
  replicas: 1
  selector: {matchLabels: {app: slow}}
  template:
    metadata: {labels: {app: slow}}
    spec: {containers: [{name: app, image: "app:broken"}]}
"""
"""Never ready: an apply waits for it as long as --timeout says."""


def config(value: str) -> str:
    return f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c}}\ndata: {{v: {value}}}\n"


@pytest.fixture
def root(fleet: Callable[..., Path], tools: Tools) -> Path:
    """A fleet in which one run is at work for long."""
    return fleet({"manifests/slow.yaml": SLOW, "manifests/c.yaml": config("first")})


def lease(tools: Tools, member: str) -> Any:
    return tools.get(member, "lease/kadm-test", "-n", "kadm-system")["spec"]


def values(tools: Tools) -> list[str]:
    """What each member's ConfigMap says."""
    return [tools.get(member, "configmap/c")["data"]["v"] for member in MEMBERS]


def test_one_is_refused_and_the_holder_is_named(root: Path, tools: Tools) -> None:
    with applying(tools, root) as holder:
        until_it_waits(holder, "slow")
        (root / "manifests/c.yaml").write_text(config("second"))
        said = tools.kadm("-C", root, "apply", "--yes", "--lock-timeout", "0", code=1)
        assert re.search(
            rf"member1: held by \S+@\S+ \(process {holder.pid}\) since \S+Z: waited 0 s .*--lock-timeout", said.err
        ), said.err
        assert values(tools) == ["first"] * 3
        assert [bool(lease(tools, member)["holderIdentity"]) for member in MEMBERS] == [True] * 3


def test_one_waits_and_the_end_is_one_state(root: Path, tools: Tools) -> None:
    extra = root / "manifests/extra.yaml"
    extra.write_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: extra, namespace: elsewhere}\n")
    tools.kadm("-C", root, "apply", "--yes", "--no-wait")
    extra.unlink()  # deleted at the very end, when the other run has planned to delete it, too
    (root / "manifests/slow.yaml").write_text(SLOW.replace("replicas: 1", "replicas: 2"))
    other = shutil.copytree(root, tools.cwd / "other")
    (other / "manifests/c.yaml").write_text(config("second"))
    with applying(tools, root, "--timeout", "12", "--allow-deletes", "2") as first:
        until_it_waits(first, "slow")
        said = tools.kadm("-C", other, "apply", "--yes", "--no-wait", "--allow-deletes", "2")
    assert re.search(r"waiting: member1 is held by \S+ \(process \d+\) since", said.err)
    assert "another run was at work in member1, member2, member3: planned again" in said.err
    assert values(tools) == ["second"] * 3


def test_after_a_killed_run_the_next_gets_through_at_once(root: Path, tools: Tools) -> None:
    with applying(tools, root) as holder:
        until_it_waits(holder, "slow")
        (root / "manifests/c.yaml").write_text(config("second"))
        holder.kill()
        holder.wait(TIMEOUT_S)
    assert lease(tools, "member1")["holderIdentity"]
    tools.kadm("-C", root, "apply", "--yes", "--no-wait", "--lock-timeout", "0")
    assert values(tools) == ["second"] * 3


def test_the_lease_of_a_run_killed_elsewhere_expires(root: Path, tools: Tools) -> None:
    with applying(tools, root) as holder:
        until_it_waits(holder, "slow")
        holder.kill()
        holder.wait(TIMEOUT_S)
    for member in MEMBERS:  # as if the run had been on another machine: nothing tells that it is dead
        tools.kubectl(member, "annotate", "lease/kadm-test", "-n", "kadm-system", "kadm.io/process-")
    short = json.dumps({"spec": {"leaseDurationSeconds": 2}})
    for member in MEMBERS:
        tools.kubectl(member, "patch", "lease/kadm-test", "-n", "kadm-system", "--type=merge", "-p", short)
    tools.kadm("-C", root, "apply", "--yes", "--no-wait", "--lock-timeout", "0", code=1)
    (root / "manifests/c.yaml").write_text(config("second"))
    tools.kadm("-C", root, "apply", "--yes", "--no-wait", "--lock-timeout", "20")
    assert values(tools) == ["second"] * 3
