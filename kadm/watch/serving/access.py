"""Who may ask the daemon: where it listens, the token, and what keeps other web sites out.

Beyond loopback a token is required: whoever can reach the port could read the fleet otherwise. On loopback a browser is
the danger: a web site can point a name of its own at 127.0.0.1 (DNS rebinding), and then read what is served there.
So without a token only requests to a name of this machine are answered; with one, the token decides, for a site that
rebinds a name does not know it. Requests that a browser sends on behalf of another site are refused in any case.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import os
import stat
from pathlib import Path

from msgspec import Struct

from kadm.errors import UsageError

DEFAULT_LISTEN = "127.0.0.1:5236"
"""5236 spells kadm on a telephone."""

SHORTEST_TOKEN = 16
LONGEST_TOKEN_FILE = 4096

_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_SAME_SITE = ("same-origin", "none")
"""``Sec-Fetch-Site`` of what a page of ours asks for, and of what a person typed. Source: W3C Fetch Metadata."""


class Listening(Struct, frozen=True, kw_only=True):
    """Where the daemon listens. Port 0 takes a free one. ``token_file`` None: nobody is asked for a token.

    ``hook_file`` holds the secret that a git server's webhook shows; None: there is no webhook.
    """

    host: str
    port: int
    token_file: Path | None = None
    hook_file: Path | None = None

    @property
    def loopback(self) -> bool:
        return is_loopback(self.host)


def listening(
    text: str = DEFAULT_LISTEN, *, token_file: Path | None = None, hook_file: Path | None = None
) -> Listening:
    """``HOST:PORT`` (``[::1]:PORT`` for IPv6). Raises UsageError where it is not that, or a token is missing."""
    host, colon, port = text.rpartition(":")
    bare = host[1:-1] if host.startswith("[") and host.endswith("]") else host
    if not colon or not bare or not port.isdecimal() or int(port) > 65535 or (":" in bare and bare == host):
        raise UsageError(f"--listen {text} is not HOST:PORT", hint=f"for example {DEFAULT_LISTEN}, or [::1]:5236")
    found = Listening(host=bare, port=int(port), token_file=token_file, hook_file=hook_file)
    if not found.loopback and token_file is None:
        raise UsageError(
            f"--listen {text} is reachable from other machines, and asks nobody for a token",
            hint="--token-file FILE names one; without it, listen on 127.0.0.1",
        )
    return found


def read_token(path: Path, what: str = "token") -> str:
    """The token (or ``what`` it is called) in a file that nobody else may read. Raises UsageError where that does not
    hold."""
    try:
        with open(path, "rb", opener=_without_waiting) as file:
            about = os.fstat(file.fileno())
            content = file.read(LONGEST_TOKEN_FILE + 1) if stat.S_ISREG(about.st_mode) else b""
    except OSError as error:
        raise UsageError(f"the {what} file {path} cannot be read", why=error.strerror or "") from error
    if not stat.S_ISREG(about.st_mode):
        raise UsageError(f"the {what} file {path} is no regular file")
    if about.st_uid not in (0, os.geteuid()):
        raise UsageError(f"the {what} file {path} belongs to somebody else", hint="chown it to the user that runs kadm")
    if about.st_mode & _OTHERS:
        mode = stat.S_IMODE(about.st_mode)
        raise UsageError(f"the {what} file {path} is open to others: its mode is {mode:04o}", hint=f"chmod 600 {path}")
    try:
        token = content.decode("ascii").strip()
    except UnicodeDecodeError as error:
        raise UsageError(f"the {what} file {path} holds more than ASCII") from error
    if not SHORTEST_TOKEN <= len(token) <= LONGEST_TOKEN_FILE or not token.isprintable() or " " in token:
        raise UsageError(
            f"the {what} in {path} is not one word of at least {SHORTEST_TOKEN} characters",
            hint=f"openssl rand -hex 32 > {path}",
        )
    return token


class Door:
    """Decides over requests. ``token`` None: whoever reaches a name of this machine may come in."""

    def __init__(self, token: str | None) -> None:
        self._digest = None if token is None else _digest(token)

    @property
    def wants_token(self) -> bool:
        return self._digest is not None

    def knows(self, authorization: str | None) -> bool:
        """Whether an ``Authorization`` header brings the token; takes the same time whatever is in it."""
        if self._digest is None:
            return True
        scheme, _, given = (authorization or "").partition(" ")
        return hmac.compare_digest(_digest(given.strip()), self._digest) and scheme.lower() == "bearer"

    def refuses(self, *, host: str | None, origin: str | None, site: str | None) -> str:
        """Why a request is not even looked at, in words; empty: it is.

        ``host``, ``origin`` and ``site`` are the headers Host, Origin and Sec-Fetch-Site.
        """
        name = host_name(host or "")
        if not name:
            return "it names no host"
        if self._digest is None and not is_loopback(name):
            return "it is addressed to a name that is not this machine's own"
        if origin is not None and origin.partition("://")[2].lower() != (host or "").lower():
            return "it comes from another web site"
        if site is not None and site not in _SAME_SITE:
            return "it comes from another web site"
        return ""


def host_name(host: str) -> str:
    """The name in a Host header, without port and brackets; empty where it is malformed."""
    name, colon, port = host.strip().lower().rpartition(":")
    if not colon or not (port.isdecimal() or not port):
        name = host.strip().lower()
    if name.startswith("[") and name.endswith("]"):
        return name[1:-1]
    return "" if ":" in name or "/" in name or "@" in name else name.removesuffix(".")


def is_loopback(host: str) -> bool:
    """Whether a host, as name or address, can only be this machine."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _without_waiting(path: str, flags: int) -> int:
    """Opening a named pipe waits for whoever writes into it, and with it would the daemon."""
    return os.open(path, flags | os.O_NONBLOCK)


def _digest(text: str) -> bytes:
    """Comparing digests hides the length, too."""
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).digest()
