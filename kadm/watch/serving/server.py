"""The daemon's HTTP server: which paths there are, and what every answer has in common.

    /                     the page; / and its files hold nothing of the fleet, and need no token
    /healthz  /readyz     whether the process lives; whether what it serves is complete. No token
    /metrics              Prometheus' text format
    /api/v1/…             JSON of kadm.io/v1 (``documents``), and ``stream`` for live updates
    /hook                 a git server says that something was pushed (``hook``); only where a secret is agreed on

It only reads: no request changes anything. But for the hook there is no other method than GET and HEAD.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from http import HTTPStatus

import msgspec
from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from kadm.errors import KadmError, Problem, UsageError
from kadm.watch.serving.access import Door, Listening, read_token
from kadm.watch.serving.answers import Answer, Answers
from kadm.watch.serving.documents import error_document
from kadm.watch.serving.hook import TooLarge, is_genuine
from kadm.watch.serving.metrics import CONTENT_TYPE, exposition, registry
from kadm.watch.serving.pages import page_files
from kadm.watch.serving.server_log import UNREADABLE, ServerLog
from kadm.watch.serving.stream import Streams
from kadm.watch.state import Board

_log = logging.getLogger(__name__)

SHUTDOWN_S = 0.5
COMPRESS_BYTES = 4096
HOOK = "/hook"
HOOK_WITHIN_S = 10.0
IDLE_S = 75.0
"""Longer than a proxy keeps a connection for its next request: 60 s is usual."""

SECURITY_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; object-src 'none'; "
        "require-trusted-types-for 'script'; trusted-types 'none'"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
"""On every answer. Nothing inline, nothing from outside, in nobody's frame."""

_JSON = "application/json; charset=utf-8"


class CannotListen(UsageError):
    """Nobody can listen there: the port is taken, or the address is not this machine's."""


