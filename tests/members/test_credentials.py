"""From a context to Access: whom to trust, and who asks."""

from __future__ import annotations

import base64
import json
import ssl
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from kadm.errors import MemberUnreachable
from kadm.members.connection import Access, Connection
from kadm.members.credentials import Credentials
from kadm.members.kubeconfig import Context, Kubeconfigs
from kadm.sandbox.certificates import Authority, Certificate
from tests.members.fake_member import always, b64, run

AUTHORITY = Authority("test", datetime.now(UTC))
SERVED = AUTHORITY.serve("127.0.0.1")


def a_context(tmp_path: Path, user: dict[str, Any] | None = None, **cluster: Any) -> Context:
    return Context("eu", tmp_path / "config", {"server": "https://eu", **cluster}, user or {})


async def access(tmp_path: Path, context: Context, **environ: str) -> Access:
    credentials = Credentials(Kubeconfigs(str(tmp_path), environ), environ)
    return await credentials.access_by(context, "eu", timeout_s=5)


def who(tmp_path: Path, user: dict[str, Any], server: str = "https://eu") -> str | None:
    """The Authorization header for a user."""

    async def asked() -> str | None:
        found = await access(tmp_path, a_context(tmp_path, user, server=server))
        return await found.authorization() if found.authorization else None

    return run(asked())


def id_token(expires: float) -> str:
    """A JSON Web Token with this end."""
    claims = base64.urlsafe_b64encode(json.dumps({"exp": expires}).encode()).decode().rstrip("=")
    return f"e30.{claims}.signature"


ID_TOKEN = id_token(time.time() + 3600)


@pytest.mark.parametrize(
    ("user", "want"),
    [
        pytest.param({}, None, id="nobody"),
        pytest.param({"token": "t"}, "Bearer t", id="token"),
        pytest.param({"token": 123}, "Bearer 123", id="a token that YAML reads as a number"),
        pytest.param({"username": "u", "password": "p"}, f"Basic {b64('u:p')}", id="basic"),
        pytest.param({"token": "t", "username": "u", "password": "p"}, "Bearer t", id="token before basic"),
        pytest.param({"token": "t", "exec": {"command": "/nonexistent"}}, "Bearer t", id="token before plugin"),
        pytest.param(
            {"auth-provider": {"name": "oidc", "config": {"id-token": ID_TOKEN}}}, f"Bearer {ID_TOKEN}", id="OpenID"
        ),
    ],
)
def test_authorization(tmp_path: Path, user: dict[str, Any], want: str | None) -> None:
    assert who(tmp_path, user) == want


def test_a_token_file_is_read_without_its_newline(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("rotated\n")
    assert who(tmp_path, {"tokenFile": str(tmp_path / "token"), "token": "stale"}) == "Bearer rotated"


def test_a_token_file_is_read_again_when_its_token_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text("first")

    async def asked() -> list[str | bool | None]:
        found = await access(tmp_path, a_context(tmp_path, {"tokenFile": str(file)}))
        assert found.authorization is not None
        before = [await found.authorization(), found.renew()]
        file.write_text("rotated")
        return [*before, await found.authorization(), found.renew(), await found.authorization()]

    assert run(asked()) == ["Bearer first", False, "Bearer first", True, "Bearer rotated"]


def test_no_credential_goes_over_plain_http(tmp_path: Path) -> None:
    """As kubectl: not even the plugin runs."""
    plugin = {"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": "/nonexistent"}}
    assert [who(tmp_path, user, server="http://eu") for user in ({"token": "t"}, plugin)] == [None, None]


def test_user_info_in_the_server_becomes_a_header(tmp_path: Path) -> None:
    async def asked() -> tuple[str, str | None]:
        found = await access(tmp_path, a_context(tmp_path, server="https://u:p@eu:6443/k8s/clusters/c-1/"))
        assert found.authorization is not None
        return found.server, await found.authorization()

    assert run(asked()) == ("https://eu:6443/k8s/clusters/c-1", f"Basic {b64('u:p')}")


@pytest.mark.parametrize(
    ("cluster", "server"),
    [
        pytest.param({"server": "eu:6443"}, "http://eu:6443", id="no scheme"),
        pytest.param(
            {"server": "eu:6443", "tls-server-name": "kubernetes"}, "https://eu:6443", id="no scheme, but TLS"
        ),
        pytest.param({"server": "https://[::1]:6443/"}, "https://[::1]:6443", id="IPv6"),
    ],
)
def test_server(tmp_path: Path, cluster: dict[str, Any], server: str) -> None:
    assert run(access(tmp_path, a_context(tmp_path, **cluster))).server == server


def test_impersonation(tmp_path: Path) -> None:
    user = {"as": "ci", "as-uid": "7", "as-groups": ["a", "b"], "as-user-extra": {"reason/why": ["test"]}}
    assert run(access(tmp_path, a_context(tmp_path, user))).headers == (
        ("Impersonate-User", "ci"),
        ("Impersonate-Uid", "7"),
        ("Impersonate-Group", "a"),
        ("Impersonate-Group", "b"),
        ("Impersonate-Extra-reason%2Fwhy", "test"),
    )


