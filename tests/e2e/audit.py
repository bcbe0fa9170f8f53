"""A proxy in front of every member of a sandbox that notes each request: what a command really sent."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp
import yaml
from aiohttp import web

HOP_BY_HOP = frozenset({"connection", "transfer-encoding", "content-length", "content-encoding", "host"})
NOT_PASSED_ON = 502
"""What is answered instead where a hook stopped a request; nobody may be left to read it."""


@dataclass(frozen=True)
class Request:
    """One request, as the member received it."""

    member: str
    method: str
    path: str
    query: dict[str, str]
    body: Any = field(default=None, compare=False, repr=False)
    """Decoded, where it is JSON."""

    @property
    def writes(self) -> bool:
        """Whether it could have changed the member."""
        reviews = "selfsubjectaccessreviews" in self.path
        return self.method != "GET" and self.query.get("dryRun") != "All" and not reviews


Hook = Callable[[Request, int | None], bool]
"""Sees every request before it is forwarded (None), and again with the member's status before its answer is passed on.

False: it goes no further. Called in the proxies' thread, where everything waits for it.
"""


def everything(_request: Request, _status: int | None) -> bool:
    """A hook that lets all pass."""
    return True


@dataclass
class Audit:
    """The requests so far, and the kubeconfig that leads through the proxy."""

    kubeconfig: Path
    requests: list[Request] = field(default_factory=list)
    hook: Hook = everything

    def clear(self) -> None:
        self.requests.clear()


@contextmanager
def audited(sandbox: Path, directory: Path) -> Iterator[Audit]:
    """Proxies for all members, for the time of the block."""
    config = yaml.safe_load((sandbox / "kubeconfig").read_text(encoding="utf-8"))
    audit = Audit(directory / "audited-kubeconfig")
    ready = threading.Event()
    loop = asyncio.new_event_loop()
    finished = asyncio.Event()

    async def serve() -> None:
        async with aiohttp.ClientSession(auto_decompress=False) as session:
            runners = []
            for cluster in config["clusters"]:
                upstream = cluster["cluster"]["server"]
                runner = web.AppRunner(
                    _app(audit, session, cluster["name"], upstream, _token_for(config, cluster["name"])),
                    shutdown_timeout=0.1,  # a watch goes on for ever
                )
                await runner.setup()
                site = web.TCPSite(runner, "127.0.0.1", 0)
                await site.start()
                port = site._server.sockets[0].getsockname()[1]  # type: ignore[union-attr]  # a free port was taken
                cluster["cluster"] = {"server": f"http://127.0.0.1:{port}"}
                runners.append(runner)
            audit.kubeconfig.write_text(yaml.safe_dump(config), encoding="utf-8")
            audit.kubeconfig.chmod(0o600)
            ready.set()
            await finished.wait()
            for runner in runners:
                await runner.cleanup()
        await asyncio.sleep(0.1)  # aiohttp closes TLS connections only after the session is closed

    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),))
    thread.start()
    assert ready.wait(10), "the proxies did not start"
    try:
        yield audit
    finally:
        loop.call_soon_threadsafe(finished.set)
        thread.join()
        loop.close()


def _token_for(config: dict[str, Any], cluster: str) -> str:
    """The token that the kubeconfig uses for a cluster: no client sends one over plain http, so the proxy adds it."""
    user = next(one["context"]["user"] for one in config["contexts"] if one["context"]["cluster"] == cluster)
    token: str = next(one["user"]["token"] for one in config["users"] if one["name"] == user)
    return token


async def _streamed(
    request: web.Request, answer: aiohttp.ClientResponse, headers: dict[str, str]
) -> web.StreamResponse:
    """A watch, passed on as it comes."""
    response = web.StreamResponse(status=answer.status, headers=headers)
    await response.prepare(request)
    try:
        async for chunk in answer.content.iter_any():
            await response.write(chunk)
        await response.write_eof()
    except (ConnectionResetError, aiohttp.ClientError):  # one of both ends has seen enough
        return response
    finally:
        answer.close()
    return response


def _app(audit: Audit, session: aiohttp.ClientSession, member: str, upstream: str, token: str) -> web.Application:
    async def forward(request: web.Request) -> web.StreamResponse:
        body = await request.read()
        decoded = json.loads(body) if body and "json" in request.content_type else None
        seen = Request(member, request.method, request.path, dict(request.query), decoded)
        audit.requests.append(seen)
        if not audit.hook(seen, None):
            return web.Response(status=NOT_PASSED_ON)
        headers = {name: value for name, value in request.headers.items() if name.lower() not in HOP_BY_HOP}
        headers["Authorization"] = f"Bearer {token}"
        async with session.request(
            request.method,
            upstream + request.raw_path,
            headers=headers,
            data=body or None,  # an empty body would get a media type
            ssl=False,
        ) as answer:
            if not audit.hook(seen, answer.status):
                return web.Response(status=NOT_PASSED_ON)
            kept = {name: value for name, value in answer.headers.items() if name.lower() not in HOP_BY_HOP}
            encoding: dict[str, Any] = {}
            if "Content-Encoding" in answer.headers:
                encoding["Content-Encoding"] = answer.headers["Content-Encoding"]
            if request.query.get("watch") == "true":
                return await _streamed(request, answer, kept)
            return web.Response(status=answer.status, body=await answer.read(), headers={**kept, **encoding})

    app = web.Application(client_max_size=64 << 20)
    app.router.add_route("*", "/{path:.*}", forward)
    return app
