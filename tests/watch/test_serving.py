"""The server, over real HTTP on loopback: who may come in, and what every answer is like."""

from __future__ import annotations

import asyncio
import json
import logging
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import aiohttp
import msgspec
import pytest
from msgspec.structs import replace

from kadm.errors import UsageError
from kadm.watch.serving import Listening, Serving, listening, serving
from kadm.watch.serving.access import Door, is_loopback, read_token
from kadm.watch.serving.documents import watch_document, workloads_document
from kadm.watch.serving.stream import MOST_READERS
from kadm.watch.state import Board, Snapshot, SourceView
from tests.watch.views import (
    a_busy_fleet,
    a_copy,
    a_key,
    a_matrix,
    a_member,
    a_snapshot,
    a_workload,
    an_event,
    lost,
    with_member,
    with_workload,
)

TOKEN = "a-token-that-is-long-enough"
HERE = listening("127.0.0.1:0")


def served(
    first: Snapshot,
    act: Callable[[aiohttp.ClientSession, Board, Serving], Awaitable[None]],
    where: Listening = HERE,
) -> None:
    """Serve a snapshot, and act with a client that resolves paths against the server."""

    async def run() -> None:
        board = Board(first)
        async with serving(board, where) as server, aiohttp.ClientSession(server.url) as client:
            async with asyncio.timeout(20):
                await act(client, board, server)

    asyncio.run(run())


@pytest.fixture
def token_file(tmp_path: Path) -> Path:
    path = tmp_path / "token"
    path.write_text(f"{TOKEN}\n")
    path.chmod(0o600)
    return path


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        pytest.param("/api/v1/fleet", "WatchStatus", id="the daemon"),
        pytest.param("/api/v1/clusters", "ClusterList", id="members"),
        pytest.param("/api/v1/workloads", "FleetStatus", id="workloads"),
        pytest.param("/api/v1/workloads?native=true", "FleetStatus", id="workloads with native objects"),
        pytest.param("/api/v1/events", "EventList", id="events"),
        pytest.param("/api/v1/events?after=3", "EventList", id="new events"),
        pytest.param("/api/v1/plan", "WatchPlan", id="the plan"),
    ],
)
def test_a_document_has_its_kind_and_its_etag_answers_304(path: str, kind: str) -> None:
    async def act(client: aiohttp.ClientSession, _board: Board, _server: Serving) -> None:
        async with client.get(path) as answer:
            document = await answer.json()
            etag = answer.headers["ETag"]
            assert (answer.status, answer.content_type) == (200, "application/json")
        async with client.get(path, headers={"If-None-Match": etag}) as again:
            assert (again.status, await again.read(), again.headers["ETag"]) == (304, b"", etag)
        assert (document["apiVersion"], document["kind"], document["fleet"]) == ("kadm.io/v1", kind, "shop")

    served(a_busy_fleet(), act)


def test_an_etag_changes_with_what_it_is_of_and_with_nothing_else() -> None:
    paths = ("fleet", "clusters", "workloads", "events", "plan")

    async def etags(client: aiohttp.ClientSession) -> dict[str, str]:
        found = {}
        for path in paths:
            async with client.get(f"/api/v1/{path}") as answer:
                found[path] = answer.headers["ETag"]
        return found

    async def act(client: aiohttp.ClientSession, board: Board, _server: Serving) -> None:
        first = await etags(client)
        board.publish(with_member(board.latest, a_member("eu", heard="2026-03-01T12:00:05Z", lag_s=1.0), 2))
        assert await etags(client) == first
        board.publish(with_workload(board.latest, a_workload("web", a_copy("eu", 1), a_copy("us")), 3))
        second = await etags(client)
        assert {path for path in paths if first[path] != second[path]} == {"workloads"}
        board.publish(with_member(board.latest, lost("us"), 4))
        third = await etags(client)
        assert {path for path in paths if second[path] != third[path]} == {"clusters", "workloads"}

    served(a_snapshot(), act)


def test_workloads_put_together_are_those_encoded_at_once() -> None:
    async def act(client: aiohttp.ClientSession, board: Board, _server: Serving) -> None:
        for snapshot in (board.latest, a_snapshot(2), a_matrix(30, 5, 3), a_snapshot(4, workloads=())):
            board.publish(snapshot)
            async with client.get("/api/v1/workloads") as answer:
                assert await answer.read() == msgspec.json.encode(workloads_document(snapshot))

    served(a_busy_fleet(), act)


