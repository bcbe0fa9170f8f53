"""A sandbox inside an event loop: members that listen, with their nodes and controllers.

``running`` is what the serving process holds open, and what tests use in their own process.
"""

from __future__ import annotations

import asyncio
import secrets
import socket
import ssl
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from aiohttp import web

from kadm.errors import KadmError
from kadm.sandbox.api import ApiServer, Object
from kadm.sandbox.certificates import Authority
from kadm.sandbox.controllers import ControllerLoop, all_controllers
from kadm.sandbox.controllers.kubelet import Delays
from kadm.sandbox.controllers.nodes import NodeSize, a_node
from kadm.sandbox.controllers.volumes import PROVISIONER, standard_class
from kadm.sandbox.faults import Fault
from kadm.sandbox.gate import Gate, Handler
from kadm.sandbox.options import SandboxOptions, member_names
from kadm.sandbox.server import Member

LOOPBACK = "127.0.0.1"
CLOSE_WITHIN_S = 0.2
LARGEST_BODY = 3 * 2**20
API_SERVER, KUBELET = "kube-apiserver", "kubelet"


class Listener:
    """A loopback port with a request handler behind it; it can be closed and opened again, on the same port."""

    def __init__(self, handler: Handler, tls: ssl.SSLContext | None = None) -> None:
        # a watch ends with its client, not with its next event
        self._server = web.Server(handler, request_factory=_request, handler_cancellation=True, access_log=None)
        self._tls = tls
        self._listening: asyncio.Server | None = None
        self._reserved: socket.socket | None = None
        self.port = 0

    async def open(self, port: int = 0) -> None:
        """Listen on ``port``, 0 takes a free one. Raises KadmError when it is taken."""
        if self._listening is not None:
            return
        taken, self._reserved = self._reserved, None
        try:
            bound = taken or _bound(port or self.port)
        except OSError as fault:
            hint = "name another one, or none to take free ones"
            raise KadmError(f"port {port} cannot be used", why=fault.strerror or str(fault), hint=hint) from fault
        self.port = bound.getsockname()[1]
        loop = asyncio.get_running_loop()
        self._listening = await loop.create_server(self._server, sock=bound, ssl=self._tls)

    async def refuse(self) -> None:
        """Refuse connections and drop those that are there, but keep the port: bound and not listening."""
        await self.close()
        self._reserved = _bound(self.port)

    async def close(self) -> None:
        """Give the port back and drop all connections."""
        if self._reserved is not None:
            self._reserved.close()
            self._reserved = None
        if self._listening is not None:
            self._listening.close()
            self._listening = None
            await self._server.shutdown(CLOSE_WITHIN_S)


class RunningMember:
    """One member of a running sandbox. ``token`` is its administrator's."""

    def __init__(self, name: str, *, tls: ssl.SSLContext, ca: str) -> None:
        self.name = name
        self.token = secrets.token_urlsafe(32)
        self._member = Member(name, admin_token=self.token, clock=lambda: datetime.now(UTC))
        self._gate = Gate(self._member.handle)
        self.listener = Listener(self._gate, tls)
        self.ca = ca

    @property
    def api(self) -> ApiServer:
        """The member's API as functions."""
        return self._member.api

    @property
    def url(self) -> str:
        """Where it serves."""
        return f"https://{LOOPBACK}:{self.listener.port}"

    @property
    def faults(self) -> tuple[Fault, ...]:
        """The faults in force."""
        return self._gate.faults

    async def set_faults(self, faults: list[Fault]) -> None:
        """Put ``faults`` in place of those in force."""
        self._gate.set(faults)
        if any(fault.mode == "refuse" for fault in faults):
            await self.listener.refuse()
        else:
            await self.listener.open()


@dataclass(frozen=True, slots=True)
class Sandbox:
    """A running sandbox: its members by name, and the PEM of the CA that their certificates are from."""

    members: dict[str, RunningMember]
    ca: str


@asynccontextmanager
async def running(options: SandboxOptions) -> AsyncIterator[Sandbox]:
    """Members that serve as long as the context is open. Raises KadmError when a port cannot be had."""
    authority = Authority("kadm sandbox", datetime.now(UTC))
    tls = _server_context(authority)
    names = member_names(options.members)
    members = {name: RunningMember(name, tls=tls, ca=authority.certificate) for name in names}
    try:
        for index, member in enumerate(members.values()):
            await member.listener.open(options.port + index if options.port else 0)
        async with asyncio.TaskGroup() as tasks:
            loops = [_furnished(member, options) for member in members.values()] if options.controllers else []
            served = [tasks.create_task(loop.run()) for loop in loops]
            for loop in loops:
                await loop.settled()
            yield Sandbox(members, authority.certificate)
            for task in served:
                task.cancel()
    finally:
        await asyncio.gather(*(member.listener.close() for member in members.values()))


def _furnished(member: RunningMember, options: SandboxOptions) -> ControllerLoop:
    """The member's controllers, with its nodes, StorageClass and API Service in place."""
    size = NodeSize(options.cpu, options.memory)
    version = member.api.version
    for index in range(options.nodes):
        member.api.create("nodes", a_node(index, size, version, member.api.clock()), manager=KUBELET)
    member.api.create("storageclasses.storage.k8s.io", standard_class(), manager=PROVISIONER)
    member.api.create("services", api_service(member.listener.port), manager=API_SERVER)
    delays = Delays(start_s=options.start_delay_s, ready_s=options.ready_delay_s, run_s=options.ready_delay_s)
    return ControllerLoop(member.api, all_controllers(member.api, delays, member.ca))


def api_service(port: int) -> Object:
    """Service ``kubernetes``, which stands for the API server itself."""
    labels = {"component": "apiserver", "provider": "kubernetes"}
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "kubernetes", "namespace": "default", "labels": labels},
        "spec": {
            "type": "ClusterIP",
            "clusterIP": "10.96.0.1",
            "ports": [{"name": "https", "port": 443, "protocol": "TCP", "targetPort": port}],
        },
    }


def _request(message: Any, payload: Any, protocol: Any, writer: Any, task: Any) -> web.BaseRequest:
    """A request whose body may be as large as an API server takes; the arguments are aiohttp's own."""
    loop = asyncio.get_running_loop()
    return web.BaseRequest(message, payload, protocol, writer, task, loop, client_max_size=LARGEST_BODY)


def _bound(port: int) -> socket.socket:
    """A socket on the loopback interface that does not listen yet."""
    bound = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((LOOPBACK, port))
    except OSError:
        bound.close()
        raise
    return bound


def _server_context(authority: Authority) -> ssl.SSLContext:
    """TLS for all members: one certificate will do, they share the address."""
    issued = authority.serve(LOOPBACK, "localhost")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with tempfile.NamedTemporaryFile(mode="w", encoding="ascii") as file:  # the ssl module reads files only
        file.write(issued.certificate + issued.key)
        file.flush()
        context.load_cert_chain(Path(file.name))
    return context
