"""Webhooks of git servers: who is believed, and what becomes of the rest."""

from __future__ import annotations

import asyncio
import gzip
import hmac
import json
import logging
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

import aiohttp
import pytest
from aiohttp import StreamReader, web
from aiohttp.test_utils import make_mocked_request
from multidict import CIMultiDict

from kadm.errors import UsageError
from kadm.watch.serving import Listening, listening, serving
from kadm.watch.serving.hook import LARGEST_BODY, TooLarge, is_genuine
from kadm.watch.state import Board
from tests.watch.views import a_snapshot

SECRET = "It's a Secret to Everybody"
BODY = b"Hello, World!"
SIGNED = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"
"""Secret, body and signature are those that GitHub gives to try an implementation with (docs.github.com, "Validating
webhook deliveries")."""


async def _in_parts(body: bytes) -> AsyncIterator[bytes]:
    for at in range(0, len(body), 5):
        yield body[at : at + 5]


@pytest.mark.parametrize(
    ("headers", "want"),
    [
        pytest.param({"X-Hub-Signature-256": SIGNED}, True, id="GitHub, Gitea, Forgejo"),
        pytest.param({"X-Hub-Signature-256": SIGNED, "X-Hub-Signature": "sha1=0123"}, True, id="and the older one"),
        pytest.param({"x-hub-signature": SIGNED}, True, id="Bitbucket, in whatever case"),
        pytest.param({"X-Gitlab-Token": SECRET}, True, id="GitLab"),
        pytest.param({"Authorization": f"Bearer {SECRET}"}, True, id="anything else"),
        pytest.param({"X-Hub-Signature-256": SIGNED.replace("757", "758")}, False, id="another signature"),
        pytest.param({"X-Hub-Signature-256": SIGNED.removeprefix("sha256=")}, False, id="without its algorithm"),
        pytest.param({"X-Hub-Signature": SIGNED.replace("sha256", "sha1")}, False, id="another algorithm"),
        pytest.param({"X-Hub-Signature-256": ""}, False, id="an empty signature"),
        pytest.param({"X-Hub-Signature-256": "", "X-Gitlab-Token": SECRET}, False, id="what signs is to sign"),
        pytest.param({"X-Gitlab-Token": SECRET[:-1]}, False, id="a part of the secret"),
        pytest.param({"X-Gitlab-Token": "\udcff"}, False, id="no text"),
        pytest.param({"Authorization": f"Basic {SECRET}"}, False, id="another scheme"),
        pytest.param({"Authorization": SECRET}, False, id="without a scheme"),
        pytest.param({}, False, id="nothing"),
    ],
)
def test_who_knows_the_secret_is_believed(headers: Mapping[str, str], want: bool) -> None:
    assert asyncio.run(is_genuine(CIMultiDict(headers), _in_parts(BODY), SECRET)) is want


def test_another_body_has_another_signature() -> None:
    assert not asyncio.run(is_genuine({"X-Hub-Signature-256": SIGNED}, _in_parts(BODY + b"!"), SECRET))


def test_a_body_without_end_is_given_up() -> None:
    async def endless() -> AsyncIterator[bytes]:
        part = b"x" * (1 << 20)
        while True:
            yield part

    with pytest.raises(TooLarge, match=f"larger than {LARGEST_BODY >> 20} MiB"):
        asyncio.run(is_genuine({"X-Hub-Signature-256": SIGNED}, endless(), SECRET))


def asked(where: Listening, *requests: tuple[str, dict[str, str], bytes]) -> tuple[list[int], int]:
    """Send requests (method, headers, body) to the hook; their statuses, and how often a push was heard of."""
    heard: list[None] = []

    async def run() -> list[int]:
        async with (
            serving(Board(a_snapshot()), where, lambda: heard.append(None)) as server,
            aiohttp.ClientSession(server.url) as client,
        ):
            statuses = []
            for method, headers, body in requests:
                async with client.request(method, "/hook", headers=headers, data=body) as answer:
                    statuses.append(answer.status)
            return statuses

    return asyncio.run(run()), len(heard)


