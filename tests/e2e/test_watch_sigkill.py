"""A daemon that is killed at any moment of a migration or a new commit: no replica is lost, and none is there twice."""

from __future__ import annotations

import random
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e.daemon import watching
from tests.e2e.running import Tools
from tests.e2e.test_watch import MEMBERS, config, migrate, ready, replicas, values, web

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(600)]

MOMENTS = 6
LONGEST_S = 6.0


def test_killed_at_random_moments(fleet: Callable[..., Path], tools: Tools) -> None:
    root = fleet({"manifests/web.yaml": web(6), "manifests/c.yaml": config("v0"), "policies/migrate.yaml": migrate()})
    tools.kadm("-C", root, "apply", "--yes")
    seed = random.Random(20261129)
    for moment in range(MOMENTS):
        full = moment % 2 == 0
        tools.kubectl("member1", "cordon" if full else "uncordon", "node-0", "node-1")
        total = 6 + 2 * moment
        (root / "manifests/web.yaml").write_text(web(total))
        (root / "manifests/c.yaml").write_text(config(f"v{moment}"))
        was_ready = ready(tools)
        with watching(tools, "-C", root, "--interval", "1s", state=f"state{moment}") as daemon:
            until = time.monotonic() + seed.uniform(0.3, LONGEST_S)
            while time.monotonic() < until:
                assert ready(tools) >= min(was_ready, total), "a replica was given up before another one was ready"
            daemon.stop(signal.SIGKILL)
        assert sum(replicas(tools)) >= min(was_ready, total)
        with watching(tools, "-C", root, "--interval", "1s", state=f"state{moment}") as daemon:
            daemon.wait_until(lambda: ready(tools) == total and sum(replicas(tools)) == total)  # noqa: B023
            daemon.wait_until_settled()
        assert values(tools) == [f"v{moment}"] * len(MEMBERS)
        assert tools.kadm("-C", root, "plan", "--detailed-exitcode").code == 0, f"moment {moment}"
