"""Watching a type in one member: a list that says where it stands, and the stream of what changes after it.

Streams run over a session of their own, for a watch holds its connection for minutes and must not take those of reads
and writes. Nothing but GET is ever sent over it. Source: "Efficient detection of changes", Kubernetes API concepts.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Generic, Literal, TypeVar
from urllib.parse import urlencode

import aiohttp
import msgspec
from msgspec import Raw, Struct
from yarl import URL

from kadm.errors import MemberError, MemberRefused, MemberSilent
from kadm.members.connection import JSON, Connection, translated
from kadm.members.refusal import is_secret_path, refusal
from kadm.members.resources import PAGE, url_path
from kadm.model.observation import ApiResource

T = TypeVar("T")

CONNECT_TIMEOUT_S = 10.0
SILENCE_S = 150.0
"""A stream that says nothing for so long is given up: bookmarks come about once a minute, and a connection whose other
end is gone says nothing either."""

_READ_BYTES = 2**16
_GONE = 410


class WatchExpired(MemberError):
    """The member has forgotten the place from which to go on (410): a full list is needed."""


class WatchSilent(MemberSilent):
    """A stream that is given up because nothing comes over it: its connection may be half open, the member well."""


class Selection(Struct, frozen=True, kw_only=True):
    """What of a type is listed and watched; empty: all of it. Selectors are written as kubectl takes them."""

    labels: str = ""
    fields: str = ""
    namespace: str = ""

    @property
    def query(self) -> dict[str, str]:
        named = {"labelSelector": self.labels, "fieldSelector": self.fields}
        return {name: text for name, text in named.items() if text}


class Notice(Struct, frozen=True):
    """One event of a watch; ``object`` is top-level field → raw JSON. A BOOKMARK's has nothing but its version."""

    type: Literal["ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR"]
    object: dict[str, Raw]

    @property
    def version(self) -> str:
        """The resourceVersion to go on from after this event."""
        return msgspec.json.decode(self.object["metadata"], type=_Version).resource_version


class _Version(Struct, rename="camel"):
    resource_version: str = ""


class _Status(Struct):
    code: int = 0
    reason: str = ""
    message: str = ""


class _ListMeta(Struct, rename="camel"):
    resource_version: str = ""
    continue_: str = msgspec.field(default="", name="continue")


class _Page(Struct, Generic[T]):
    items: list[T] | None = None
    metadata: _ListMeta = msgspec.field(default_factory=_ListMeta)


class Page(Struct, Generic[T], frozen=True):
    """Some of the objects of a list; ``version`` is that of the whole list, from which a watch goes on."""

    items: list[T]
    version: str


async def pages(
    connection: Connection, resource: ApiResource, shape: type[T], selection: Selection
) -> AsyncIterator[Page[T]]:
    """All objects of a selection, page by page; the pages are of one moment.

    Raises WatchExpired where the member forgets that moment on the way: whoever reads starts again.
    """
    path = url_path(resource, selection.namespace)
    asked = {"limit": str(PAGE), **selection.query}
    token = ""
    while True:
        query = {**asked, "continue": token} if token else asked
        try:
            found = await connection.read(path, _Page[shape], query=query, about=_about(resource))  # type: ignore[valid-type]
        except MemberRefused as refused:
            if refused.status == _GONE:
                raise _expired(connection, resource) from refused
            raise
        yield Page(found.items or [], found.metadata.resource_version)
        token = found.metadata.continue_
        if not token:
            return


