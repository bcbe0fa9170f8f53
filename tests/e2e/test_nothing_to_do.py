"""A plan with nothing to do costs reads alone, and few of them; a change costs what it touches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e.audit import audited
from tests.e2e.running import Tools

pytestmark = pytest.mark.e2e


def test_a_plan_without_changes_sends_no_dry_run(
    fleet: Callable[..., Path], sandbox: Path, tools: Tools, tmp_path: Path, shared_data: Path
) -> None:
    root = fleet({"manifests/guestbook.yaml": (shared_data / "real-manifests/guestbook.yaml").read_text()})
    tools.kadm("-C", root, "apply", "--yes")
    with audited(sandbox, tmp_path) as audit:
        tools.env["KUBECONFIG"] = str(audit.kubeconfig)
        tools.kadm("-C", root, "plan", "--detailed-exitcode")
        assert Counter(request.method for request in audit.requests) == {"GET": len(audit.requests)}
        lists = Counter(request.path for request in audit.requests if "labelSelector" in request.query)
        assert lists == {"/apis/apps/v1/deployments": 3, "/api/v1/services": 3}
        audit.clear()
        tools.kadm("-C", root, "apply", "--yes")
        assert [request for request in audit.requests if request.writes] == []
        audit.clear()
        tools.kubectl("member2", "scale", "deployment/frontend", "--replicas=5")
        tools.kadm("-C", root, "plan", "--detailed-exitcode", code=2)
        dry_runs = [request for request in audit.requests if request.query.get("dryRun") == "All"]
        assert [(one.member, one.path) for one in dry_runs] == [
            ("member2", "/apis/apps/v1/namespaces/default/deployments/frontend")
        ]
