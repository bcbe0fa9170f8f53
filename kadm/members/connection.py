"""One member's connection: every byte that kadm sends to a member goes through ``Connection.request``."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import re
import ssl
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from types import TracebackType
from typing import Any, Literal, Self, TypeVar
from urllib.parse import urlencode

import aiohttp
import msgspec
from yarl import URL

from kadm.errors import KadmError, MemberError, MemberRefused, MemberSilent, MemberUnreachable
from kadm.members.refusal import ManifestRefused, is_secret_path, refusal

_log = logging.getLogger(__name__)

Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
T = TypeVar("T")

JSON = "application/json"
APPLY_PATCH = "application/apply-patch+yaml"
JSON_PATCH = "application/json-patch+json"

CONTROL = re.compile(r"[\x00-\x1f\x7f]")
"""What no header's value may hold (RFC 9110, section 5.5)."""

DEFAULT_REQUEST_TIMEOUT_S = 30.0
_CONNECT_TIMEOUT_S = 10.0
_CONNECTIONS_PER_MEMBER = 8
_ATTEMPTS = 5
_FIRST_BACK_OFF_S = 0.2
_RETRIED = frozenset({429, 500, 502, 503, 504})
_USER_AGENT = "kadm"

_EXPECTED = frozenset({404, 409, 410})
"""Answers that say how things are: not there, written by somebody else meanwhile, forgotten."""

_TOLD_APART = (400, 401, 403, 413, 422, 429, 500, 502, 503, 504)
FAILURES = ("garbled", "other", "timeout", "unreachable", "4xx", "5xx", *map(str, _TOLD_APART))
"""What requests are counted by that fail: HTTP statuses, the usual ones each; an answer that nobody can read; no answer
in time; no connection, or one that broke off."""


@dataclass(frozen=True, kw_only=True)
class Access:
    """How one member is reached, and as whom.

    ``server`` is a URL without trailing slash and without user info; ``authorization`` gives the current header value,
    or None for none; ``renew`` forgets a credential that the member did not accept and says whether asking again may
    give another one. ``source`` names context and file, for messages.
    """

    server: str
    source: str = ""
    tls: ssl.SSLContext | None = None
    tls_server_name: str | None = None
    proxy: str | None = None
    headers: tuple[tuple[str, str], ...] = ()
    authorization: Callable[[], Awaitable[str | None]] | None = None
    renew: Callable[[], bool] = lambda: False


@dataclass(frozen=True)
class Answer:
    """A successful answer: the HTTP status, the media type without parameters' spaces, and the body as it came."""

    status: int
    content_type: str
    body: bytes


class WriteWhileReading(KadmError):
    """Something tried to write through a connection that only reads: a fault in kadm, stopped before it was sent."""