class Watches:
    """The streams of one member."""

    def __init__(self, connection: Connection, session: aiohttp.ClientSession) -> None:
        self._connection = connection
        self._session = session
        self._waiting: set[asyncio.Timeout] = set()

    def doubt(self) -> None:
        """Give up every stream that waits: a request over another connection was lost without a word, so these
        connections may be half open, too. Nothing is missed: whoever watches goes on from where it was."""
        now = asyncio.get_running_loop().time()
        for deadline in self._waiting:
            deadline.reschedule(now)

    async def events(
        self,
        resource: ApiResource,
        selection: Selection,
        *,
        since: str,
        timeout_s: float,
        silence_s: float = SILENCE_S,
    ) -> AsyncIterator[Notice]:
        """What happens after version ``since``, bookmarks included; it ends when the member ends it.

        The member is asked to do so after ``timeout_s``. Raises WatchExpired, WatchSilent, MemberRefused,
        MemberUnreachable.
        """
        path = url_path(resource, selection.namespace)
        query = {
            "watch": "true",
            "allowWatchBookmarks": "true",
            "resourceVersion": since,
            "timeoutSeconds": str(max(1, round(timeout_s))),
            **selection.query,
        }
        async for line in self._lines(path, query, resource, silence_s=silence_s):
            notice = self._connection.decode(line, Notice, path=path, about=_about(resource))
            if notice.type == "ERROR":
                raise self._error(notice, resource, path)
            yield notice

    async def _lines(
        self, path: str, query: dict[str, str], resource: ApiResource, *, silence_s: float
    ) -> AsyncIterator[bytes]:
        """The lines of the answer as they come; the last one may lack its end and is dropped then."""
        access, about = self._connection.access, _about(resource)
        headers = {"Accept": JSON, "Accept-Encoding": "identity"}
        value = await access.authorization() if access.authorization is not None else None
        if value is not None:
            headers["Authorization"] = value
        try:
            async with self._session.get(
                URL(f"{access.server}{path}?{urlencode(query)}", encoded=True),
                headers=headers,
                allow_redirects=False,  # a redirect would carry the credential to somebody else
                proxy=access.proxy,
                server_hostname=access.tls_server_name,
                timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_TIMEOUT_S, sock_read=silence_s),
            ) as response:
                if response.status != 200:
                    raise self._refused(response.status, await response.read(), resource, path)
                rest = b""
                while chunk := await self._more(response, about):
                    *lines, rest = (rest + chunk).split(b"\n")
                    for line in lines:
                        if line.strip():
                            yield line
        except aiohttp.SocketTimeoutError as error:
            what = f"nothing came for {silence_s:g} s"
            raise WatchSilent(what, member=self._connection.name, object=about) from error
        except (aiohttp.ClientError, OSError) as error:
            self._connection.broke(error)
            raise translated(error, member=self._connection.name, about=about, access=access) from error

    async def _more(self, response: aiohttp.ClientResponse, about: str) -> bytes:
        """What comes next, empty at the end. Raises WatchSilent once ``doubt`` was called."""
        try:
            async with asyncio.timeout(None) as deadline:
                self._waiting.add(deadline)
                try:
                    return await response.content.readany()
                finally:
                    self._waiting.discard(deadline)
        except TimeoutError as error:
            if not deadline.expired():
                raise
            what = "nothing came, and another request was lost"
            raise WatchSilent(what, member=self._connection.name, object=about) from error

    def _refused(self, status: int, text: bytes, resource: ApiResource, path: str) -> MemberError:
        if status == _GONE:
            return _expired(self._connection, resource)
        self._connection.refused(status)
        if status == 401:
            self._connection.access.renew()  # whoever asks again has a new one
        return refusal(
            status=status,
            text=text,
            path=path,
            method="GET",
            member=self._connection.name,
            about=_about(resource),
        )

    def _error(self, notice: Notice, resource: ApiResource, path: str) -> MemberError:
        """What an ERROR event says: the stream answered 200, and then could not go on."""
        said = msgspec.convert({name: msgspec.json.decode(raw) for name, raw in notice.object.items()}, _Status)
        if said.code == _GONE:
            return _expired(self._connection, resource)
        self._connection.refused(said.code or 500)
        return MemberRefused(
            f"the watch ended with {said.code} {said.reason}".rstrip(),
            status=said.code or 500,
            reason=said.reason,
            member=self._connection.name,
            object=_about(resource),
            why="" if is_secret_path(path) else said.message,
        )


@asynccontextmanager
async def open_watches(connection: Connection) -> AsyncIterator[Watches]:
    """Streams of one member for the time of the block, as many as are asked for."""
    access = connection.access
    connector = aiohttp.TCPConnector(limit=0, ssl=access.tls or True)
    async with aiohttp.ClientSession(
        connector=connector,
        cookie_jar=aiohttp.DummyCookieJar(),
        headers=[("User-Agent", "kadm"), *access.headers],
        read_bufsize=_READ_BYTES,
    ) as session:
        yield Watches(connection, session)


def _about(resource: ApiResource) -> str:
    return f"{resource.plural}.{resource.group}" if resource.group else resource.plural


def _expired(connection: Connection, resource: ApiResource) -> WatchExpired:
    return WatchExpired("the member has forgotten that version", member=connection.name, object=_about(resource))
