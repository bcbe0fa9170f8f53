"""A sandbox of its own for each test, and the tools to work with it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kadm.sandbox.options import SandboxOptions
from kadm.sandbox.process import down, up
from tests.e2e.running import Tools

FLEET = """\
apiVersion: kadm.io/v1alpha1
kind: Fleet
metadata: {name: test}
spec:
  defaults: {clusterPropagationPolicy: everywhere}
"""

EVERYWHERE = """\
apiVersion: core.kubeadmiral.io/v1alpha1
kind: ClusterPropagationPolicy
metadata: {name: everywhere}
spec: {schedulingMode: Duplicate}
"""


CLUSTER = """\
apiVersion: core.kubeadmiral.io/v1alpha1
kind: FederatedCluster
metadata: {{name: {name}}}
"""


@pytest.fixture
def tools(tmp_path: Path) -> Tools:
    """kadm and kubectl, working in the test's own directory."""
    return Tools(tmp_path)


@pytest.fixture
def sandbox(tmp_path: Path) -> Iterator[Path]:
    """Three embedded members, whose directory this is."""
    directory = tmp_path / "sandbox"
    up(directory, SandboxOptions(members=3, start_delay_s=0.05, ready_delay_s=0.05))
    yield directory
    down(directory)


@pytest.fixture
def fleet(tools: Tools, sandbox: Path) -> Callable[..., Path]:
    """Makes a fleet of the sandbox's members, with a default policy: ``fleet({"manifests/a.yaml": text, …})``."""

    def make(files: dict[str, str], *, members: int = 3) -> Path:
        tools.env["KUBECONFIG"] = str(sandbox / "kubeconfig")
        root = tools.cwd / "fleet"
        for path, text in {"kadm.yaml": FLEET, "policies/everywhere.yaml": EVERYWHERE, **files}.items():
            file = root / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        for folder in ("clusters", "manifests", "policies"):
            (root / folder).mkdir(exist_ok=True)
        for number in range(1, members + 1):  # as join writes it, which has tests of its own
            (root / f"clusters/member{number}.yaml").write_text(CLUSTER.format(name=f"member{number}"))
        return root

    return make
