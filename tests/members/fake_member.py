"""A member for tests: a real HTTP server on the loopback that answers as told, and objects kept in memory."""

from __future__ import annotations

import asyncio
import base64
import copy
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

from aiohttp import web

from kadm.members.connection import Access, Connection
from kadm.model.objects import JsonObject

T = TypeVar("T")
Answerer = Callable[[web.Request], Awaitable[web.StreamResponse]]

_OBJECT = re.compile(
    r"(?P<prefix>/api/v1|/apis/[^/]+/[^/]+)(?:/namespaces/(?P<namespace>[^/]+)(?=/))?/(?P<plural>[^/]+)(?:/(?P<name>[^/]+))?"
)


def status(code: int, reason: str = "", message: str = "", **details: Any) -> web.Response:
    """A Kubernetes Status as the API server sends it."""
    body: JsonObject = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": message, "code": code}
    if reason:
        body["reason"] = reason
    if details:
        body["details"] = details
    return web.json_response(body, status=code)


@dataclass
class FakeMember:
    """Objects by request path, served with resourceVersions; ``answers`` come first: (method, path) → what to do.

    It knows what kadm's own bookkeeping needs of an API server: get, list by label, create, replace, JSON patch of
    whole values, delete with a uid precondition. ``requests`` holds what was asked, as ``METHOD path?query``.
    """

    objects: dict[str, JsonObject] = field(default_factory=dict)
    answers: dict[tuple[str, str], Answerer] = field(default_factory=dict)
    requests: list[str] = field(default_factory=list)
    bodies: list[Any] = field(default_factory=list)
    headers: list[Mapping[str, str]] = field(default_factory=list)
    version: int = 100
    url: str = ""

    def add(self, path: str, obj: JsonObject) -> JsonObject:
        """Store an object under its request path; uid and resourceVersion are given where they are missing."""
        self.version += 1
        metadata = obj.setdefault("metadata", {})
        metadata.setdefault("name", path.rpartition("/")[2])
        metadata.setdefault("uid", f"uid-{self.version}")
        metadata["resourceVersion"] = str(self.version)
        self.objects[path] = obj
        return obj

    async def handle(self, request: web.Request) -> web.StreamResponse:
        self.requests.append(f"{request.method} {request.path_qs}")
        self.headers.append(request.headers)
        self.bodies.append(await request.json() if request.can_read_body else None)
        told = self.answers.get((request.method, request.path))
        return await told(request) if told else self._store(request)

    def _store(self, request: web.Request) -> web.Response:
        match = _OBJECT.fullmatch(request.path)
        if match is None:
            return web.Response(status=404, text="404 page not found")
        if request.method == "GET" and not match["name"]:
            return self._list(request)
        if request.method == "POST":
            return self._create(request)
        live = self.objects.get(request.path)
        if live is None:
            return status(404, "NotFound", "not found", kind=match["plural"], name=match["name"])
        if request.method == "GET":
            return web.json_response(live)
        if request.method == "PUT":
            return self._replace(request, live)
        if request.method == "PATCH":
            return self._patch(request, live)
        return self._delete(request, live)

    def _list(self, request: web.Request) -> web.Response:
        selector = dict(part.split("=") for part in request.query.get("labelSelector", "").split(",") if part)
        items = [
            obj
            for path, obj in sorted(self.objects.items())
            if path.rpartition("/")[0] == request.path
            and all((obj["metadata"].get("labels") or {}).get(key) == value for key, value in selector.items())
        ]
        return web.json_response({"kind": "List", "metadata": {"resourceVersion": str(self.version)}, "items": items})

    def _create(self, request: web.Request) -> web.Response:
        obj = copy.deepcopy(self.bodies[-1])
        path = f"{request.path}/{obj['metadata']['name']}"
        namespace = re.search(r"/namespaces/([^/]+)/", path)
        if namespace and f"/api/v1/namespaces/{namespace[1]}" not in self.objects:
            return status(
                404, "NotFound", f'namespaces "{namespace[1]}" not found', kind="namespaces", name=namespace[1]
            )
        if path in self.objects:
            return status(409, "AlreadyExists", "already exists")
        return web.json_response(self.add(path, obj), status=201)

    def _replace(self, request: web.Request, live: JsonObject) -> web.Response:
        obj = copy.deepcopy(self.bodies[-1])
        if obj["metadata"]["resourceVersion"] != live["metadata"]["resourceVersion"]:
            return status(409, "Conflict", "the object has been modified")
        obj["metadata"]["uid"] = live["metadata"]["uid"]
        return web.json_response(self.add(request.path, obj))

    def _patch(self, request: web.Request, live: JsonObject) -> web.Response:
        patched = copy.deepcopy(live)
        for operation in self.bodies[-1]:
            *parents, last = (step.replace("~1", "/").replace("~0", "~") for step in operation["path"].split("/")[1:])
            place = patched
            for parent in parents:
                place = place[parent]
            if operation["op"] == "remove":
                del place[last]
            else:
                place[last] = operation["value"]
        if patched["metadata"]["resourceVersion"] != live["metadata"]["resourceVersion"]:
            return status(409, "Conflict", "the object has been modified")
        return web.json_response(self.add(request.path, patched))

    def _delete(self, request: web.Request, live: JsonObject) -> web.Response:
        uid = (self.bodies[-1] or {}).get("preconditions", {}).get("uid")
        if uid not in (None, live["metadata"]["uid"]):
            return status(409, "Conflict", "the UID in the precondition does not match")
        del self.objects[request.path]
        return web.json_response({"kind": "Status", "status": "Success"})

    def access(self) -> Access:
        return Access(server=self.url)

    @asynccontextmanager
    async def connection(self, *, read_only: bool = False, request_timeout_s: float = 5.0) -> AsyncIterator[Connection]:
        """An open connection to it, as member ``eu``."""
        async with Connection(
            "eu", self.access(), read_only=read_only, request_timeout_s=request_timeout_s
        ) as connection:
            yield connection


