"""Twelve workloads in a namespace of their own, from validate to removal."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e.running import Tools

pytestmark = pytest.mark.e2e

FLEET = """\
apiVersion: kadm.io/v1alpha1
kind: Fleet
metadata: {name: boutique}
spec:
  namespace: boutique
  defaults: {clusterPropagationPolicy: everywhere}
"""


def test_online_boutique(fleet: Callable[..., Path], shared_data: Path, tools: Tools) -> None:
    text = (shared_data / "real-manifests/online-boutique.yaml").read_text()
    root = fleet({"kadm.yaml": FLEET, "manifests/boutique.yaml": text})
    tools.kadm("-C", root, "validate")
    plan = tools.kadm("-C", root, "plan", "-o", "json", "--detailed-exitcode", code=2).json
    assert plan["summary"]["create"] == 3 * 36
    tools.kadm("-C", root, "apply", "--yes")
    assert tools.kadm("-C", root, "plan", "--detailed-exitcode").code == 0
    status = tools.kadm("-C", root, "status", "-o", "json").json
    assert [one["name"] for one in status["workloads"] if one["health"]["code"] != "Healthy"] == []
    assert len(status["workloads"]) == 12
    (root / "manifests/boutique.yaml").unlink()
    tools.kadm("-C", root, "apply", "--yes", code=1)
    tools.kadm("-C", root, "apply", "--yes", "--allow-empty")
    assert tools.kadm("-C", root, "plan", "--detailed-exitcode").code == 0
    assert tools.kubectl("member1", "get", "namespace", "boutique", code=None).code == 1