@pytest.mark.parametrize(
    ("user", "cluster", "why"),
    [
        pytest.param({}, {"server": ""}, "its cluster names no server", id="no server"),
        pytest.param({}, {"server": "ftp://eu"}, "its server is not an http or https URL", id="scheme"),
        pytest.param({}, {"server": "https://eu:port"}, "its server has no valid port", id="port"),
        pytest.param({}, {"proxy-url": "socks5://p:1080"}, "its proxy speaks socks5", id="socks"),
        pytest.param(
            {"auth-provider": {"name": "gcp"}}, {}, "auth-provider gcp was removed from Kubernetes in 1.26", id="gcp"
        ),
        pytest.param(
            {"auth-provider": {"name": "oidc", "config": {"id-token": id_token(0)}}},
            {},
            "its OpenID token has expired",
            id="OpenID, expired",
        ),
        pytest.param(
            {"auth-provider": {"name": "oidc", "config": None}}, {}, "its OpenID token has expired", id="OpenID, none"
        ),
        pytest.param(
            {},
            {"certificate-authority": "/nowhere"},
            "its certificate-authority /nowhere cannot be read: No such file or directory",
            id="missing file",
        ),
        pytest.param(
            {}, {"certificate-authority-data": "%"}, "its certificate-authority-data is not base64", id="base64"
        ),
        pytest.param(
            {},
            {"certificate-authority-data": b64("secret")},
            "a certificate or key in it is no PEM, or they do not match",
            id="no PEM",
        ),
        pytest.param(
            {
                "client-certificate-data": b64(SERVED.certificate),
                "client-key-data": b64(AUTHORITY.serve("127.0.0.1").key),
            },
            {},
            "a certificate or key in it is no PEM, or they do not match",
            id="another certificate's key",
        ),
    ],
)
def test_unusable(tmp_path: Path, user: dict[str, Any], cluster: dict[str, Any], why: str) -> None:
    with pytest.raises(MemberUnreachable) as caught:
        run(access(tmp_path, a_context(tmp_path, user, **cluster)))
    assert (caught.value.problem.object, caught.value.problem.why) == (f"context eu of {tmp_path / 'config'}", why)


@asynccontextmanager
async def tls_server(certificate: Certificate, tmp_path: Path) -> AsyncIterator[str]:
    """An HTTPS server that greets: its URL."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    file = tmp_path / "server.pem"
    file.write_text(certificate.certificate + certificate.key)
    context.load_cert_chain(file)
    app = web.Application()
    app.router.add_get("/x", always(lambda: web.json_response({"host": "eu"})))
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context).start()
        yield f"https://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


async def greeted(tmp_path: Path, user: dict[str, Any], **cluster: Any) -> bool:
    async with tls_server(SERVED, tmp_path) as url:
        found = await access(tmp_path, a_context(tmp_path, user, server=url, **cluster))
        async with Connection("eu", found, request_timeout_s=5) as connection:
            return "host" in await connection.read("/x", dict[str, Any])


@pytest.mark.parametrize(
    "cluster",
    [
        pytest.param({"certificate-authority-data": b64(AUTHORITY.certificate)}, id="its authority is trusted"),
        pytest.param({"insecure-skip-tls-verify": True}, id="nothing is checked"),
    ],
)
def test_a_trusted_server(tmp_path: Path, cluster: dict[str, Any]) -> None:
    certificate = {"client-certificate-data": b64(SERVED.certificate), "client-key-data": b64(SERVED.key)}
    assert run(greeted(tmp_path, certificate, **cluster))


@pytest.mark.parametrize(
    "cluster",
    [
        pytest.param({}, id="nobody's authority"),
        pytest.param(
            {"certificate-authority-data": b64(Authority("other", datetime.now(UTC)).certificate)},
            id="another authority",
        ),
        pytest.param(
            {"certificate-authority-data": b64(AUTHORITY.certificate), "tls-server-name": "kubernetes"},
            id="another name",
        ),
    ],
)
def test_an_untrusted_server(tmp_path: Path, cluster: dict[str, Any]) -> None:
    with pytest.raises(MemberUnreachable) as caught:
        run(greeted(tmp_path, {}, **cluster))
    assert caught.value.problem.what == "TLS: the member's certificate is not trusted"


def test_no_key_stays_in_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    certificate = {"client-certificate-data": b64(SERVED.certificate), "client-key-data": b64(SERVED.key)}
    run(access(tmp_path, a_context(tmp_path, certificate)))
    assert list(temporary.iterdir()) == []


@pytest.mark.parametrize(
    "user",
    [
        pytest.param({"token": "abc\n"}, id="a token"),
        pytest.param({"token": "a\x7fb"}, id="a control character"),
        pytest.param({"as": "root\r\nX: y"}, id="whom it acts as"),
    ],
)
def test_a_line_break_in_a_credential_is_that_member_s_fault_alone(tmp_path: Path, user: dict[str, Any]) -> None:
    async def asked() -> None:
        async with Connection("eu", await access(tmp_path, a_context(tmp_path, user))) as connection:
            await connection.request("GET", "/version")

    with pytest.raises(MemberUnreachable) as told:
        run(asked())
    problem = told.value.problem
    assert (problem.member, "a line break, or another control character" in problem.why) == ("eu", True)