class Connection:
    """One member. An async context manager; ``read_only`` lets reads and dry runs pass and refuses every other request
    before it is sent. ``name`` is the member's name."""

    def __init__(
        self,
        name: str,
        access: Access,
        *,
        request_timeout_s: float = DEFAULT_REQUEST_TIMEOUT_S,
        read_only: bool = True,
        failures: Counter[str] | None = None,
    ) -> None:
        self.name = name
        self.access = access
        self.request_timeout_s = request_timeout_s
        self.read_only = read_only
        self.fence: Callable[[], Awaitable[None]] | None = None
        """Awaited before every write is sent, each attempt of it; what it raises stops the write."""
        self.failures: Counter[str] = Counter() if failures is None else failures
        """How often requests failed, each attempt, by one of FAILURES; others may count in the same place."""
        self._session: aiohttp.ClientSession | None = None
        self._told_s: tuple[float, float] | None = None
        self._asked = 0
        self._slots = asyncio.Semaphore(_CONNECTIONS_PER_MEMBER)

    async def __aenter__(self) -> Self:
        connector = aiohttp.TCPConnector(limit=_CONNECTIONS_PER_MEMBER, ssl=self.access.tls or True)
        self._session = aiohttp.ClientSession(
            connector=connector,
            cookie_jar=aiohttp.DummyCookieJar(),
            headers=[("User-Agent", _USER_AGENT), ("Accept-Encoding", "gzip"), *self.access.headers],
            read_bufsize=2**20,  # lists are megabytes
        )
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    @property
    def busy(self) -> bool:
        """Whether somebody waits for an answer."""
        return self._asked > 0

    async def close(self) -> None:
        """Let go of all sockets. Closing twice is fine. Whoever asks afterwards is told that it cannot be reached."""
        if self._session is not None:
            await self._session.close()

    async def request(
        self,
        method: Method,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        body: Any = None,
        content_type: str = JSON,
        accept: str = JSON,
        about: str = "",
        timeout_s: float | None = None,
        once: bool = False,
    ) -> Answer:
        """The member's answer to one request, if it is a success.

        ``path`` starts with a slash, its segments percent-encoded. ``body`` is a JSON value. ``about`` names the object
        in messages. ``timeout_s`` (default: the connection's) bounds everything: connecting, all attempts and the waits
        between them. 429 and 5xx are tried again, as Retry-After says or with growing waits, while the deadline leaves
        room, and a connection that broke off is made anew once: so a write must bear being done twice (uid or
        resourceVersion see to that). ``once``: nothing is tried again.

        Raises MemberRefused for an answer that is no success (ManifestRefused where the manifest is at fault),
        MemberUnreachable where none came (MemberSilent where it was asked), WriteWhileReading for a write on a
        connection that only reads.
        """
        self._guard(method, path, query or {})
        self._asked += 1
        try:
            async with self._slots:  # the deadline runs from when a connection is free, however many requests wait
                return await self._ask(
                    method,
                    path,
                    query=query,
                    body=body,
                    content_type=content_type,
                    accept=accept,
                    about=about,
                    limit_s=self.request_timeout_s if timeout_s is None else timeout_s,
                    once=once,
                )
        finally:
            self._asked -= 1

    async def _ask(
        self,
        method: Method,
        path: str,
        *,
        query: Mapping[str, str] | None,
        body: Any,
        content_type: str,
        accept: str,
        about: str,
        limit_s: float,
        once: bool,
    ) -> Answer:
        """``request`` without its guard and its queue."""
        target = f"{path}?{urlencode(query)}" if query else path
        payload = None if body is None else msgspec.json.encode(body)
        refused: MemberRefused | None = None
        loop = asyncio.get_running_loop()
        deadline = loop.time() + limit_s
        try:
            async with asyncio.timeout_at(deadline):
                for attempt in range(_ATTEMPTS):
                    if self.fence is not None and _writes(method, query or {}):
                        await self.fence()
                    try:
                        status, headers, text = await self._send(
                            method, target, payload=payload, content_type=content_type, accept=accept
                        )
                    except aiohttp.ClientError as error:
                        if once or attempt > 0 or not _broke_off(method, error):
                            raise
                        _log.debug("%s: %s %s: the connection broke off, asking again", self.name, method, target)
                        continue
                    _log.debug("%s: %s %s: %d, %d bytes", self.name, method, target, status, len(text))
                    self._hear_time(headers.get("Date", ""), loop.time())
                    if 200 <= status < 300:
                        return Answer(status, headers.get("Content-Type", ""), text)
                    self.refused(status)
                    refused = refusal(
                        status=status,
                        text=text,
                        path=path,
                        method=method,
                        member=self.name,
                        about=about,
                        hint=self._credential_hint(status),
                    )
                    if status == 401 and attempt == 0 and self.access.renew():
                        continue
                    wait_s = None if once else _wait_s(refused, headers.get("Retry-After"), attempt)
                    if wait_s is None or loop.time() + wait_s >= deadline:
                        raise refused
                    await asyncio.sleep(wait_s)
        except aiohttp.ClientError as error:  # first: some of them are TimeoutErrors too
            self.broke(error)
            raise translated(error, member=self.name, about=about or path, access=self.access) from error
        except TimeoutError as error:
            if refused is not None:
                raise refused from error
            self.broke(error)
            raise MemberSilent(
                f"no answer within {limit_s:g} s",
                member=self.name,
                object=about or path,
                why=f"asked {self.access.server}",
                hint="--request-timeout allows more",
            ) from error
        except OSError as error:
            self.broke(error)
            raise translated(error, member=self.name, about=about or path, access=self.access) from error
        assert refused is not None  # the loop ends without an answer only after a refusal
        raise refused

    def now(self) -> float:
        """The member's own time in seconds since the epoch: what its last answer said, and what has passed since.

        This machine's where none said it. Times in objects are the member's: this machine's clock may be another one,
        and may jump.
        """
        if self._told_s is None:
            return time.time()
        told, heard = self._told_s
        return told + asyncio.get_running_loop().time() - heard

    def _hear_time(self, date: str, heard: float) -> None:
        with contextlib.suppress(ValueError):  # something between here and the member that tells no time
            self._told_s = parsedate_to_datetime(date).timestamp(), heard

    async def read(self, path: str, shape: type[T], *, query: Mapping[str, str] | None = None, about: str = "") -> T:
        """The answer to a GET as ``shape`` (a type that msgspec decodes). Raises what ``request`` raises."""
        answer = await self.request("GET", path, query=query, about=about)
        return self.decode(answer.body, shape, path=path, about=about)

    def decode(self, body: bytes, shape: type[T], *, path: str, about: str = "") -> T:
        """A body as ``shape``. Raises MemberRefused where it is something else; its message quotes no value."""
        try:
            return msgspec.json.decode(body, type=shape)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            self.failures["garbled"] += 1
            why = "" if is_secret_path(path) else str(error)
            raise MemberRefused(
                "the answer is not what an API server sends",
                status=200,
                member=self.name,
                object=about or path,
                why=why,
                hint=f"check what answers at {self.access.server}",
            ) from error

    def refused(self, status: int) -> None:
        """Count an answer that is no success, unless it only says how things are."""
        if status in _EXPECTED:
            return
        folded = f"{status // 100}xx"
        code = str(status) if status in _TOLD_APART else folded if folded in FAILURES else "other"
        self.failures[code] += 1

    def broke(self, error: Exception) -> None:
        """Count a request that got no answer."""
        self.failures["timeout" if isinstance(error, TimeoutError) else "unreachable"] += 1

    async def _send(
        self, method: Method, target: str, *, payload: bytes | None, content_type: str, accept: str
    ) -> tuple[int, Mapping[str, str], bytes]:
        """Send one request: status, headers, body. The only call of the session in all of kadm."""
        assert self._session is not None, "the connection is not open"
        if self._session.closed:
            what = "the connection was closed: the member is reached in another way by now"
            raise MemberUnreachable(what, member=self.name)
        headers = {"Accept": accept}
        if payload is not None:
            headers["Content-Type"] = content_type
        if self.access.authorization is not None:
            value = await self.access.authorization()
            if value is not None and CONTROL.search(value):
                why = "it holds a line break, or another control character"
                what, hint = "the credential cannot be sent", "write the token on one line, without quotes or breaks"
                raise MemberUnreachable(what, member=self.name, object=self.access.source, why=why, hint=hint)
            if value is not None:
                headers["Authorization"] = value
        async with self._session.request(
            method,
            URL(self.access.server + target, encoded=True),
            data=payload,
            headers=headers,
            allow_redirects=False,  # a redirect would carry the credential to somebody else
            proxy=self.access.proxy,
            server_hostname=self.access.tls_server_name,
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=min(_CONNECT_TIMEOUT_S, self.request_timeout_s)),
        ) as response:
            return response.status, response.headers, await response.read()

    def _guard(self, method: Method, path: str, query: Mapping[str, str]) -> None:
        if self.read_only and _writes(method, query):
            raise WriteWhileReading(
                f"{method} refused before it was sent: nothing may be written here",
                member=self.name,
                object=path,
                hint="this is a fault in kadm: please report it",
            )

    def _credential_hint(self, status: int) -> str:
        if status in (401, 403) and self.access.server.startswith("http:"):
            return "no credential was sent, for the server is plain http: use https, as for kubectl"
        if status in (401, 403) and self.access.source:
            verb = "is not accepted: renew it" if status == 401 else "lacks this permission: grant it in the member"
            return f"the credential of {self.access.source} {verb}"
        return ""


