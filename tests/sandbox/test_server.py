"""A member over HTTP: framing of watches, limits, media types."""

from __future__ import annotations

import asyncio
import io
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import yaml

from kadm.sandbox.server import MAX_BODY_BYTES
from tests.sandbox.conversations import sandbox_member

CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"


@asynccontextmanager
async def a_client() -> AsyncIterator[aiohttp.ClientSession]:
    async with sandbox_member() as server:
        headers = {"Authorization": f"Bearer {server.token}"}
        async with aiohttp.ClientSession(server.url, headers=headers) as session:
            yield session


def with_client(scenario: Callable[[aiohttp.ClientSession], Awaitable[Any]]) -> Any:
    async def run() -> Any:
        async with a_client() as session, asyncio.timeout(10):
            return await scenario(session)

    return asyncio.run(run())


def a_config_map(name: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}}


def test_a_watch_sends_each_event_as_it_happens() -> None:
    async def scenario(session: aiohttp.ClientSession) -> list[tuple[str, str]]:
        seen = []
        await session.post(CONFIG_MAPS, json=a_config_map("a"))
        async with session.get(CONFIG_MAPS, params={"watch": "1", "timeoutSeconds": "5"}) as response:
            for name in ("a", "b"):  # the second is made only once the first was read
                event = json.loads(await response.content.readline())
                seen.append((event["type"], event["object"]["metadata"]["name"]))
                if name == "a":
                    await session.post(CONFIG_MAPS, json=a_config_map("b"))
        return seen

    assert with_client(scenario) == [("ADDED", "a"), ("ADDED", "b")]


def test_a_watch_ends_when_its_time_is_over() -> None:
    async def scenario(session: aiohttp.ClientSession) -> bytes:
        async with session.get(CONFIG_MAPS, params={"watch": "1", "timeoutSeconds": "1"}) as response:
            return await response.read()

    assert with_client(scenario) == b""


def test_a_large_body_is_taken_and_a_larger_one_refused() -> None:
    async def scenario(session: aiohttp.ClientSession) -> list[int]:
        statuses = []
        for size in (2 * 1024 * 1024, MAX_BODY_BYTES + 1):
            body = io.BytesIO(json.dumps({**a_config_map("a"), "unknown": "x" * size}).encode())
            async with session.post(CONFIG_MAPS, data=body, headers={"Content-Type": "application/json"}) as response:
                statuses.append(response.status)
        return statuses

    assert with_client(scenario) == [201, 413]


def test_answers_come_as_yaml_where_it_is_accepted() -> None:
    async def scenario(session: aiohttp.ClientSession) -> tuple[str, Any]:
        headers = {"Accept": "application/yaml"}
        async with session.get("/api/v1/namespaces/default", headers=headers) as response:
            return response.content_type, yaml.safe_load(await response.text())["metadata"]["name"]

    assert with_client(scenario) == ("application/yaml", "default")


def test_aggregated_discovery_says_that_it_is() -> None:
    async def scenario(session: aiohttp.ClientSession) -> str:
        accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
        async with session.get("/apis", headers={"Accept": accept}) as response:
            return response.headers["Content-Type"]

    assert with_client(scenario) == "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"


def test_warnings_are_headers() -> None:
    async def scenario(session: aiohttp.ClientSession) -> list[str]:
        async with session.post(CONFIG_MAPS, json={**a_config_map("a"), "x": 1, "y": 2}) as response:
            return response.headers.getall("Warning")

    assert with_client(scenario) == ['299 - "unknown field \\"x\\""', '299 - "unknown field \\"y\\""']