def test_large_documents_are_compressed() -> None:
    async def act(client: aiohttp.ClientSession, _board: Board, _server: Serving) -> None:
        async with client.get("/api/v1/workloads", headers={"Accept-Encoding": "gzip"}) as answer:
            sent = int(answer.headers["Content-Length"])
            assert (answer.headers["Content-Encoding"], sent * 10 < len(await answer.read())) == ("gzip", True)

    served(a_matrix(100, 20), act)


@pytest.mark.parametrize(
    ("path", "status", "what"),
    [
        pytest.param("/api/v1/nothing", 404, "GET /api/v1/nothing: not found", id="unknown path"),
        pytest.param("/page/../server.py", 404, "GET /server.py: not found", id="nothing but the page's files"),
        pytest.param("/api/v1/events?after=x", 400, "after is the number of an event", id="no number"),
        pytest.param("/api/v1/workloads?native=1", 400, "native is true or false", id="no truth"),
    ],
)
def test_an_error_is_a_document(path: str, status: int, what: str) -> None:
    async def act(client: aiohttp.ClientSession, _board: Board, _server: Serving) -> None:
        async with client.get(path) as answer:
            assert (answer.status, (await answer.json())["problem"]["what"]) == (status, what)

    served(a_snapshot(), act)


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
def test_nothing_can_be_changed(method: str) -> None:
    async def act(client: aiohttp.ClientSession, _board: Board, _server: Serving) -> None:
        async with client.request(method, "/api/v1/workloads") as answer:
            assert (answer.status, answer.headers["Allow"]) == (405, "GET,HEAD")

    served(a_snapshot(), act)


def test_health_and_readiness() -> None:
    async def act(client: aiohttp.ClientSession, board: Board, _server: Serving) -> None:
        async def said(path: str) -> tuple[int, str]:
            async with client.get(path) as answer:
                return answer.status, await answer.text()

        assert (await said("/healthz"), (await said("/readyz"))[0]) == ((200, "ok\n"), 503)
        board.publish(a_snapshot(2))
        assert (await said("/healthz"), await said("/readyz")) == ((200, "ok\n"), (200, "ok\n"))

    served(a_snapshot(ready=False), act)


PATHS = ("/", "/main.js", "/kadm.css", "/healthz", "/metrics", "/api/v1/workloads", "/nowhere")


@pytest.mark.parametrize("path", PATHS)
def test_every_answer_has_the_security_headers(path: str) -> None:
    async def act(client: aiohttp.ClientSession, _board: Board, _server: Serving) -> None:
        async with client.get(path) as answer:
            policy = answer.headers["Content-Security-Policy"]
            assert (
                policy.startswith("default-src 'self'; "),
                "unsafe" in policy,
                answer.headers["X-Content-Type-Options"],
                answer.headers["X-Frame-Options"],
                answer.headers["Referrer-Policy"],
                answer.headers["Server"],
                "Access-Control-Allow-Origin" in answer.headers,
            ) == (True, False, "nosniff", "DENY", "no-referrer", "kadm", False)

    served(a_snapshot(), act)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        pytest.param({"Host": "localhost:5236"}, 200, id="localhost, by whatever port"),
        pytest.param({"Host": "[::1]:5236"}, 200, id="IPv6 loopback"),
        pytest.param({"Host": "rebound.example.org"}, 403, id="a name pointed at this machine"),
        pytest.param({"Host": "127.0.0.1.example.org"}, 403, id="a name that looks like an address"),
        pytest.param({"Host": "user@localhost"}, 403, id="malformed"),
        pytest.param({"Origin": "https://example.org"}, 403, id="another site's request"),
        pytest.param({"Origin": "null"}, 403, id="a sandboxed frame's request"),
        pytest.param({"Host": "localhost:1", "Origin": "http://localhost:1"}, 200, id="the page's own request"),
        pytest.param({"Sec-Fetch-Site": "cross-site"}, 403, id="told by the browser"),
        pytest.param({"Sec-Fetch-Site": "same-origin"}, 200, id="our own, told by the browser"),
    ],
)
def test_other_web_sites_are_kept_out(headers: dict[str, str], status: int) -> None:
    async def act(client: aiohttp.ClientSession, _board: Board, _server: Serving) -> None:
        async with client.get("/api/v1/clusters", headers=headers) as answer:
            assert answer.status == status

    served(a_snapshot(), act)