def _writes(method: Method, query: Mapping[str, str]) -> bool:
    """Whether a request changes something in the member."""
    return method != "GET" and query.get("dryRun") != "All"


def translated(error: Exception, *, member: str, about: str, access: Access) -> MemberError:
    """A transport's error as one of ours: every ``aiohttp.ClientError`` and ``OSError`` has an answer.

    MemberSilent where the member was asked and is to blame, as far as one can tell.
    """
    what, why, hint = _words(error, access)
    kind = MemberUnreachable if isinstance(error, _NOT_ITS_SILENCE) else MemberSilent
    return kind(what, member=member, object=about, why=why, hint=hint)


_NOT_ITS_SILENCE = (
    aiohttp.ClientSSLError,  # somebody answers
    aiohttp.ClientConnectorCertificateError,
    aiohttp.ClientConnectorDNSError,  # nobody was asked
    aiohttp.ClientProxyConnectionError,
    aiohttp.ClientHttpProxyError,
    aiohttp.InvalidURL,
    aiohttp.ClientResponseError,
)


def _words(error: Exception, access: Access) -> tuple[str, str, str]:
    """What, why and hint for one error. The first that applies, most special first."""
    server = access.server
    match error:
        case aiohttp.ClientConnectorCertificateError():
            return (
                "TLS: the member's certificate is not trusted",
                f"{server}: {_cause(error.certificate_error)}",
                "check certificate-authority and tls-server-name in the kubeconfig",
            )
        case aiohttp.ClientSSLError():
            return "TLS: no secure connection", f"{server}: {_cause(error.os_error)}", "check the server's address"
        case aiohttp.ClientProxyConnectionError() | aiohttp.ClientHttpProxyError():
            return "the proxy does not let kadm through", f"on the way to {server}", "check proxy-url and HTTPS_PROXY"
        case aiohttp.ClientConnectorDNSError():
            return "the server's name does not resolve", server, "check the address in the kubeconfig, or the network"
        case aiohttp.ConnectionTimeoutError():
            return "no connection in time", server, "the member is down, or a firewall drops the packets"
        case aiohttp.ClientConnectorError():
            return "no connection", f"{server}: {_cause(error.os_error)}", "the member is down, or the address is wrong"
        case aiohttp.InvalidURL():
            return "the server's address is not a URL", server, "check clusters[].cluster.server in the kubeconfig"
        case aiohttp.ServerDisconnectedError() | aiohttp.ClientOSError() | aiohttp.ClientPayloadError():
            return "the connection broke off", server, "the member or something before it closed it: try again"
        case aiohttp.ClientResponseError():
            return "the answer is no HTTP", server, "check the address, and http against https"
        case _:
            return "no connection", f"{server}: {type(error).__name__}", "check the address in the kubeconfig"


