"""Calls to a webhook that runs as a process of its own: what is sent, and every way in which no answer comes."""

from __future__ import annotations

import asyncio
import base64
import json
import ssl
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from kadm.model.webhook import WebhookCall, WebhookReply
from kadm.sandbox.certificates import Authority
from kadm.webhooks import WebhookClient
from tests.webhooks.running import a_webhook, hook_server, seen

MEMBER = b'{"cluster": {"metadata": {"name": "m2"}}}'
YES = {"selected": True, "score": 2}


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    with hook_server(tmp_path_factory.mktemp("hook")) as number:
        yield number


def called(url_prefix: str, path: str = "filter", *, times: int = 1, **spec: Any) -> list[WebhookReply]:
    with WebhookClient({"hook": a_webhook("hook", url_prefix, **spec)}, environ={}) as client:
        assert client.fault("hook") == ""
        return list(client.call_many([WebhookCall(hook="hook", path=path, body=MEMBER)] * times))


def test_a_call(port: int) -> None:
    (reply,) = called(f"http://127.0.0.1:{port}/even/", "/filter")
    assert (reply.status, json.loads(reply.body), reply.failure) == (200, YES, "")
    last = seen(port)["last"]
    names = ("Content-Type", "Accept", "Accept-Encoding", "User-Agent")
    assert (last["path"], last["body"].encode(), {name: last["headers"].get(name) for name in names}) == (
        "/even/filter",
        MEMBER,
        {
            "Content-Type": "application/json",
            "Accept": "application/json",
            "Accept-Encoding": "identity",
            "User-Agent": "kubeadmiral-scheduler",
        },
    )


def test_calls_run_side_by_side_and_wait_for_their_turn_for_free(port: int) -> None:
    """150 calls of 0.2 s each take no 30 s; the last ones wait longer for their turn than they may take."""
    began = time.monotonic()
    replies = called(f"http://127.0.0.1:{port}/slow", times=150, httpTimeout="2s")
    assert {reply.status for reply in replies} == {200}
    assert time.monotonic() - began < 10
    assert seen(port)["most"] > 20


def test_answers_stand_in_the_order_of_calls(port: int) -> None:
    bodies = [json.dumps({"cluster": {"metadata": {"name": f"m{number}"}}}).encode() for number in range(10)]
    with WebhookClient({"hook": a_webhook("hook", f"http://127.0.0.1:{port}/even")}, environ={}) as client:
        for _ in range(2):  # connections are used again
            replies = client.call_many([WebhookCall(hook="hook", path="score", body=body) for body in bodies])
            assert [json.loads(reply.body)["score"] for reply in replies] == list(range(10))


@pytest.mark.parametrize(
    ("behaviour", "want"),
    [
        pytest.param("error", WebhookReply(status=500, body=b"out of order"), id="500"),
        pytest.param("created", WebhookReply(status=201, body=b'{"selected": true}'), id="201"),
        pytest.param("moved", WebhookReply(status=200, body=json.dumps(YES).encode()), id="a kept POST"),
        pytest.param("found", WebhookReply(status=405, body=b"a GET"), id="a GET of it"),
        pytest.param("loop", WebhookReply(failure="http://HOST/loop/filter redirects more than 10 times"), id="a loop"),
        pytest.param(
            "stall",
            WebhookReply(failure="no answer from http://HOST/stall/filter within 0.3 s"),
            id="no answer in time",
        ),
        pytest.param(
            "drip", WebhookReply(failure="no answer from http://HOST/drip/filter within 0.3 s"), id="an endless answer"
        ),
        pytest.param("huge", WebhookReply(failure="its answer is larger than 1048576 bytes"), id="a huge answer"),
        pytest.param(
            "close",
            WebhookReply(failure="no answer from http://HOST/close/filter: Server disconnected"),
            id="a connection that breaks off",
        ),
    ],
)
def test_odd_answers(port: int, behaviour: str, want: WebhookReply) -> None:
    host = f"127.0.0.1:{port}"
    (reply,) = called(f"http://{host}/{behaviour}", httpTimeout="5s" if behaviour == "huge" else "300ms")
    assert reply == WebhookReply(status=want.status, body=want.body, failure=want.failure.replace("HOST", host))


def test_nobody_listens() -> None:
    (reply,) = called("http://user:secret@127.0.0.1:1/")
    assert reply.failure.startswith("no answer from http://127.0.0.1:1/filter: ")
    assert "secret" not in reply.failure


