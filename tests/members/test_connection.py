"""The connection: deadlines, retries, translation of what goes wrong, and the guard against writes."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import pytest
from aiohttp import web

from kadm.errors import MemberError, MemberRefused, MemberSilent, MemberUnreachable
from kadm.members.connection import FAILURES, Access, Answer, Connection, Method, WriteWhileReading, translated
from kadm.members.refusal import ManifestRefused
from tests.members.fake_member import Answerer, FakeMember, always, in_turn, run, serving, status

ACCESS = Access(server="https://eu.example:6443")
Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


async def asked(member: FakeMember, method: Method = "GET", path: str = "/x", **options: Any) -> Answer:
    timeout_s = options.pop("timeout_s", 5.0)
    read_only = options.pop("read_only", True)
    async with serving(member), member.connection(read_only=read_only, request_timeout_s=timeout_s) as connection:
        return await connection.request(method, path, **options)


def ok() -> web.Response:
    return web.json_response({"ok": True})


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
def test_reading_never_writes(method: Method) -> None:
    member = FakeMember()
    with pytest.raises(WriteWhileReading, match="refused before it was sent"):
        run(asked(member, method, body={"a": 1}))
    assert member.requests == []


@pytest.mark.parametrize("query", [{"dryRun": "all"}, {"dryRun": ""}, {"fieldManager": "dryRun=All"}])
def test_what_is_not_exactly_a_dry_run_is_a_write(query: dict[str, str]) -> None:
    member = FakeMember()
    with pytest.raises(WriteWhileReading):
        run(asked(member, "PATCH", body={}, query=query))
    assert member.requests == []


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
def test_reading_may_ask_for_dry_runs(method: Method) -> None:
    member = FakeMember(answers={(method, "/x"): always(ok)})
    answer = run(asked(member, method, body={}, query={"dryRun": "All"}))
    assert (answer.body, member.requests) == (b'{"ok": true}', [f"{method} /x?dryRun=All"])


@pytest.mark.parametrize(
    ("answers", "want_requests"),
    [
        pytest.param([lambda: status(429, "TooManyRequests"), ok], 2, id="429"),
        pytest.param([lambda: web.Response(status=503), lambda: web.Response(status=502), ok], 3, id="503, 502"),
        pytest.param([lambda: status(500, "InternalError", "etcd leader changed"), ok], 2, id="500"),
    ],
)
def test_what_passes_is_tried_again(answers: list[Callable[[], web.Response]], want_requests: int) -> None:
    member = FakeMember(answers={("GET", "/x"): in_turn(*answers)})
    run(asked(member))
    assert len(member.requests) == want_requests


def test_retry_after_is_obeyed() -> None:
    def later() -> web.Response:
        return web.Response(status=429, headers={"Retry-After": "1"})

    async def timed() -> float:
        loop = asyncio.get_running_loop()
        start = loop.time()
        await asked(FakeMember(answers={("GET", "/x"): in_turn(later, ok)}))
        return loop.time() - start

    assert run(timed()) >= 1.0


def test_a_wait_beyond_the_deadline_is_not_begun() -> None:
    member = FakeMember(
        answers={("GET", "/x"): always(lambda: web.Response(status=429, headers={"Retry-After": "3600"}))}
    )
    with pytest.raises(MemberRefused) as caught:
        run(asked(member))
    assert (caught.value.status, len(member.requests)) == (429, 1)


@pytest.mark.parametrize(
    ("answer", "error", "code"),
    [
        pytest.param(lambda: status(401, "Unauthorized"), MemberRefused, 401, id="401"),
        pytest.param(lambda: status(403, "Forbidden"), MemberRefused, 403, id="403"),
        pytest.param(lambda: status(404, "NotFound"), MemberRefused, 404, id="404"),
        pytest.param(lambda: status(409, "Conflict"), MemberRefused, 409, id="409"),
        pytest.param(lambda: status(410, "Expired"), MemberRefused, 410, id="410"),
        pytest.param(lambda: status(422, "Invalid"), MemberRefused, 422, id="422"),
        pytest.param(lambda: web.Response(status=302, headers={"Location": "/login"}), MemberRefused, 302, id="302"),
        pytest.param(
            lambda: status(500, "", "failed to create typed patch object: .spec.x: field not declared in schema"),
            ManifestRefused,
            500,
            id="the manifest's fault",
        ),
        pytest.param(lambda: status(500, "", "failed to convert x"), ManifestRefused, 500, id="conversion"),
    ],
)
def test_what_does_not_pass_is_tried_once(
    answer: Callable[[], web.Response], error: type[MemberRefused], code: int
) -> None:
    member = FakeMember(answers={("GET", "/x"): always(answer)})
    with pytest.raises(MemberRefused) as caught:
        run(asked(member))
    assert (type(caught.value), caught.value.status, len(member.requests)) == (error, code, 1)


def test_a_refusal_over_plain_http_says_that_no_credential_was_sent() -> None:
    with pytest.raises(MemberRefused) as caught:
        run(asked(FakeMember(answers={("GET", "/x"): always(lambda: status(403, "Forbidden"))})))
    assert caught.value.problem.hint == (
        "no credential was sent, for the server is plain http: use https, as for kubectl"
    )


def test_a_credential_that_was_not_accepted_is_renewed_once() -> None:
    async def renewing() -> tuple[list[str | None], int]:
        tokens = iter(("old", "new"))
        current = [next(tokens)]

        async def authorization() -> str:
            return f"Bearer {current[0]}"

        def renew() -> bool:
            current[0] = next(tokens)
            return True

        async def check(request: web.Request) -> web.StreamResponse:
            return ok() if request.headers["Authorization"] == "Bearer new" else status(401, "Unauthorized")

        async with serving(FakeMember(answers={("GET", "/x"): check})) as member:
            access = Access(server=member.url, authorization=authorization, renew=renew)
            async with Connection("eu", access) as connection:
                answer = await connection.request("GET", "/x")
            return [headers.get("Authorization") for headers in member.headers], answer.status

    assert run(renewing()) == (["Bearer old", "Bearer new"], 200)


@asynccontextmanager
async def tcp_server(serve: Serve) -> AsyncIterator[str]:
    """A bare TCP server: its URL. All its connections are closed at the end."""

    async def noted(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await serve(reader, writer)
        finally:
            writer.close()

    server = await asyncio.start_server(noted, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"


async def asked_tcp(serve: Serve, *, scheme: str = "http") -> None:
    async with tcp_server(serve) as url:
        access = Access(server=url.replace("http", scheme, 1), tls=ssl.create_default_context())
        async with Connection("eu", access, request_timeout_s=0.3) as connection:
            await connection.read("/x", dict[str, Any])


async def hang(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.read()  # until the client gives up


def sending(text: bytes, then: Serve | None = None) -> Serve:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(text)
        await writer.drain()
        if then is not None:
            await then(reader, writer)

    return serve


@pytest.mark.parametrize(
    ("serve", "what"),
    [
        pytest.param(hang, "no answer within 0.3 s", id="accepts and says nothing"),
        pytest.param(
            sending(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{", hang),
            "no answer within 0.3 s",
            id="half a body",
        ),
        pytest.param(sending(b"HTTP/1.1 200 OK\r\nCont", hang), "no answer within 0.3 s", id="half a header"),
        pytest.param(
            sending(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"),
            "the connection broke off",
            id="closes in the body",
        ),
        pytest.param(sending(b""), "the connection broke off", id="closes at once"),
        pytest.param(sending(b"SSH-2.0-OpenSSH_9.6\r\n\r\n"), "the answer is no HTTP", id="not HTTP"),
        pytest.param(
            sending(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n{nope"),
            "the answer is not what an API server sends",
            id="broken JSON",
        ),
        pytest.param(
            sending(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]"),
            "the answer is not what an API server sends",
            id="other JSON",
        ),
    ],
)
def test_faults_on_the_way(serve: Serve, what: str) -> None:
    with pytest.raises((MemberUnreachable, MemberRefused)) as caught:
        run(asked_tcp(serve))
    assert caught.value.problem.what == what


def test_nobody_listens() -> None:
    async def refused() -> None:
        async with tcp_server(hang) as url:
            pass
        async with Connection("eu", Access(server=url)) as connection:
            await connection.request("GET", "/x")

    with pytest.raises(MemberUnreachable) as caught:
        run(refused())
    problem = caught.value.problem
    assert (problem.member, problem.what, problem.why.partition(": ")[2]) == (
        "eu",
        "no connection",
        "Connection refused",
    )


def test_tls_where_there_is_none() -> None:
    with pytest.raises(MemberUnreachable) as caught:
        run(asked_tcp(sending(b"HTTP/1.1 400 Bad Request\r\n\r\n"), scheme="https"))
    assert caught.value.problem.what in ("TLS: no secure connection", "no answer within 0.3 s")


def test_a_slow_answer_in_time_is_an_answer() -> None:
    async def slow(request: web.Request) -> web.StreamResponse:
        await asyncio.sleep(0.1)
        return ok()

    assert run(asked(FakeMember(answers={("GET", "/x"): slow}))).status == 200


def transport_errors() -> list[type[aiohttp.ClientError]]:
    """Every error that aiohttp's client has."""

    def below(kind: type[aiohttp.ClientError]) -> list[type[aiohttp.ClientError]]:
        return [kind, *(found for one in kind.__subclasses__() for found in below(one))]

    return sorted(set(below(aiohttp.ClientError)), key=lambda kind: kind.__name__)


