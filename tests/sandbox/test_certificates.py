"""Certificates that TLS accepts, strictly, and only for the names they are for."""

from __future__ import annotations

import ssl
from datetime import UTC, datetime
from pathlib import Path

import pytest

from kadm.sandbox.certificates import Authority, Certificate


def handshake(authority: Authority, issued: Certificate, name: str, tmp_path: Path) -> str:
    """The TLS version that client and server agree on, in memory. Raises ssl.SSLError when they do not."""
    chain = tmp_path / "server.pem"
    chain.write_text(issued.certificate + issued.key, encoding="ascii")
    server_context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server_context.load_cert_chain(chain)
    client_context = ssl.create_default_context(cadata=authority.certificate)
    client_context.verify_flags |= ssl.VERIFY_X509_STRICT
    upstream, downstream = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = client_context.wrap_bio(downstream, upstream, server_hostname=name)
    server = server_context.wrap_bio(upstream, downstream, server_side=True)
    for _ in range(4):
        for side in (client, server):
            try:
                side.do_handshake()
            except ssl.SSLWantReadError:
                continue
    return client.version() or ""


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost"])
def test_accepted(name: str, tmp_path: Path) -> None:
    authority = Authority("test", datetime.now(UTC))
    assert handshake(authority, authority.serve("127.0.0.1", "localhost"), name, tmp_path) == "TLSv1.3"


def test_refused_for_another_name(tmp_path: Path) -> None:
    authority = Authority("test", datetime.now(UTC))
    with pytest.raises(ssl.SSLCertVerificationError, match="Hostname mismatch"):
        handshake(authority, authority.serve("127.0.0.1", "localhost"), "example.com", tmp_path)


def test_refused_from_another_authority(tmp_path: Path) -> None:
    now = datetime.now(UTC)
    with pytest.raises(ssl.SSLCertVerificationError):
        handshake(Authority("test", now), Authority("test", now).serve("localhost"), "localhost", tmp_path)
