"""The HTTP server of one member: aiohttp requests in, answers and watch streams out."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import datetime
from urllib.parse import parse_qsl

import msgspec
import yaml
from aiohttp import web

from kadm.sandbox.api import ApiServer
from kadm.sandbox.auth import Authenticator
from kadm.sandbox.endpoint import Endpoint
from kadm.sandbox.exchange import Answer, Request, Stream
from kadm.sandbox.responses import too_large
from kadm.sandbox.watches import Notice

BOOKMARK_EVERY_S = 5.0
"""How often a watch that allows bookmarks gets one; a real server sends them about once a minute, and near the end."""

MAX_BODY_BYTES = 3 * 1024 * 1024
"""As in a real server, whose etcd takes 1.5 MiB of it at most."""

_encode = msgspec.json.Encoder().encode


class Member:
    """One member: its API, and a handler for ``aiohttp.web.Server`` that answers for it.

    ``admin_token`` is the bearer token of its administrator.
    """

    def __init__(self, name: str, *, admin_token: str, clock: Callable[[], datetime]) -> None:
        self.api = ApiServer(name, clock=clock)
        self._endpoint = Endpoint(self.api, Authenticator(self.api.store, admin_token, clock=clock))

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer one HTTP request."""
        query = parse_qsl(request.url.raw_query_string, keep_blank_values=True)
        body = await _body(request)
        if body is None:
            return _response(Answer(status=413, body=too_large(MAX_BODY_BYTES).status))
        answer = self._endpoint.answer(
            Request(
                method=request.method,
                path=request.path,
                query=dict(query),
                dry_run=[value for key, value in query if key == "dryRun"],
                body=body,
                content_type=request.headers.get("Content-Type", ""),
                accept=request.headers.get("Accept", ""),
                authorization=request.headers.get("Authorization"),
                impersonated=request.headers.get("Impersonate-User", ""),
                impersonated_groups=tuple(request.headers.getall("Impersonate-Group", ())),
                user_agent=request.headers.get("User-Agent", ""),
            )
        )
        if isinstance(answer, Stream):
            return await _stream(request, answer)
        return _response(answer)


async def _body(request: web.BaseRequest) -> bytes | None:
    """The request's body; None if it is larger than a server takes."""
    parts: list[bytes] = []
    size = 0
    async for part in request.content.iter_any():
        size += len(part)
        if size > MAX_BODY_BYTES:
            return None
        parts.append(part)
    return b"".join(parts)


def _response(answer: Answer) -> web.Response:
    if isinstance(answer.body, str):
        media_type, body = "text/plain", answer.body.encode()
    elif answer.yaml:
        media_type, body = "application/yaml", yaml.safe_dump(answer.body, allow_unicode=True).encode()
    else:
        media_type, body = "application/json", _encode(answer.body)
    headers = {"Content-Type": media_type + answer.media_parameters, **answer.headers}
    response = web.Response(status=answer.status, body=body, headers=headers)
    for warning in answer.warnings:
        response.headers.add("Warning", warning)
    return response


async def _stream(request: web.BaseRequest, stream: Stream) -> web.StreamResponse:
    """Send the notices of a watch until its time is over or the client is gone."""
    response = web.StreamResponse(headers={"Content-Type": "application/json"})
    for warning in stream.warnings:
        response.headers.add("Warning", warning)
    response.enable_chunked_encoding()
    events = stream.watch.events
    loop = asyncio.get_running_loop()
    deadline = loop.time() + stream.timeout_s
    try:
        await response.prepare(request)
        await _send(response, stream, stream.watch.initial)
        next_pause = loop.time() + BOOKMARK_EVERY_S
        while events is not None and loop.time() < deadline:
            try:
                async with asyncio.timeout_at(min(deadline, next_pause)):
                    if not await events.wait():
                        break
            except TimeoutError:
                if loop.time() >= next_pause:
                    if request.transport is None:
                        break  # the client has left, and nothing was written that would have told
                    if stream.bookmark is not None:
                        await _send(response, stream, [stream.bookmark()])
                    next_pause = loop.time() + BOOKMARK_EVERY_S
                continue
            notices: list[Notice] = []
            while (event := events.take()) is not None:
                notice = stream.watch.notice(event)
                if notice is not None:
                    notices.append(notice)
            await _send(response, stream, notices)
        await response.write_eof()
    except ConnectionResetError:
        pass  # the client has seen enough
    finally:
        if events is not None:
            events.close()
    return response


async def _send(response: web.StreamResponse, stream: Stream, notices: list[Notice]) -> None:
    if notices:
        await response.write(b"".join(_encode(stream.show(notice)) + b"\n" for notice in notices))