@asynccontextmanager
async def serving(member: FakeMember | None = None) -> AsyncIterator[FakeMember]:
    """The member, served on a free port of the loopback for the time of the block."""
    served = member or FakeMember()
    runner = web.AppRunner(_app(served), shutdown_timeout=0.1)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        served.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
        yield served
    finally:
        await runner.cleanup()


def _app(member: FakeMember) -> web.Application:
    app = web.Application(client_max_size=2**24)
    app.router.add_route("*", "/{tail:.*}", member.handle)
    return app


def a_cluster(uid: str = "uid-eu", version: str = "v1.36.2") -> FakeMember:
    """A member that kadm can observe: an identity, a version, ready, nothing served."""
    member = FakeMember()
    member.add("/api/v1/namespaces/kube-system", {"metadata": {"name": "kube-system", "uid": uid}})
    member.answers = {
        ("GET", "/version"): always_json({"gitVersion": version}),
        ("GET", "/readyz"): always_text("ok"),
        ("GET", "/api"): always_json({"kind": "APIVersions", "versions": []}),
        ("GET", "/apis"): always_json({"kind": "APIGroupList", "groups": []}),
    }
    return member


def always(answer: Callable[[], web.StreamResponse]) -> Answerer:
    """Answers the same every time."""

    async def handler(request: web.Request) -> web.StreamResponse:
        return answer()

    return handler


def always_json(body: Any) -> Answerer:
    return always(lambda: web.json_response(body))


def always_text(body: str) -> Answerer:
    return always(lambda: web.Response(text=body))


def in_turn(*answers: Callable[[], web.StreamResponse]) -> Answerer:
    """Gives each answer once, the last one for ever."""
    left = list(answers)

    async def handler(request: web.Request) -> web.StreamResponse:
        return (left.pop(0) if len(left) > 1 else left[0])()

    return handler


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run a test's coroutine, with an end to it whatever happens."""

    async def bounded() -> T:
        async with asyncio.timeout(20):
            return await work

    return asyncio.run(bounded())


def kubeconfig(url: str, name: str = "eu", **user: str) -> JsonObject:
    """A kubeconfig with one context of this name."""
    return {
        "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
        "clusters": [{"name": name, "cluster": {"server": url}}],
        "users": [{"name": name, "user": user}],
    }


def b64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()