def made(kind: type[aiohttp.ClientError]) -> Exception:
    """An error of this kind, with what its messages look at."""
    error = kind.__new__(kind)
    error.__dict__.update(
        {
            "_os_error": OSError(111, "Connection refused"),
            "_certificate_error": ssl.CertificateError("self-signed certificate"),
        }
    )
    return error


@pytest.mark.parametrize("kind", transport_errors(), ids=lambda kind: kind.__name__)
def test_every_transport_error_has_words(kind: type[aiohttp.ClientError]) -> None:
    problem = translated(made(kind), member="eu", about="x", access=ACCESS).problem
    assert all((problem.what, problem.why, problem.hint))
    assert problem.member == "eu"


@pytest.mark.parametrize(
    ("kind", "silent"),
    [
        pytest.param(aiohttp.ClientConnectorError, True, id="nobody listens"),
        pytest.param(aiohttp.ConnectionTimeoutError, True, id="packets vanish"),
        pytest.param(aiohttp.ServerDisconnectedError, True, id="it closes"),
        pytest.param(aiohttp.ClientConnectorCertificateError, False, id="somebody answers, with another certificate"),
        pytest.param(aiohttp.ClientConnectorSSLError, False, id="somebody answers, without TLS"),
        pytest.param(aiohttp.ClientConnectorDNSError, False, id="nobody was asked: no such name"),
        pytest.param(aiohttp.ClientProxyConnectionError, False, id="nobody was asked: the proxy is gone"),
        pytest.param(aiohttp.ClientHttpProxyError, False, id="nobody was asked: the proxy does not want to"),
    ],
)
def test_whether_a_member_is_silent(kind: type[aiohttp.ClientError], silent: bool) -> None:
    assert isinstance(translated(made(kind), member="eu", about="x", access=ACCESS), MemberSilent) == silent


