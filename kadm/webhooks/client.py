"""The HTTP client of webhook plugins (scheduling spec 7.2).

The scheduling stage is synchronous and asks about many members at once: the calls run side by side in an event loop of
the client's own thread, so that whoever waits may itself be a coroutine's thread or none. Nothing is tried again.
"""

from __future__ import annotations

import asyncio
import os
import ssl
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from types import TracebackType
from typing import Self

import aiohttp
from yarl import URL

from kadm.members.proxy import proxy_for
from kadm.model.policy import WebhookConfiguration
from kadm.model.webhook import WebhookCall, WebhookReply, configuration_fault, timeout_s
from kadm.webhooks.tls import TLSFault, tls_context
from kadm.webhooks.url import joined

_HEADERS = {
    "Content-Type": "application/json",
    "Accept": "application/json",
    "Accept-Encoding": "identity",  # a compressed answer could hold any amount
    "User-Agent": "kubeadmiral-scheduler",  # what webhooks for KubeAdmiral expect
}
_AT_ONCE = 100
"""Calls that run side by side; one that waits for its turn does not use up its time."""

_MOST_BYTES = 1 << 20
"""An answer is a few bytes, or the names of all members: one that is larger is none."""

_MOST_REDIRECTS = 10


@dataclass(frozen=True, slots=True)
class _Target:
    """How one plugin is called."""

    prefix: str
    timeout_s: float
    tls: ssl.SSLContext
    server_name: str | None


class WebhookClient:
    """Calls the webhook plugins of a repository. A context manager; its thread and sockets end with the block.

    ``environ`` (default: the process's) names proxies. It is a ``WebhookTransport``.
    """

    def __init__(
        self, webhooks: Mapping[str, WebhookConfiguration], *, environ: Mapping[str, str] | None = None
    ) -> None:
        self._environ = os.environ if environ is None else environ
        self._targets: dict[str, _Target] = {}
        self._faults: dict[str, str] = {}
        for name, webhook in webhooks.items():
            self._add(name, webhook)
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="webhooks")
        self._runner = asyncio.Runner()
        self._session: aiohttp.ClientSession | None = None
        self._waiting: asyncio.Task[list[WebhookReply]] | None = None

    def _add(self, name: str, webhook: WebhookConfiguration) -> None:
        spec = webhook.spec
        fault = configuration_fault(spec)
        if fault:
            self._faults[name] = fault
            return
        try:
            tls = tls_context(spec.tls_config)
        except TLSFault as error:
            self._faults[name] = str(error)
            return
        server_name = (spec.tls_config.server_name if spec.tls_config else "") or None
        self._targets[name] = _Target(spec.url_prefix, timeout_s(spec), tls, server_name)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._waiting is not None:  # whoever asked was interrupted: nobody wants the answers any more
            self._waiting.get_loop().call_soon_threadsafe(self._waiting.cancel)
        if self._session is not None:
            self._thread.submit(self._close, self._session).result()
        self._thread.shutdown()

    def fault(self, hook: str) -> str:
        """Why this plugin cannot be called at all; empty where it can."""
        return self._faults.get(hook, "")

    def call_many(self, calls: Sequence[WebhookCall]) -> Sequence[WebhookReply]:
        """What came of each call, in their order; they run side by side."""
        return self._thread.submit(self._run, calls).result()

    def _run(self, calls: Sequence[WebhookCall]) -> list[WebhookReply]:
        return self._runner.run(self._answers(calls))

    def _close(self, session: aiohttp.ClientSession) -> None:
        self._runner.run(session.close())
        self._runner.close()

    async def _answers(self, calls: Sequence[WebhookCall]) -> list[WebhookReply]:
        self._waiting = asyncio.create_task(self._all(calls), name="webhooks")
        try:
            return await self._waiting
        finally:
            self._waiting = None

    async def _all(self, calls: Sequence[WebhookCall]) -> list[WebhookReply]:
        if self._session is None:
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0),
                cookie_jar=aiohttp.DummyCookieJar(),
                headers=_HEADERS,
                auto_decompress=False,
            )
        session = self._session
        slots = asyncio.Semaphore(_AT_ONCE)

        async def one(call: WebhookCall) -> WebhookReply:
            async with slots:
                return await self._call(session, call)

        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(one(call), name=f"webhook {call.hook}") for call in calls]
        return [task.result() for task in tasks]

    async def _call(self, session: aiohttp.ClientSession, call: WebhookCall) -> WebhookReply:
        target = self._targets[call.hook]
        url = URL(joined(target.prefix, call.path), encoded=True)
        shown = str(url.with_user(None))
        try:
            async with asyncio.timeout(target.timeout_s):
                return await self._answer(session, call, target, url)
        except TimeoutError:
            return WebhookReply(failure=f"no answer from {shown} within {target.timeout_s:g} s")
        except aiohttp.TooManyRedirects:
            return WebhookReply(failure=f"{shown} redirects more than {_MOST_REDIRECTS} times")
        except (aiohttp.ClientError, OSError, ValueError) as error:
            return WebhookReply(failure=f"no answer from {shown}: {_words(error)}")

    async def _answer(
        self, session: aiohttp.ClientSession, call: WebhookCall, target: _Target, url: URL
    ) -> WebhookReply:
        async with session.post(
            url,
            data=call.body,
            ssl=target.tls,
            server_hostname=target.server_name,
            proxy=proxy_for(str(url), self._environ),
            max_redirects=_MOST_REDIRECTS,
            timeout=aiohttp.ClientTimeout(total=None),  # the whole call has its own
        ) as response:
            body = bytearray()
            async for chunk in response.content.iter_any():
                body += chunk
                if len(body) > _MOST_BYTES:
                    return WebhookReply(failure=f"its answer is larger than {_MOST_BYTES} bytes")
            return WebhookReply(status=response.status, body=bytes(body))


def _words(error: Exception) -> str:
    """A library's error in a few words, without what it repeats of the request."""
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        return f"its certificate is not trusted: {error.certificate_error}"
    if isinstance(error, aiohttp.ClientConnectorError):
        return str(error.os_error)
    return str(error) or type(error).__name__
