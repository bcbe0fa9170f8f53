"""How much memory a TLS connection costs the daemon, which holds one for each watch of each member."""

from __future__ import annotations

from asyncio.sslproto import SSLProtocol

BUFFER_BYTES = 2**15
"""Two TLS records (RFC 8446, 5.1), the unit in which bytes become readable: a larger buffer makes nothing faster."""


def make_tls_buffers_small() -> None:
    """Have connections that this process opens from now on read by small pieces.

    asyncio gives each of them 256 KiB for as long as it stands: 200 members with ten types would cost half a GiB.
    There is no argument for it, only this attribute of a class that all of them share.
    """
    SSLProtocol.max_size = BUFFER_BYTES
