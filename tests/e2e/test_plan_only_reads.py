"""Planning never writes: everything that plan, status, clusters and render send is a read or a dry run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e.audit import audited
from tests.e2e.running import Tools

pytestmark = pytest.mark.e2e

CONFIG = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {a: b}\n"


@pytest.mark.parametrize("command", ["plan", "status", "clusters", "render"])
def test_only_reads_and_dry_runs(
    command: str, fleet: Callable[..., Path], sandbox: Path, tools: Tools, tmp_path: Path
) -> None:
    root = fleet({"manifests/c.yaml": CONFIG, "manifests/d.yaml": CONFIG.replace("name: c", "name: d")})
    tools.kadm("-C", root, "apply", "--yes")
    (root / "manifests/c.yaml").write_text(CONFIG.replace("a: b", "a: changed"))
    (root / "manifests/d.yaml").unlink()
    (root / "manifests/e.yaml").write_text(CONFIG.replace("name: c", "name: e"))
    with audited(sandbox, tmp_path) as audit:
        tools.env["KUBECONFIG"] = str(audit.kubeconfig)
        tools.kadm("-C", root, command)
        assert [request for request in audit.requests if request.writes] == []
        assert {request.member for request in audit.requests} == {"member1", "member2", "member3"}


def test_the_audit_sees_writes(fleet: Callable[..., Path], sandbox: Path, tools: Tools, tmp_path: Path) -> None:
    root = fleet({"manifests/c.yaml": CONFIG})
    with audited(sandbox, tmp_path) as audit:
        tools.env["KUBECONFIG"] = str(audit.kubeconfig)
        tools.kadm("-C", root, "apply", "--yes")
        assert [request for request in audit.requests if request.writes]
