"""What a connection costs: the daemon holds thousands of them."""

from __future__ import annotations

import asyncio
import ssl
import tempfile
import tracemalloc
from asyncio.sslproto import SSLProtocol
from datetime import UTC, datetime
from pathlib import Path

import pytest

from kadm.sandbox.certificates import Authority
from kadm.watch.tls_buffers import make_tls_buffers_small

CONNECTIONS = 20
LONG = b"x" * 2**20


@pytest.fixture
def _as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """The class is everybody's: what is changed in it is changed back."""
    monkeypatch.setattr(SSLProtocol, "max_size", SSLProtocol.max_size)


def contexts() -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """For a server, and for a client that trusts it."""
    authority = Authority("tests", datetime.now(UTC))
    served = authority.serve("127.0.0.1")
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory, "pem")
        file.write_text(served.certificate + served.key)
        server.load_cert_chain(file)
    return server, ssl.create_default_context(cadata=authority.certificate)


async def held_bytes() -> int:
    """What so many open connections hold, both ends, each of which has carried something long."""
    server_side, client_side = contexts()

    async def answer(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(LONG)
        await writer.drain()

    server = await asyncio.start_server(answer, "127.0.0.1", 0, ssl=server_side)
    port = server.sockets[0].getsockname()[1]
    tracemalloc.start()
    opened = [await asyncio.open_connection("127.0.0.1", port, ssl=client_side) for _ in range(CONNECTIONS)]
    for reader, _ in opened:
        assert await reader.readexactly(len(LONG)) == LONG
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    for _, writer in opened:
        writer.close()
        await writer.wait_closed()
    server.close()
    await server.wait_closed()
    return held


@pytest.mark.usefixtures("_as_before")
def test_a_connection_costs_a_fraction_of_what_it_did() -> None:
    before = asyncio.run(held_bytes())
    make_tls_buffers_small()
    assert asyncio.run(held_bytes()) < before / 3