@pytest.mark.parametrize(
    ("path", "authorization", "status"),
    [
        pytest.param("/", None, 200, id="the page holds nothing of the fleet"),
        pytest.param("/healthz", None, 200, id="health"),
        pytest.param("/readyz", None, 200, id="readiness"),
        pytest.param("/metrics", None, 401, id="metrics without"),
        pytest.param("/metrics", f"Bearer {TOKEN}", 200, id="metrics with"),
        pytest.param("/api/v1/workloads", None, 401, id="JSON without"),
        pytest.param("/api/v1/workloads", f"Bearer {TOKEN}", 200, id="JSON with"),
        pytest.param("/api/v1/workloads", f"bearer {TOKEN}", 200, id="the scheme's case does not count"),
        pytest.param("/api/v1/workloads", f"Bearer {TOKEN}x", 401, id="a longer one"),
        pytest.param("/api/v1/workloads", f"Bearer {TOKEN[:-1]}", 401, id="a shorter one"),
        pytest.param("/api/v1/workloads", f"Basic {TOKEN}", 401, id="another scheme"),
        pytest.param(f"/api/v1/workloads?token={TOKEN}", None, 401, id="never in an address"),
        pytest.param("/api/v1/stream", None, 401, id="the stream without"),
        pytest.param("/api/v1/nothing", None, 401, id="what there is, is not told either"),
    ],
)
def test_the_token(path: str, authorization: str | None, status: int, token_file: Path) -> None:
    async def act(client: aiohttp.ClientSession, _board: Board, _server: Serving) -> None:
        headers = {"Authorization": authorization} if authorization else {}
        async with client.get(path, headers={**headers, "Host": "kadm.example.org"}) as answer:
            wanted = 'Bearer realm="kadm"' if status == 401 else None
            assert (answer.status, answer.headers.get("WWW-Authenticate")) == (status, wanted)

    served(a_snapshot(), act, listening("127.0.0.1:0", token_file=token_file))


