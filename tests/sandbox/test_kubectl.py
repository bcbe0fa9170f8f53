"""kubectl works against a member: discovery, protobuf and JSON bodies, tables, patches, watches."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from tests.sandbox.conversations import controlled_member

KUBECTL = shutil.which("kubectl", path=os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", ""))))
pytestmark = pytest.mark.skipif(KUBECTL is None, reason="there is no kubectl")

DEPLOYMENT = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "web"},
    "spec": {
        "replicas": 2,
        "selector": {"matchLabels": {"app": "web"}},
        "template": {
            "metadata": {"labels": {"app": "web"}},
            "spec": {"containers": [{"name": "web", "image": "nginx:1.25"}]},
        },
    },
}

Run = Callable[..., Awaitable[str]]


def with_kubectl(directory: Path, scenario: Callable[[Run], Awaitable[Any]]) -> Any:
    """What ``scenario`` returns; it gets a function that runs kubectl and returns what it printed."""

    async def play() -> Any:
        async with controlled_member() as server, asyncio.timeout(60):
            config = {
                "apiVersion": "v1",
                "kind": "Config",
                "clusters": [{"name": "m", "cluster": {"server": server.url, "insecure-skip-tls-verify": True}}],
                "users": [{"name": "u", "user": {"token": server.token}}],
                "contexts": [{"name": "c", "context": {"cluster": "m", "user": "u"}}],
                "current-context": "c",
            }
            path = directory / "kubeconfig"
            path.write_text(json.dumps(config), encoding="utf-8")

            async def run(*arguments: str, stdin: object = None) -> str:
                assert KUBECTL is not None
                process = await asyncio.create_subprocess_exec(
                    KUBECTL,
                    *arguments,
                    stdin=asyncio.subprocess.PIPE,
                    stdout=asyncio.subprocess.PIPE,
                    stderr=asyncio.subprocess.STDOUT,
                    env={"KUBECONFIG": str(path), "HOME": str(directory), "PATH": ""},
                )
                output, _ = await process.communicate(json.dumps(stdin).encode() if stdin is not None else None)
                assert process.returncode == 0, output.decode()
                return output.decode().strip()

            return await scenario(run)

    return asyncio.run(play())


def test_a_workload_is_applied_scaled_shown_and_deleted(tmp_path: Path) -> None:
    async def scenario(run: Run) -> list[str]:
        applied = await run("apply", "--server-side", "-f", "-", stdin=DEPLOYMENT)
        await run("scale", "deployment/web", "--replicas=3")
        await run("rollout", "status", "deployment/web", "--timeout=20s")
        columns = "custom-columns=READY:.status.readyReplicas,IMAGE:.spec.template.spec.containers[0].image"
        custom = await run("get", "deployment", "web", "--no-headers", "-o", columns)
        table = await run("get", "deployment", "web", "--no-headers")
        described = await run("describe", "deployment", "web")
        deleted = await run("delete", "deployment", "web")
        return [
            applied,
            " ".join(custom.split()),
            " ".join(table.split()[:4]),
            "3 desired | 3 updated | 3 total | 3 available" if "3 available" in described else described,
            deleted,
        ]

    assert with_kubectl(tmp_path, scenario) == [
        "deployment.apps/web serverside-applied",
        "3 nginx:1.25",
        "web 3/3 3 3",
        "3 desired | 3 updated | 3 total | 3 available",
        'deployment.apps "web" deleted from default namespace',
    ]


def test_kinds_are_created_from_flags(tmp_path: Path) -> None:
    """These bodies are protobuf."""

    async def scenario(run: Run) -> list[str]:
        await run("create", "namespace", "shop")
        await run("-n", "shop", "create", "configmap", "settings", "--from-literal=a=b")
        await run("-n", "shop", "create", "secret", "generic", "key", "--from-literal=k=v")
        await run("-n", "shop", "create", "role", "reader", "--verb=get,list", "--resource=pods")
        await run("-n", "shop", "create", "serviceaccount", "bot")
        await run("-n", "shop", "create", "rolebinding", "bot", "--role=reader", "--serviceaccount=shop:bot")
        bot = "--as=system:serviceaccount:shop:bot"
        return [
            await run("-n", "shop", "get", "configmap", "settings", "-o", "jsonpath={.data.a}"),
            await run("-n", "shop", "get", "secret", "key", "-o", "jsonpath={.data.k}"),
            await run("-n", "shop", "auth", "can-i", "list", "pods", bot),
            await run("auth", "can-i", "create", "deployments.apps"),
        ]

    assert with_kubectl(tmp_path, scenario) == ["b", "dg==", "yes", "yes"]


def test_objects_are_patched_labelled_and_applied_from_the_client(tmp_path: Path) -> None:
    async def scenario(run: Run) -> list[str]:
        first = await run("apply", "-f", "-", stdin=DEPLOYMENT)
        again = await run("apply", "-f", "-", stdin=DEPLOYMENT)
        await run("patch", "deployment", "web", "--type=merge", "-p", '{"spec":{"paused":true}}')
        await run("patch", "deployment", "web", "--type=json", "-p", '[{"op":"remove","path":"/spec/paused"}]')
        await run("set", "image", "deployment/web", "web=nginx:1.26")
        await run("label", "deployment", "web", "team=a")
        path = "jsonpath={.metadata.labels.team} {.spec.paused}{.spec.template.spec.containers[*].image}"
        return [first, again, await run("get", "deployment", "web", "-o", path)]

    assert with_kubectl(tmp_path, scenario) == [
        "deployment.apps/web created",
        "deployment.apps/web unchanged",
        "a nginx:1.26",
    ]


def test_a_wait_ends_with_what_it_waits_for(tmp_path: Path) -> None:
    async def scenario(run: Run) -> str:
        await run("create", "deployment", "web", "--image=nginx:1.25")
        return await run("wait", "deployment/web", "--for=condition=Available", "--timeout=20s")

    assert with_kubectl(tmp_path, scenario) == "deployment.apps/web condition met"
