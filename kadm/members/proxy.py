"""The HTTP proxy for a server, by the environment variables and rules that kubectl (Go) follows.

aiohttp's own reading of the environment is not used: it ignores networks in NO_PROXY, and takes credentials from
~/.netrc.
"""

from __future__ import annotations

from collections.abc import Mapping
from ipaddress import ip_address, ip_network
from urllib.parse import urlsplit


def proxy_for(server: str, environ: Mapping[str, str]) -> str | None:
    """The URL of the proxy for ``server``, or None for none. Source: Go's golang.org/x/net/http/httpproxy."""
    parts = urlsplit(server)
    host, port = (parts.hostname or "").lower(), parts.port or (443 if parts.scheme == "https" else 80)
    proxy = _variable(environ, "HTTPS_PROXY" if parts.scheme == "https" else "HTTP_PROXY")
    if not proxy or host == "localhost" or _is_loopback(host):
        return None
    if any(_exempts(entry.strip().lower(), host, port) for entry in _variable(environ, "NO_PROXY").split(",")):
        return None
    return proxy if "://" in proxy else f"http://{proxy}"


def _variable(environ: Mapping[str, str], name: str) -> str:
    return environ.get(name) or environ.get(name.lower()) or ""


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _exempts(entry: str, host: str, port: int) -> bool:
    """Whether one entry of NO_PROXY names this host: an address, a network, or a domain with all that is below it."""
    if not entry:
        return False
    if entry == "*":
        return True
    try:
        network = ip_network(entry, strict=False)
    except ValueError:
        network = None
    if network is not None:
        try:
            return ip_address(host) in network
        except ValueError:
            return False
    name, colon, only_port = entry.rpartition(":")
    if colon and only_port.isdigit():
        if int(only_port) != port:
            return False
        entry = name
    if entry.startswith("*."):
        entry = entry[1:]
    return host.endswith(entry) if entry.startswith(".") else host == entry or host.endswith(f".{entry}")