class Serving:
    """Serves one board, from ``start`` to ``stop``; ``url`` is where. ``pushed`` hears of a push to git.

    A connection on which no whole request comes for ``idle_s`` is closed: else half a request would stay for ever.
    Raises UsageError where the file of the token, or of the hook's secret, cannot be used.
    """

    def __init__(self, board: Board, where: Listening, pushed: Callable[[], None], *, idle_s: float = IDLE_S) -> None:
        self._board = board
        self._where = where
        self._pushed = pushed
        self._door = _door(where)
        self._hook_secret = _hook_secret(where)
        self._answers = Answers(board)
        self._streams = Streams(board)
        self._metrics = registry(lambda: board.latest)
        self._files = page_files()
        self._runner = web.AppRunner(
            self._application(),
            access_log=None,
            logger=ServerLog(_log),
            auto_decompress=False,  # a body is signed as it was sent
            keepalive_timeout=idle_s,
            shutdown_timeout=SHUTDOWN_S,
            handler_cancellation=True,
        )
        self.url = ""

    async def start(self) -> None:
        """Begin to answer. Raises CannotListen."""
        where = self._where
        await self._runner.setup()
        try:
            await web.TCPSite(self._runner, where.host, where.port).start()
        except OSError as error:
            await self._runner.cleanup()
            what = f"the daemon cannot listen on {_authority(where.host, where.port)}"
            raise CannotListen(what, why=error.strerror or str(error)) from error
        self.url = f"http://{_authority(where.host, self._runner.addresses[0][1])}"
        _log.info("serving on %s", self.url)

    async def stop(self) -> None:
        """Answer no more; open streams end at once."""
        await self._runner.cleanup()

    def reload(self) -> None:
        """Take what the files of the token and of the hook's secret hold now. One that cannot be used is reported; what
        was read before stays."""
        try:
            self._door = _door(self._where)
        except UsageError as error:
            _log.error("%s; the former token stays", error.problem)
        else:
            if self._where.token_file is not None:
                _log.info("the token was read again from %s", self._where.token_file)
        try:
            self._hook_secret = _hook_secret(self._where)
        except UsageError as error:
            _log.error("%s; the former secret stays", error.problem)
        else:
            if self._where.hook_file is not None:
                _log.info("the hook's secret was read again from %s", self._where.hook_file)

    def _application(self) -> web.Application:
        """The paths, behind the door."""
        application = web.Application(middlewares=[self._middleware()])
        routes = {
            "/healthz": self._healthz,
            "/readyz": self._readyz,
            "/metrics": self._exposition,
            "/api/v1/fleet": self._document(lambda _: self._answers.watch()),
            "/api/v1/clusters": self._document(lambda _: self._answers.clusters()),
            "/api/v1/workloads": self._document(self._workloads),
            "/api/v1/events": self._document(self._events),
            "/api/v1/plan": self._document(lambda _: self._answers.plan()),
            "/api/v1/stream": self._stream,
            **dict.fromkeys(self._files, self._file),
        }
        for path, handler in routes.items():
            application.router.add_get(path, handler, allow_head=path != "/api/v1/stream")
        if self._hook_secret is not None:
            application.router.add_post(HOOK, self._hook)
        application.on_shutdown.append(self._end_streams)
        return application

    async def _end_streams(self, _application: web.Application) -> None:
        self._streams.close()

    def _middleware(self) -> Middleware:
        @web.middleware
        async def guarded(request: web.Request, handler: Handler) -> web.StreamResponse:
            refused = self._refusal(request)
            if refused is not None:
                return refused
            try:
                return await handler(request)
            except web.HTTPException as error:
                allow = error.headers.get("Allow")
                headers = {"Allow": allow} if allow else {}
                return _error(error.status, f"{request.method} {request.path}: {error.reason.lower()}", headers=headers)
            except UNREADABLE:
                return _error(HTTPStatus.BAD_REQUEST, "the body of the request cannot be read")
            except KadmError as error:
                return _error(HTTPStatus.BAD_REQUEST, error.problem.what)

        return guarded

    def _refusal(self, request: web.Request) -> web.Response | None:
        """Why the request is not answered; None: it is."""
        headers = request.headers
        if request.path == HOOK and self._hook_secret is not None:
            return None  # it may be addressed to any name, and no web site knows the secret
        data = request.path == "/metrics" or request.path.startswith("/api/")
        why = self._door.refuses(
            host=headers.get("Host"),
            origin=headers.get("Origin"),
            site=headers.get("Sec-Fetch-Site") if data else None,
        )
        if why:
            _log.warning("refused a request from %s: %s", request.remote, why)
            return _error(HTTPStatus.FORBIDDEN, f"the request is refused: {why}")
        if data and not self._door.knows(headers.get("Authorization")):
            if headers.get("Authorization"):  # without one it is a page that has not asked for it yet
                _log.warning("refused a request from %s: its token is not the right one", request.remote)
            return _error(
                HTTPStatus.UNAUTHORIZED,
                "a token is needed",
                hint="send the header Authorization: Bearer TOKEN",
                headers={"WWW-Authenticate": 'Bearer realm="kadm"'},
            )
        return None

    async def _healthz(self, _request: web.Request) -> web.StreamResponse:
        """Alive. The page learns here whether to ask for a token."""
        response = _text(HTTPStatus.OK, "ok")
        response.headers["Kadm-Token"] = "required" if self._door.wants_token else "none"
        return response

    async def _readyz(self, _request: web.Request) -> web.StreamResponse:
        if self._board.latest.ready:
            return _text(HTTPStatus.OK, "ok")
        return _text(HTTPStatus.SERVICE_UNAVAILABLE, "not ready: the fleet is still being read")

    async def _exposition(self, _request: web.Request) -> web.StreamResponse:
        response = web.Response(body=exposition(self._metrics))
        response.headers["Content-Type"] = CONTENT_TYPE
        return _finished(response)

    async def _file(self, request: web.Request) -> web.StreamResponse:
        found = self._files[request.path]
        return _conditional(request, found.body, found.etag, found.content_type, cache="no-cache")

    def _document(self, answer: Callable[[web.Request], Answer]) -> Handler:
        async def document(request: web.Request) -> web.StreamResponse:
            found = answer(request)
            return _conditional(request, found.body, found.etag, _JSON, cache="no-store")

        return document

    def _workloads(self, request: web.Request) -> Answer:
        native = request.query.get("native", "false")
        if native not in ("true", "false"):
            raise UsageError("native is true or false")
        return self._answers.native_workloads() if native == "true" else self._answers.workloads()

    def _events(self, request: web.Request) -> Answer:
        after = request.query.get("after", "0")
        if not (after.isascii() and after.isdecimal() and len(after) < 16):
            raise UsageError("after is the number of an event")
        return self._answers.events(after=int(after))

    async def _hook(self, request: web.Request) -> web.StreamResponse:
        assert self._hook_secret is not None, "there is no such path without"
        if any(one.strip().lower() not in ("", "identity") for one in request.headers.getall("Content-Encoding", ())):
            return _error(
                HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
                "the body is compressed, or encoded in another way",
                hint="send it as it is, without Content-Encoding",
                headers={"Accept-Encoding": "identity"},
            )
        try:
            async with asyncio.timeout(HOOK_WITHIN_S):
                genuine = await is_genuine(request.headers, request.content.iter_any(), self._hook_secret)
        except TooLarge as error:
            return _error(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, error.problem.what)
        except TimeoutError:
            return _error(HTTPStatus.REQUEST_TIMEOUT, f"the body did not come within {HOOK_WITHIN_S:g} s")
        if not genuine:
            _log.warning("refused a hook from %s: it does not know the secret", request.remote)
            hint = "the git server and --hook-secret-file have to have the same one"
            return _error(HTTPStatus.UNAUTHORIZED, "the secret, or the signature, is not the right one", hint=hint)
        self._pushed()
        return _text(HTTPStatus.ACCEPTED, "git is looked at now")

    async def _stream(self, request: web.Request) -> web.StreamResponse:
        if self._streams.full:
            return _error(HTTPStatus.SERVICE_UNAVAILABLE, "too many readers follow already")
        response = web.StreamResponse()
        response.headers.update(
            {
                **SECURITY_HEADERS,
                "Content-Type": "text/event-stream; charset=utf-8",
                "Cache-Control": "no-store",
                "X-Accel-Buffering": "no",  # nginx would keep events back
                "Server": "kadm",
            }
        )
        await self._streams.send(request, response)
        return response


