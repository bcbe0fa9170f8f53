"""A daemon that has nothing to do: it listens, and asks whether members are alive, and that is all."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from kadm.sandbox.options import SandboxOptions
from kadm.sandbox.process import down, up
from tests.e2e.audit import Audit, Request, audited
from tests.e2e.conftest import CLUSTER, EVERYWHERE, FLEET
from tests.e2e.daemon import watching
from tests.e2e.running import Tools
from tests.e2e.watched_fleet import config, migrate, web

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(1200)]

EXHAUSTIVE = os.environ.get("KADM_EXHAUSTIVE") == "1"
MEMBERS, IDLE_S = (50, 60.0) if EXHAUSTIVE else (10, 20.0)
QUIET_S = 10.0
IDLE_WITHIN_S = 600.0
IDLE = {"watch", "Lease"}


@pytest.fixture
def audit(tmp_path: Path, tools: Tools) -> Iterator[Audit]:
    """A fleet of many members in ``tmp_path / "fleet"``, all requests to which are noted."""
    up(tmp_path / "sandbox", SandboxOptions(members=MEMBERS, nodes=1, start_delay_s=0.05, ready_delay_s=0.05))
    files = {
        "kadm.yaml": FLEET,
        "policies/everywhere.yaml": EVERYWHERE,
        "policies/migrate.yaml": migrate(),
        "manifests/web.yaml": web(6),
        "manifests/c.yaml": config("x"),
        **{f"clusters/member{one}.yaml": CLUSTER.format(name=f"member{one}") for one in range(1, MEMBERS + 1)},
    }
    for path, text in files.items():
        (tmp_path / "fleet" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "fleet" / path).write_text(text, encoding="utf-8")
    try:
        with audited(tmp_path / "sandbox", tmp_path) as found:
            tools.env["KUBECONFIG"] = str(found.kubeconfig)
            yield found
    finally:
        down(tmp_path / "sandbox")


def during(audit: Audit, seconds: float) -> list[Request]:
    """What is sent in the time to come."""
    audit.clear()
    time.sleep(seconds)
    return list(audit.requests)


def kind(request: Request) -> str:
    """What a request is for."""
    if request.query.get("watch") == "true":
        return "watch"
    if "/leases/" in request.path:
        return "Lease"
    return f"{request.method} {request.path}"


def test_idle_it_sends_only_watches_and_leases(audit: Audit, tools: Tools) -> None:
    with watching(tools, "-C", tools.cwd / "fleet", "--interval", "1s") as daemon:
        daemon.wait_for("applied")
        sent: list[Request] = []

        def was_idle() -> bool:
            """Whether it had nothing to do, and found nothing to do, while it was looked at."""
            nonlocal sent
            if not Counter(map(kind, during(audit, QUIET_S))).keys() <= IDLE:
                return False
            said = len(daemon.lines)
            sent = during(audit, IDLE_S)
            return len(daemon.lines) == said

        daemon.wait_until(was_idle, "it is never idle", within_s=IDLE_WITHIN_S)
    counted = Counter(map(kind, sent))
    print(f"{MEMBERS} members, {IDLE_S:.0f} s: {dict(counted)}")
    assert counted.keys() <= IDLE, f"{counted}\n{daemon.text}"
    asked = {one.member for one in sent if kind(one) == "Lease"}
    assert len(asked) == MEMBERS, "each is asked whether it is alive"