def _broke_off(method: Method, error: aiohttp.ClientError) -> bool:
    """Whether a connection that stood was closed: idle ones are, just when something is sent over them.

    For the other methods, which HTTP calls idempotent, aiohttp asks again by itself.
    """
    closed = isinstance(error, (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError))
    return method in ("POST", "PATCH") and closed and not isinstance(error, aiohttp.ClientConnectorError)


def _cause(error: BaseException) -> str:
    """The reason inside an OS or TLS error, without Python's decoration."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return getattr(error, "verify_message", "") or str(error)
    if isinstance(error, ssl.SSLError):
        return (error.reason or "").replace("_", " ").lower() or type(error).__name__
    if isinstance(error, OSError) and error.errno is not None and error.errno > 0:
        return os.strerror(error.errno)  # asyncio's own text repeats the address and leaves the reason out
    return str(error) or type(error).__name__


def _wait_s(refused: MemberRefused, retry_after: str | None, attempt: int) -> float | None:
    """How long to wait before asking again, in seconds, or None where asking again is no use."""
    if refused.status not in _RETRIED or isinstance(refused, ManifestRefused) or attempt == _ATTEMPTS - 1:
        return None
    if retry_after is not None and retry_after.strip().isdigit():
        return float(retry_after)
    return float(_FIRST_BACK_OFF_S * 2**attempt)