def answer_to(request: bytes, where: Listening) -> tuple[str, Any]:
    """The status line that the server sends for the bytes of a request, and the JSON after it, if it is JSON."""

    async def run() -> bytes:
        async with serving(Board(a_snapshot()), where) as server:
            reader, writer = await asyncio.open_connection("127.0.0.1", urlsplit(server.url).port)
            writer.write(request)
            async with asyncio.timeout(20):
                answer = await reader.read()
            writer.close()
            return answer

    head, _, body = asyncio.run(run()).partition(b"\r\n\r\n")
    return head.decode().partition("\r\n")[0], json.loads(body) if b"application/json" in head else None


@pytest.fixture
def secret_file(tmp_path: Path) -> Path:
    path = tmp_path / "secret"
    path.write_text("a-secret-that-is-long-enough")
    path.chmod(0o600)
    return path


def test_a_push_is_heard_of_by_whatever_name_it_is_told(secret_file: Path) -> None:
    right = {"X-Gitlab-Token": "a-secret-that-is-long-enough", "Host": "kadm.example.org"}
    wrong = {"X-Gitlab-Token": "a-secret-that-is-not-the-one"}
    found = asked(
        listening("127.0.0.1:0", hook_file=secret_file),
        ("POST", right, b"{}"),
        ("POST", wrong, b"{}"),
        ("POST", {}, b""),
        ("GET", right, b""),
        ("POST", right, b"x" * 900_000),
    )
    assert found == ([202, 401, 401, 405, 202], 2)


def test_the_secret_of_the_hook_opens_nothing_else(secret_file: Path, tmp_path: Path) -> None:
    token_file = tmp_path / "token"
    token_file.write_text("a-token-that-is-long-enough")
    token_file.chmod(0o600)

    async def run() -> list[int]:
        where = listening("127.0.0.1:0", token_file=token_file, hook_file=secret_file)
        async with serving(Board(a_snapshot()), where) as server, aiohttp.ClientSession(server.url) as client:
            found = []
            for method, path, word in (
                ("GET", "/api/v1/fleet", secret_file),
                ("GET", "/api/v1/fleet", token_file),
                ("POST", "/hook", token_file),
                ("POST", "/hook", secret_file),
            ):
                headers = {"Authorization": f"Bearer {await asyncio.to_thread(word.read_text)}"}
                async with client.request(method, path, headers=headers) as answer:
                    found.append(answer.status)
            return found

    assert asyncio.run(run()) == [401, 200, 401, 202]


def test_there_is_no_hook_without_a_secret() -> None:
    assert asked(listening("127.0.0.1:0"), ("POST", {"Authorization": "Bearer "}, b"")) == ([404], 0)