def test_leaving_does_not_wait_for_answers(port: int) -> None:
    with ThreadPoolExecutor(1) as other:
        with WebhookClient({"hook": a_webhook("hook", f"http://127.0.0.1:{port}/stall")}, environ={}) as client:
            before = seen(port)["count"]
            asked = other.submit(client.call_many, [WebhookCall(hook="hook", path="filter", body=MEMBER)])
            while seen(port)["count"] == before:
                time.sleep(0.01)
            began = time.monotonic()
        assert time.monotonic() - began < 2
        with pytest.raises(asyncio.CancelledError):
            asked.result()


def test_a_client_that_calls_nothing_starts_nothing() -> None:
    with WebhookClient({}) as client:
        assert client.fault("hook") == ""


AUTHORITY = Authority("tests", datetime.now(UTC))
CLIENT = Path(__file__).parent / "testdata"
"""A client's certificate for a hundred years, its key and its authority, made with openssl; good for nothing else."""
OTHERS = Authority("others", datetime.now(UTC))


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


@pytest.fixture(scope="module")
def tls_port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    directory = tmp_path_factory.mktemp("tls")
    issued = AUTHORITY.serve("hook.example")
    (directory / "server.pem").write_text(issued.certificate + issued.key)
    with hook_server(directory, directory / "server.pem") as number:
        yield number


@pytest.mark.parametrize(
    ("tls", "answered"),
    [
        pytest.param({"caData": encoded(AUTHORITY.certificate), "serverName": "hook.example"}, True, id="trusted"),
        pytest.param({"insecure": True}, True, id="insecure"),
        pytest.param({"caData": encoded(AUTHORITY.certificate)}, False, id="the certificate is for another name"),
        pytest.param(
            {"caData": encoded(OTHERS.certificate), "serverName": "hook.example"}, False, id="another authority"
        ),
        pytest.param({"serverName": "hook.example"}, False, id="the system does not know the authority"),
        pytest.param(None, False, id="no configuration at all"),
    ],
)
def test_tls(tls_port: int, tls: dict[str, Any] | None, answered: bool) -> None:
    (reply,) = called(f"https://127.0.0.1:{tls_port}/even", tlsConfig=tls)
    assert (reply.status == 200, "certificate" in reply.failure) == (answered, not answered)


def test_a_client_certificate(tmp_path: Path) -> None:
    issued = AUTHORITY.serve("hook.example")
    (tmp_path / "server.pem").write_text(issued.certificate + issued.key)
    trusting = {"caData": encoded(AUTHORITY.certificate), "serverName": "hook.example"}
    certificate, key = ((CLIENT / name).read_text() for name in ("client.pem", "client.key"))
    having = {**trusting, "certData": encoded(certificate), "keyData": encoded(key)}
    with hook_server(tmp_path, tmp_path / "server.pem", CLIENT / "client-ca.pem") as number:
        url = f"https://127.0.0.1:{number}/even"
        assert [called(url, tlsConfig=tls)[0].status for tls in (having, trusting)] == [200, 0]


def test_plain_http_where_tls_is_spoken(tls_port: int) -> None:
    (reply,) = called(f"http://127.0.0.1:{tls_port}/even")
    assert reply.failure


@pytest.mark.parametrize(
    ("spec", "fault"),
    [
        pytest.param(
            {"tlsConfig": {"caData": encoded("-----BEGIN CERTIFICATE-----\nx")}},
            "tlsConfig.caData is no certificate in PEM",
            id="broken authority",
        ),
        pytest.param(
            {"tlsConfig": {"certData": encoded(AUTHORITY.certificate), "keyData": encoded(OTHERS.serve("a").key)}},
            "tlsConfig.certData and keyData are no certificate and its key in PEM, without passphrase",
            id="not its key",
        ),
        pytest.param({"payloadVersions": ["v2"]}, "payloadVersions must hold v1alpha1, it holds v2", id="version"),
    ],
)
def test_faults(spec: dict[str, Any], fault: str) -> None:
    with WebhookClient({"hook": a_webhook("hook", "https://h", **spec)}) as client:
        assert client.fault("hook") == fault


def test_at_least_tls_1_2() -> None:
    from kadm.webhooks.tls import tls_context

    assert tls_context(None).minimum_version == ssl.TLSVersion.TLSv1_2