def test_a_token_is_read_again_and_a_bad_file_changes_nothing(
    token_file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def act(client: aiohttp.ClientSession, _board: Board, server: Serving) -> None:
        async def status(token: str) -> int:
            async with client.get("/metrics", headers={"Authorization": f"Bearer {token}"}) as answer:
                return answer.status

        await asyncio.to_thread(token_file.write_text, "another-token-of-some-length")
        server.reload()
        assert (await status(TOKEN), await status("another-token-of-some-length")) == (401, 200)
        await asyncio.to_thread(token_file.chmod, 0o644)
        server.reload()
        assert await status("another-token-of-some-length") == 200

    caplog.set_level("INFO")
    served(a_snapshot(), act, listening("127.0.0.1:0", token_file=token_file))
    assert caplog.text.count(f"the token was read again from {token_file}") == 1
    assert "the former token stays" in caplog.text
    assert TOKEN not in caplog.text
    assert "another-token" not in caplog.text


@pytest.mark.parametrize(
    ("mode", "content", "why"),
    [
        pytest.param(0o600, f"{TOKEN}\n", "", id="mine alone"),
        pytest.param(0o400, TOKEN, "", id="read-only, without an end of line"),
        pytest.param(0o640, TOKEN, "is open to others: its mode is 0640", id="open to the group"),
        pytest.param(0o604, TOKEN, "is open to others: its mode is 0604", id="open to the world"),
        pytest.param(0o600, "short", "is not one word of at least 16 characters", id="short"),
        pytest.param(0o600, "", "is not one word of at least 16 characters", id="empty"),
        pytest.param(0o600, f"{TOKEN} {TOKEN}", "is not one word of at least 16 characters", id="two words"),
        pytest.param(0o600, "zwölf-boxkämpfer-jagen", "holds more than ASCII", id="not ASCII"),
    ],
)
def test_the_file_of_the_token(mode: int, content: str, why: str, tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_text(content, encoding="utf-8")
    path.chmod(mode)
    if not why:
        assert read_token(path) == TOKEN
        return
    with pytest.raises(UsageError) as refused:
        read_token(path)
    assert why in refused.value.problem.what
    assert not content or content not in str(refused.value)


def test_a_file_that_is_missing(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        read_token(tmp_path / "none")
    with pytest.raises(UsageError, match="is no regular file"):
        read_token(Path("/dev/null"))


def test_a_named_pipe_is_no_token_and_is_not_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "token"
    os.mkfifo(path, 0o600)
    with pytest.raises(UsageError, match="is no regular file"):
        read_token(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    writer = os.open(path, os.O_WRONLY)
    try:
        with pytest.raises(UsageError, match="is no regular file"):
            read_token(path)
    finally:
        os.close(writer)
        os.close(reader)


@pytest.mark.parametrize(
    ("text", "token", "want"),
    [
        pytest.param("127.0.0.1:5236", False, ("127.0.0.1", 5236), id="loopback"),
        pytest.param("localhost:1", False, ("localhost", 1), id="localhost"),
        pytest.param("[::1]:80", False, ("::1", 80), id="IPv6"),
        pytest.param("0.0.0.0:5236", True, ("0.0.0.0", 5236), id="everywhere, with a token"),
        pytest.param("0.0.0.0:5236", False, "asks nobody for a token", id="everywhere, without"),
        pytest.param("[::]:5236", False, "asks nobody for a token", id="everywhere by IPv6, without"),
        pytest.param("10.0.0.1:5236", False, "asks nobody for a token", id="one address, without"),
        pytest.param("kadm.example.org:5236", False, "asks nobody for a token", id="a name, without"),
        pytest.param("5236", False, "is not HOST:PORT", id="no host"),
        pytest.param(":5236", True, "is not HOST:PORT", id="empty host"),
        pytest.param("127.0.0.1:http", False, "is not HOST:PORT", id="no number"),
        pytest.param("127.0.0.1:65536", False, "is not HOST:PORT", id="no port"),
        pytest.param("::1:80", False, "is not HOST:PORT", id="IPv6 without brackets"),
    ],
)
def test_where_to_listen(text: str, token: bool, want: tuple[str, int] | str) -> None:
    file = Path("token") if token else None
    if isinstance(want, str):
        with pytest.raises(UsageError, match=want):
            listening(text, token_file=file)
    else:
        found = listening(text, token_file=file)
        assert (found.host, found.port) == want


@pytest.mark.parametrize(
    ("host", "want"),
    [("127.0.0.1", True), ("127.9.9.9", True), ("::1", True), ("LOCALHOST", True), ("10.0.0.1", False), ("x", False)],
)
def test_loopback(host: str, want: bool) -> None:
    assert is_loopback(host) is want


def test_a_door_without_a_token_lets_in() -> None:
    assert (Door(None).knows(None), Door(None).wants_token, Door(TOKEN).wants_token) == (True, False, True)


def test_a_port_that_is_taken_is_told() -> None:
    async def act(_client: aiohttp.ClientSession, _board: Board, server: Serving) -> None:
        with pytest.raises(UsageError, match="the daemon cannot listen on "):
            async with serving(Board(a_snapshot()), listening(server.url.removeprefix("http://"))):
                pass

    served(a_snapshot(), act)


def test_what_a_handler_fails_at_is_logged_with_its_traceback(caplog: pytest.LogCaptureFixture) -> None:
    def fails(_key: object) -> None:
        raise ZeroDivisionError

    async def run() -> int:
        board = Board(a_busy_fleet(), fails)
        async with (
            serving(board, HERE) as server,
            aiohttp.ClientSession(server.url) as client,
            client.get("/api/v1/workloads?native=true") as answer,
        ):
            return answer.status

    assert asyncio.run(run()) == 500
    (told,) = (one for one in caplog.records if one.levelno >= logging.WARNING)
    assert (told.levelno, told.name.partition(".")[0]) == (logging.ERROR, "kadm")
    assert told.exc_info is not None
    assert told.exc_info[0] is ZeroDivisionError


@pytest.mark.parametrize(
    "sent",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b"GET / HTTP/1.1\r\nHost: localhost\r\n", id="half a request"),
        pytest.param(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\nGET / HT", id="half of a second one"),
    ],
)
def test_a_connection_without_a_whole_request_is_closed(sent: bytes) -> None:
    async def run() -> bytes:
        async with serving(Board(a_snapshot()), HERE, idle_s=0.1) as server:
            reader, writer = await asyncio.open_connection("127.0.0.1", urlsplit(server.url).port)
            writer.write(sent)
            async with asyncio.timeout(60):
                answer = await reader.read()
            writer.close()
            return answer

    assert (b"200 OK" in asyncio.run(run())) is (b"healthz" in sent)


def test_no_credentials_in_the_address_of_the_repository() -> None:
    source = SourceView(url="https://user:secret@git.example.org/fleet.git?private_token=secret")
    document = watch_document(replace(a_snapshot(), source=source))
    assert document["source"]["url"] == "https://git.example.org/fleet.git"


def test_values_of_secrets_are_not_served() -> None:
    key = a_key("pull", kind="Secret", group="")
    native: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "pull", "namespace": "shop"},
        "data": {"password": "Y2FuYXJ5"},
    }
    document = workloads_document(a_snapshot(workloads=(a_workload("pull", key=key),)), lambda _: native)
    assert document["workloads"][0]["native"]["data"] == {"password": "(secret)"}


async def messages(answer: aiohttp.ClientResponse) -> Any:
    """The messages of a stream, one after the other."""
    kind = ""
    async for line in answer.content:
        name, _, value = line.decode().rstrip("\n").partition(": ")
        if name == "event":
            kind = value
        elif name == "data":
            yield kind, json.loads(value)


def test_the_stream_tells_everything_first_then_what_changed() -> None:
    async def act(client: aiohttp.ClientSession, board: Board, _server: Serving) -> None:
        async with client.get("/api/v1/stream") as answer:
            assert answer.headers["Content-Type"] == "text/event-stream; charset=utf-8"
            told = messages(answer)
            kind, first = await anext(told)
            assert (kind, len(first["workloads"]), len(first["clusters"]), first["version"]) == ("snapshot", 1, 2, 1)

            board.publish(with_member(board.latest, a_member("eu", heard="2026-03-01T12:00:05Z"), 2))  # nothing to tell
            changed = a_workload("web", a_copy("eu"), a_copy("us", 1, 2, "Progressing", "1 of 2"))
            board.publish(with_workload(board.latest, changed, 3, [an_event(1, "drift", kind="drift")]))
            kind, second = await anext(told)
            assert (kind, set(second), second["version"]) == (
                "changes",
                {"fleet", "version", "at", "workloads", "events"},
                3,
            )
            assert [one["cluster"] for one in second["workloads"][0]["members"]] == ["us"]
            assert [one["number"] for one in second["events"]] == [1]

            board.publish(a_snapshot(4, workloads=(), members=(lost("eu"),), events=board.latest.events))
            kind, third = await anext(told)
            assert (third["clustersGone"], [one["name"] for one in third["clusters"]]) == (["us"], ["eu"])
            assert third["workloadsGone"] == [
                {"group": "apps", "kind": "Deployment", "namespace": "shop", "name": "web"}
            ]

            board.close()
            assert [one async for one in told] == []

    served(a_snapshot(), act)


def test_a_copy_that_leaves_a_member_is_told() -> None:
    async def act(client: aiohttp.ClientSession, board: Board, _server: Serving) -> None:
        async with client.get("/api/v1/stream") as answer:
            told = messages(answer)
            await anext(told)
            board.publish(with_workload(board.latest, a_workload("web", a_copy("us", 4, 4)), 2))
            _, changed = await anext(told)
            one = changed["workloads"][0]
            assert (one["membersGone"], [copy["cluster"] for copy in one["members"]]) == (["eu"], ["us"])

    served(a_snapshot(), act)


def test_open_streams_do_not_keep_the_server() -> None:
    async def run() -> float:
        loop = asyncio.get_running_loop()
        async with aiohttp.ClientSession() as client:
            async with serving(Board(a_snapshot()), HERE) as server:
                answers = [await client.get(f"{server.url}/api/v1/stream") for _ in range(5)]
                for answer in answers:
                    await answer.content.readline()
                began = loop.time()
            took = loop.time() - began
            for answer in answers:
                answer.close()
        return took

    assert asyncio.run(run()) < 1.5


def test_readers_are_bounded() -> None:
    async def run() -> int:
        connector = aiohttp.TCPConnector(limit=0)
        async with serving(Board(a_snapshot()), HERE) as server, aiohttp.ClientSession(connector=connector) as client:
            answers = [await client.get(f"{server.url}/api/v1/stream") for _ in range(MOST_READERS)]
            async with client.get(f"{server.url}/api/v1/stream") as refused:
                status = refused.status
            for answer in answers:
                answer.close()
        return status

    assert asyncio.run(run()) == 503