@pytest.mark.parametrize(
    ("encodings", "want"),
    [
        pytest.param(["gzip"], 415, id="gzip"),
        pytest.param(["br"], 415, id="unknown to aiohttp"),
        pytest.param(["identity, gzip"], 415, id="a list"),
        pytest.param(["identity", "gzip"], 415, id="one after the other"),
        pytest.param(["Identity"], 202, id="as it is"),
    ],
)
def test_a_body_has_to_come_as_it_is(
    encodings: list[str], want: int, secret_file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    head = ["POST /hook HTTP/1.1", "Host: x", "Connection: close", f"X-Gitlab-Token: {secret_file.read_text()}"]
    head += [f"Content-Encoding: {one}" for one in encodings]
    request = "\r\n".join((*head, "Content-Length: 7", "", "notgzip")).encode()
    status, document = answer_to(request, listening("127.0.0.1:0", hook_file=secret_file))
    assert status.split()[1] == str(want)
    assert want == 202 or document["problem"]["what"] == "the body is compressed, or encoded in another way"
    assert "Traceback" not in caplog.text


def test_a_signature_is_that_of_the_body_as_it_was_sent(secret_file: Path) -> None:
    body = gzip.compress(b"{}")
    signed = hmac.new(secret_file.read_bytes(), body, "sha256").hexdigest()
    headers = {"X-Hub-Signature-256": f"sha256={signed}", "Content-Type": "application/gzip"}
    assert asked(listening("127.0.0.1:0", hook_file=secret_file), ("POST", headers, body)) == ([202], 1)


def test_a_body_that_cannot_be_read_is_told(secret_file: Path) -> None:
    class Torn:
        async def iter_any(self) -> AsyncIterator[bytes]:
            yield b"{"
            raise web.RequestPayloadError("no chunk")

    async def run() -> web.StreamResponse:
        where = listening("127.0.0.1:0", hook_file=secret_file)
        async with serving(Board(a_snapshot()), where) as server:
            request = make_mocked_request("POST", "/hook", payload=cast(StreamReader, Torn()))
            return await server._middleware()(request, server._hook)

    answer = asyncio.run(run())
    assert isinstance(answer, web.Response)
    assert isinstance(answer.body, bytes)
    assert (answer.status, json.loads(answer.body)["kind"]) == (400, "Error")
    assert b"no chunk" not in answer.body


@pytest.mark.parametrize(
    "request_",
    [
        pytest.param(b"POST /hook HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer CANARY\r\r\n\r\n", id="a bare CR"),
        pytest.param(b"POST /hook HTTP/1.1\r\nHost: x\r\nX-Gitlab-Token: CANARY\x01\r\n\r\n", id="a control"),
        pytest.param(b"POST /hook HTTP/1.1\r\nHost: x\r\nAuthorization : Bearer CANARY\r\n\r\n", id="a space"),
        pytest.param(b"POST /hook HTTP/1.1\r\nHost: x\r\nX: " + b"CANARY" * 5000 + b"\r\n\r\n", id="a long header"),
        pytest.param(
            b"POST /hook HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nCANARY\r\n\r\n", id="a bad chunk"
        ),
        pytest.param(b"\x16\x03\x01\x00\xf1CANARY\r\n\r\n", id="TLS"),
    ],
)
def test_what_is_not_http_leaves_one_line_and_none_of_its_bytes(
    request_: bytes, secret_file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, logger="kadm")
    caplog.set_level(logging.DEBUG, logger="aiohttp")
    status, _ = answer_to(request_, listening("127.0.0.1:0", hook_file=secret_file))
    assert status == "HTTP/1.0 400 Bad Request"
    (told,) = (one for one in caplog.records if not one.getMessage().startswith("serving on "))
    assert (told.levelno, told.name.partition(".")[0], told.exc_info) == (logging.INFO, "kadm", None)
    assert told.getMessage().startswith("a request from 127.0.0.1 cannot be read: ")
    assert "CANARY" not in caplog.text


def test_the_secret_is_read_again_and_a_bad_file_changes_nothing(
    secret_file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def run() -> list[int]:
        where = listening("127.0.0.1:0", hook_file=secret_file)
        async with serving(Board(a_snapshot()), where) as server, aiohttp.ClientSession(server.url) as client:

            async def status(secret: str) -> int:
                async with client.post("/hook", headers={"X-Gitlab-Token": secret}) as answer:
                    return answer.status

            await asyncio.to_thread(secret_file.write_text, "another-secret-of-some-length")
            server.reload()
            found = [await status("a-secret-that-is-long-enough"), await status("another-secret-of-some-length")]
            await asyncio.to_thread(secret_file.write_text, "short")
            server.reload()
            return [*found, await status("another-secret-of-some-length")]

    assert asyncio.run(run()) == [401, 202, 202]
    assert "the former secret stays" in caplog.text
    assert "another-secret" not in caplog.text


def test_a_secret_that_others_can_read_is_refused(secret_file: Path) -> None:
    secret_file.chmod(0o644)
    with pytest.raises(UsageError, match=r"the hook secret file .* is open to others"):
        asked(listening("127.0.0.1:0", hook_file=secret_file))