@asynccontextmanager
async def serving(
    board: Board, where: Listening, pushed: Callable[[], None] = lambda: None, *, idle_s: float = IDLE_S
) -> AsyncIterator[Serving]:
    """Serve the board until the block ends. Raises as ``Serving`` and its ``start`` do."""
    found = Serving(board, where, pushed, idle_s=idle_s)
    await found.start()
    try:
        yield found
    finally:
        await found.stop()


def _door(where: Listening) -> Door:
    return Door(read_token(where.token_file) if where.token_file is not None else None)


def _hook_secret(where: Listening) -> str | None:
    return read_token(where.hook_file, "hook secret") if where.hook_file is not None else None


def _authority(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _conditional(request: web.Request, body: bytes, etag: str, content_type: str, *, cache: str) -> web.Response:
    """The body, or 304 where the asker has it already."""
    headers = {"ETag": etag, "Cache-Control": cache}
    known = request.headers.get("If-None-Match", "")
    if known.strip() == "*" or _opaque(etag) in {_opaque(one) for one in known.split(",")}:
        return _finished(web.Response(status=HTTPStatus.NOT_MODIFIED, headers=headers))
    response = web.Response(body=body, headers={**headers, "Content-Type": content_type, "Vary": "Accept-Encoding"})
    if len(body) > COMPRESS_BYTES:
        response.enable_compression()
    return _finished(response)


def _opaque(etag: str) -> str:
    """An ETag as If-None-Match compares it: weakly (RFC 9110, section 13.1.2)."""
    return etag.strip().removeprefix("W/")


def _text(status: HTTPStatus, text: str) -> web.Response:
    return _finished(web.Response(status=status, text=f"{text}\n", headers={"Cache-Control": "no-store"}))


def _error(status: int, what: str, *, hint: str = "", headers: dict[str, str] | None = None) -> web.Response:
    document = error_document(Problem(what=what, hint=hint))
    return _finished(
        web.Response(
            status=status,
            body=msgspec.json.encode(document),
            headers={"Content-Type": _JSON, "Cache-Control": "no-store", **(headers or {})},
        )
    )


def _finished(response: web.Response) -> web.Response:
    response.headers.update(SECURITY_HEADERS)
    response.headers["Server"] = "kadm"
    return response