@pytest.mark.parametrize(("method", "once", "want"), [("GET", False, 2), ("PATCH", False, 2), ("PATCH", True, 1)])
def test_a_connection_that_broke_off_is_made_anew_once(method: Method, once: bool, want: int) -> None:
    requests = []

    async def closing(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        requests.append(await reader.readuntil(b"\r\n\r\n"))

    async def asking() -> None:
        async with tcp_server(closing) as url, Connection("eu", Access(server=url), read_only=False) as connection:
            await connection.request(method, "/x", once=once)

    with pytest.raises(MemberUnreachable, match="broke off"):
        run(asking())
    assert len(requests) == want


def test_requests_that_wait_for_a_connection_do_not_run_out_of_time() -> None:
    async def slow(request: web.Request) -> web.StreamResponse:
        await asyncio.sleep(0.05)
        return ok()

    async def many() -> list[int]:
        member = FakeMember(answers={("GET", "/x"): slow})
        async with serving(member), member.connection(request_timeout_s=0.3) as connection:
            answers = await asyncio.gather(*(connection.request("GET", "/x") for _ in range(100)))
        return [answer.status for answer in answers]

    assert run(many()) == [200] * 100


async def _hang(_request: web.Request) -> web.StreamResponse:
    await asyncio.sleep(10)
    return ok()


async def _drop(request: web.Request) -> web.StreamResponse:
    assert request.transport is not None
    request.transport.abort()
    return ok()


@pytest.mark.parametrize(
    ("answer", "want"),
    [
        pytest.param(always(lambda: status(404, "NotFound")), {}, id="what is not there is no failure"),
        pytest.param(always(lambda: status(409, "Conflict")), {}, id="nor is a conflict"),
        pytest.param(always(lambda: status(401, "Unauthorized")), {"401": 1}, id="401"),
        pytest.param(in_turn(lambda: status(429), lambda: status(429), ok), {"429": 2}, id="each attempt counts"),
        pytest.param(always(lambda: status(418)), {"4xx": 1}, id="a status that is seldom"),
        pytest.param(always(lambda: web.Response(status=599)), {"5xx": 1}, id="a status that is nobody's"),
        pytest.param(always(lambda: web.Response(status=302)), {"other": 1}, id="a redirect"),
        pytest.param(always(lambda: web.Response(text="<html>")), {"garbled": 1}, id="no JSON"),
        pytest.param(_hang, {"timeout": 1}, id="no answer"),
        pytest.param(_drop, {"unreachable": 1}, id="no connection"),
    ],
)
def test_requests_that_fail_are_counted(answer: Answerer, want: dict[str, int]) -> None:
    async def asking() -> Counter[str]:
        member = FakeMember(answers={("GET", "/x"): answer})
        async with serving(member), member.connection(request_timeout_s=2) as connection:
            with contextlib.suppress(MemberError):
                await connection.read("/x", dict[str, Any])
            return connection.failures

    counted = run(asking())
    assert counted == want
    assert counted.keys() <= set(FAILURES)


@pytest.mark.parametrize(
    ("date", "want"),
    [
        pytest.param("Fri, 02 Jan 2026 03:04:05 GMT", 1767323045.0, id="as it says"),
        pytest.param("yesterday", None, id="nobody can read it"),
        pytest.param("", None, id="it says nothing"),
    ],
)
def test_a_member_has_a_clock_of_its_own(date: str, want: float | None) -> None:
    async def asking() -> float:
        answer = always(lambda: web.json_response({}, headers={"Date": date}))
        async with serving(FakeMember(answers={("GET", "/x"): answer})) as member, member.connection() as connection:
            await connection.read("/x", dict[str, Any])
            return connection.now()

    before = time.time() if want is None else want
    assert before <= run(asking()) < before + 20, "the answer's time, and what has passed since"
