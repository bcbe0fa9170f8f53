"""What the daemon serves while it works: JSON, metrics, the page, and ``kadm status`` asked of it."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path

import pytest

from kadm.sandbox.faults import Fault
from kadm.sandbox.process import inject
from tests.e2e.daemon import Daemon, watching
from tests.e2e.running import Tools
from tests.e2e.served import address, document, get
from tests.e2e.watched_fleet import commit, config, git, migrate, values, web
from tests.watch.browser import browser, executable
from tests.watch.test_page import CELL, violations

pytestmark = pytest.mark.e2e

Fleet = Callable[..., Path]
TOKEN = "a-token-that-is-long-enough"


def test_it_serves_what_it_knows(fleet: Fleet, sandbox: Path, tools: Tools) -> None:
    root = fleet({"manifests/web.yaml": web(6), "policies/migrate.yaml": migrate()})
    (tools.cwd / "token").write_text(TOKEN)
    (tools.cwd / "token").chmod(0o600)
    with watching(
        tools, "-C", root, "--interval", "1s", "--listen", "127.0.0.1:0", "--token-file", tools.cwd / "token"
    ) as daemon:
        url = address(daemon)
        daemon.wait_until(lambda: get(f"{url}/readyz")[0] == 200)

        def ready() -> int:
            found = document(f"{url}/api/v1/workloads", TOKEN)["workloads"]
            return (found[0]["ready"] or 0) if found else 0

        daemon.wait_until(lambda: ready() == 6)
        assert get(f"{url}/api/v1/workloads")[0] == 401
        assert [one["name"] for one in document(f"{url}/api/v1/clusters", TOKEN)["clusters"]] == [
            "member1",
            "member2",
            "member3",
        ]
        assert document(f"{url}/api/v1/plan", TOKEN)["plan"]["commit"] == ""
        events = f"{url}/api/v1/events"
        daemon.wait_until(lambda: "applied" in [one["kind"] for one in document(events, TOKEN)["events"]])
        daemon.wait_until_settled()
        assert 'kadm_workloads{health="Healthy"} 1.0' in get(f"{url}/metrics", TOKEN)[1]

        asked = ("status", "-C", root, "-o", "json")
        of_members = tools.kadm(*asked).json
        of_daemon = tools.kadm("status", "--daemon", url, "--token-file", "token", "-o", "json").json
        assert of_daemon == of_members
        native = tools.kadm("status", "deploy/web", "--daemon", url, "--token-file", "token", "-o", "yaml").out
        assert "  readyReplicas: 6\n" in native

        inject(sandbox, "member2", [Fault(mode="refuse")])
        daemon.wait_until(lambda: 'kadm_member_up{member="member2"} 0.0' in get(f"{url}/metrics", TOKEN)[1])
        stale = document(f"{url}/api/v1/workloads", TOKEN)["workloads"][0]["members"][1]
        assert (stale["cluster"], stale["health"]["code"], stale["ready"], bool(stale["staleSince"])) == (
            "member2",
            "Unknown",
            2,
            True,
        )
        assert daemon.stop() < 2
    assert "ending, as SIGTERM says" in daemon.text
    assert TOKEN not in daemon.text


def test_values_of_secrets_are_in_nothing_that_is_served(fleet: Fleet, tools: Tools) -> None:
    canary = "Y2FuYXJ5LXZhbHVl"
    secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\ndata: {password: VALUE}\n"
    root = fleet(
        {
            "manifests/s.yaml": secret.replace("VALUE", canary),
            "manifests/web.yaml": web(3),
            "policies/m.yaml": migrate(),
        }
    )
    with watching(tools, "-C", root, "--interval", "1s", "--listen", "127.0.0.1:0", "--drift", "report") as daemon:
        url = address(daemon)
        daemon.wait_for("applied")
        tools.kubectl("member1", "patch", "secret/s", "-p", json.dumps({"data": {"password": "b3RoZXItdmFsdWU="}}))
        daemon.wait_for("drift")
        (root / "manifests/s.yaml").write_text(secret.replace("VALUE", "bmV3LWNhbmFyeQ=="))
        daemon.wait_for("applied", count=2)
        paths = ("fleet", "clusters", "workloads?native=true", "events", "plan")
        said = "".join(get(f"{url}/api/v1/{path}")[1] for path in paths) + get(f"{url}/metrics")[1] + daemon.text
        for value in (canary, "canary-value", "b3RoZXItdmFsdWU", "other-value", "bmV3LWNhbmFyeQ", "new-canary"):
            assert value not in said


def test_a_port_that_is_taken(fleet: Fleet, tools: Tools) -> None:
    root = fleet({"manifests/web.yaml": web(3), "policies/migrate.yaml": migrate()})
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        said = tools.kadm("watch", "-C", root, "--state-dir", "s", "--listen", f"127.0.0.1:{port}", code=1)
        assert f"error: the daemon cannot listen on 127.0.0.1:{port}" in said.err


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        pytest.param(("--listen", "0.0.0.0:0"), "asks nobody for a token", id="beyond loopback without a token"),
        pytest.param(("--listen", "5236"), "is not HOST:PORT", id="no host"),
        pytest.param(("--token-file", "none"), "cannot be read", id="no such file"),
        pytest.param(
            ("--check-config", "--token-file", "none"), "cannot be read", id="no such file, found by the check"
        ),
        pytest.param(("--listen", "none", "--token-file", "t"), "makes no sense", id="a token for nothing"),
    ],
)
def test_options_that_cannot_be(fleet: Fleet, tools: Tools, arguments: tuple[str, ...], why: str) -> None:
    said = tools.kadm("watch", "-C", fleet({}), "--state-dir", "s", *arguments, code=1)
    assert why in said.err


@pytest.mark.skipif(executable() is None, reason="NO BROWSER: the page is not tested; apt-get install chromium")
def test_the_page_follows_the_fleet(fleet: Fleet, sandbox: Path, tools: Tools) -> None:
    root = fleet({"manifests/web.yaml": web(6), "policies/migrate.yaml": migrate()})

    async def watch(daemon: Daemon, url: str) -> None:
        async with browser() as page:
            await page.open(f"{url}/")
            cell = f"({CELL})('web', 'member2')?.textContent"
            await page.until(f"{cell} === 'Healthy 2/2'", within_s=30)
            inject(sandbox, "member2", [Fault(mode="refuse")])
            await page.until(
                "[...document.querySelectorAll('thead th')].some((one) => one.innerText.includes('unreachable'))",
                within_s=30,
            )
            inject(sandbox, "member2", [])
            await page.until(f"{cell} === 'Healthy 2/2'", within_s=30)
            (root / "manifests/web.yaml").write_text(web(9))
            await page.until(f"{cell} === 'Healthy 3/3'", within_s=30)
            for node in tools.get("member1", "nodes")["items"]:  # what is added there has to go elsewhere
                tools.kubectl("member1", "cordon", node["metadata"]["name"])
            (root / "manifests/web.yaml").write_text(web(12))
            moving = (
                "[...document.querySelectorAll('#panel-body .kind')].some((one) => one.innerText.startsWith('mov'))"
            )
            await page.run("document.getElementById('tab-events').click()")
            await page.until(moving, within_s=40)
            if os.environ.get("KADM_TEST_AXE"):
                assert await violations(page) == []
            assert page.errors == []
            assert await asyncio.to_thread(daemon.stop) < 2

    with watching(tools, "-C", root, "--interval", "1s", "--listen", "127.0.0.1:0") as daemon:
        asyncio.run(watch(daemon, address(daemon)))


def test_a_push_is_followed_at_once_where_its_server_tells(fleet: Fleet, tools: Tools) -> None:
    root = fleet({"manifests/c.yaml": config("first")})
    git(root, "init", "--quiet", "--initial-branch=main")
    commit(root)
    secret = tools.cwd / "secret"
    secret.write_text(TOKEN)
    secret.chmod(0o600)
    flags = ("--interval", "1h", "--listen", "127.0.0.1:0", "--hook-secret-file", secret)
    with watching(tools, "--repo", root, *flags) as daemon:
        daemon.wait_for("applied")
        url = address(daemon)
        second = commit(root, c=config("second"))
        pushed = urllib.request.Request(f"{url}/hook", b"{}", {"X-Gitlab-Token": TOKEN, "Host": "kadm.example.org"})
        with urllib.request.urlopen(pushed, timeout=10) as answer:
            assert answer.status == 202
        daemon.wait_for("commit", second[:12])
        daemon.wait_until(lambda: values(tools) == ["second"] * 3)
        assert "kadm_source_hooks_total 1.0" in get(f"{url}/metrics")[1]
    assert TOKEN not in daemon.text
