"""Asking a daemon: what it says comes back as the status that ``kadm status`` prints."""

from __future__ import annotations

import asyncio
import io
import json
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from kadm.cli.console import Console
from kadm.cli.exit_code import ExitCode
from kadm.cli.options import StatusOutput
from kadm.cli.show_status import status_of
from kadm.cli.status_query import StatusQuery
from kadm.errors import KadmError
from kadm.watch.client import ask
from kadm.watch.serving import listening, serving
from kadm.watch.state import Board, Snapshot
from tests.watch.views import a_busy_fleet, a_copy, a_key, a_snapshot, a_workload


def printed(snapshot: Snapshot, output: StatusOutput = StatusOutput.TEXT, **query: Any) -> tuple[ExitCode, str, str]:
    """Exit code, stdout and stderr of ``kadm status --daemon``."""

    async def run() -> tuple[ExitCode, str, str]:
        out, err = io.StringIO(), io.StringIO()
        native = {"kind": "Deployment", "status": {"readyReplicas": 4}}
        async with serving(Board(snapshot, lambda _: native), listening("127.0.0.1:0")) as server:
            asked = StatusQuery(
                directory=Path("/nowhere"),
                daemon=server.url,
                native=output is StatusOutput.YAML,
                **{"names": [], **query},
            )
            code = await status_of(Console(out=out, err=err), asked, output)
        return code, out.getvalue(), err.getvalue()

    return asyncio.run(run())


def test_the_same_status_comes_back() -> None:
    async def run() -> None:
        snapshot = a_busy_fleet()
        async with serving(Board(snapshot), listening("127.0.0.1:0")) as server:
            found = await ask(f"{server.url}/", token_file=None, native=False, timeout_s=10)
        assert found.status == snapshot.status
        assert found.members == ("eu-1", "eu-2", "us-1", "us-2", "ap-1")

    asyncio.run(run())


def test_the_table_and_a_lost_member() -> None:
    code, out, err = printed(a_busy_fleet(), names=["deploy/cart", "deploy/frontend"])
    assert out == (
        "NAMESPACE  WORKLOAD             READY  HEALTH   MEMBERS\n"
        "shop       Deployment/cart        8/8  Healthy  eu-1 3/3, eu-2 2/2, us-1 2/2, us-2 1/1\n"
        "shop       Deployment/frontend  13/15  Failed   eu-1 5/5, eu-2 0/2, us-1 4/4, us-2 4/4 (stale)\n"
        "  2 pods ImagePullBackOff in container app\n"
    )
    assert (code, err) == (ExitCode.PARTIAL, "error: us-2: it cannot be reached: no answer within 4 s\n")


THREE = a_snapshot(
    workloads=(
        a_workload("api", a_copy("eu"), key=a_key("api", namespace="core"), labels={"team": "one"}),
        a_workload("web", a_copy("eu", 1, 2, "Progressing", "1 of 2"), a_copy("us"), labels={"team": "two"}),
    )
)


@pytest.mark.parametrize(
    ("query", "want"),
    [
        pytest.param({}, ["api 2/2", "web 3/4"], id="all"),
        pytest.param({"namespace": "core"}, ["api 2/2"], id="a namespace"),
        pytest.param({"selector": "team=two"}, ["web 3/4"], id="labels"),
        pytest.param({"names": ["deploy"]}, ["api 2/2", "web 3/4"], id="a kind"),
        pytest.param({"only": ["us"]}, ["api None/None", "web 2/2"], id="a member"),
    ],
)
def test_narrowing(query: dict[str, Any], want: list[str]) -> None:
    _, out, _ = printed(THREE, StatusOutput.JSON, **query)
    assert [f"{one['name']} {one['ready']}/{one['desired']}" for one in json.loads(out)["workloads"]] == want


def test_native_objects() -> None:
    _, out, _ = printed(THREE, StatusOutput.YAML, names=["deploy/api"])
    assert out == "kind: Deployment\nstatus:\n  readyReplicas: 4\n"


@pytest.mark.parametrize(
    ("query", "why"),
    [
        pytest.param(
            {"names": ["deploy/nothing"]}, "nothing in the repository is called deploy/nothing", id="no such name"
        ),
        pytest.param({"only": ["ap"]}, "no such member: ap", id="no such member"),
    ],
)
def test_what_cannot_be_asked(query: dict[str, Any], why: str) -> None:
    with pytest.raises(KadmError, match=why):
        printed(THREE, **query)


@pytest.mark.parametrize(
    "url", ["127.0.0.1:5236", "ftp://127.0.0.1", "http://", "http://user:word@127.0.0.1", "http://127.0.0.1/?token=x"]
)
def test_what_is_no_address(url: str) -> None:
    with pytest.raises(KadmError, match="is no address of a daemon"):
        asyncio.run(ask(url, token_file=None, native=False, timeout_s=1))


def test_nobody_there() -> None:
    with pytest.raises(KadmError, match="cannot be asked"):
        asyncio.run(ask("http://127.0.0.1:1", token_file=None, native=False, timeout_s=5))


def test_the_token(tmp_path: Path) -> None:
    token_file, wrong_file = tmp_path / "token", tmp_path / "wrong"
    token_file.write_text("a-token-that-is-long-enough")
    wrong_file.write_text("a-token-that-is-not-the-one")
    for path in (token_file, wrong_file):
        path.chmod(0o600)

    async def run() -> None:
        async with serving(Board(THREE), listening("127.0.0.1:0", token_file=token_file)) as server:
            with pytest.raises(KadmError, match="wants its token"):
                await ask(server.url, token_file=None, native=False, timeout_s=5)
            with pytest.raises(KadmError, match=f"the token in {wrong_file} is not the daemon's"):
                await ask(server.url, token_file=wrong_file, native=False, timeout_s=5)
            found = await ask(server.url, token_file=token_file, native=False, timeout_s=5)
            assert found.status == THREE.status

    asyncio.run(run())


@pytest.mark.parametrize(
    ("status", "body", "why"),
    [
        pytest.param(200, b"<html>", "does not answer as kadm watch does", id="another program"),
        pytest.param(200, b'{"kind": "Status"}', "does not answer as kadm watch does", id="an API server"),
        pytest.param(503, b"", "the daemon answers 503", id="an error"),
        pytest.param(302, b"", "the daemon answers 302", id="a redirect, which the token does not follow"),
    ],
)
def test_somebody_else_there(status: int, body: bytes, why: str) -> None:
    async def answer(_request: web.BaseRequest) -> web.Response:
        return web.Response(status=status, body=body, headers={"Location": "http://127.0.0.1:1/"})

    async def run() -> None:
        runner = web.ServerRunner(web.Server(answer))
        await runner.setup()
        try:
            await web.TCPSite(runner, "127.0.0.1", 0).start()
            url = f"http://127.0.0.1:{runner.addresses[0][1]}"
            with pytest.raises(KadmError, match=why):
                await ask(url, token_file=None, native=False, timeout_s=5)
        finally:
            await runner.cleanup()

    asyncio.run(run())
