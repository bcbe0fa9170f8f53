"""Plays what a member of a test has no machines for: nodes, kubelets, and a provisioner of volumes.

Nodes report capacity and Ready. Pods that the real scheduler bound become Running at once, those of Jobs Succeeded;
what is deleted goes at once. A pod's annotation ``fake/phase`` chooses another phase. A claim gets a volume. Where a
test says of a node that it is not ready, its pods are not either: nodes that send no heartbeats would all be lost at
once to the controller that otherwise sees to that.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

import aiohttp
import msgspec

MERGE = "application/merge-patch+json"
PHASE = "fake/phase"
CAPACITY = {"cpu": "4", "memory": "8Gi", "ephemeral-storage": "20Gi", "pods": "110"}
LOST = {"key": "node.kubernetes.io/unreachable", "effect": "NoSchedule"}
NOT_THERE = 404
GONE = 409
"""404: it is gone. 409: it, or its uid, is another one by now. Neither needs anything more."""

Json = Any
Handler = Callable[[Json], Awaitable[None]]


class Machines:
    """The machines of one member. ``session`` sends the administrator's token, ``url`` is the API server's."""

    def __init__(self, session: aiohttp.ClientSession, url: str) -> None:
        self._session = session
        self._url = url
        self._addresses = _addresses()

    async def play(self, nodes: int) -> None:
        """Make the nodes, then answer to pods and claims until cancelled."""
        for number in range(nodes):
            await self._register(f"node-{number}")
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._follow("/api/v1/pods", self._pod), name="kubelets")
            tasks.create_task(self._follow("/api/v1/nodes", self._node), name="node lifecycle")
            tasks.create_task(self._follow("/api/v1/persistentvolumeclaims", self._claim), name="provisioner")
            tasks.create_task(self._follow("/api/v1/persistentvolumes", self._volume), name="reclaimer")

    async def _register(self, name: str) -> None:
        labels = {"kubernetes.io/hostname": name, "kubernetes.io/os": "linux"}
        node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}}
        ready = {"type": "Ready", "status": "True", "reason": "Played", "lastTransitionTime": _now()}
        await self._call("POST", "/api/v1/nodes", node)
        # An admission plugin taints a new node until its kubelet is ready.
        await self._call("PATCH", f"/api/v1/nodes/{name}", {"spec": {"taints": None}}, MERGE)
        status = {"capacity": CAPACITY, "allocatable": CAPACITY, "conditions": [ready]}
        await self._call("PATCH", f"/api/v1/nodes/{name}/status", {"status": status}, MERGE)

    async def _follow(self, path: str, handle: Handler) -> None:
        """Hand every object of a kind over, when it is there and whenever it changes."""
        while True:
            listed = await self._call("GET", path)
            for item in listed.get("items") or ():
                await handle(item)
            query = {"watch": "1", "resourceVersion": listed["metadata"]["resourceVersion"]}
            async with self._events(path, query) as events:
                async for event in events:
                    if event["type"] == "ERROR":  # the version is too old by now: list again
                        break
                    if event["type"] in ("ADDED", "MODIFIED"):
                        await handle(event["object"])

    @asynccontextmanager
    async def _events(self, path: str, query: dict[str, str]) -> AsyncIterator[AsyncIterator[Json]]:
        forever = aiohttp.ClientTimeout(total=None)
        async with self._session.get(self._url + path, params=query, timeout=forever) as answer:
            answer.raise_for_status()
            yield _lines(answer.content)

    async def _pod(self, pod: Json) -> None:
        metadata, status = pod["metadata"], pod.get("status", {})
        path = f"/api/v1/namespaces/{metadata['namespace']}/pods/{metadata['name']}"
        leaves, waits = "deletionTimestamp" in metadata, status.get("phase") == "Pending"
        if not (leaves or waits) or not await self._has_kubelet(pod["spec"].get("nodeName", "")):
            return
        if leaves:
            await self._call("DELETE", path, {"gracePeriodSeconds": 0, "preconditions": {"uid": metadata["uid"]}})
        elif (phase := _phase(pod)) != "Pending":
            await self._call("PATCH", f"{path}/status", {"status": self._status(pod, phase)}, MERGE)

    async def _has_kubelet(self, node: str) -> bool:
        """Whether somebody answers for the node: a pod may name one that does not exist."""
        return bool(node) and (await self._call("GET", f"/api/v1/nodes/{node}"))["kind"] == "Node"

    def _status(self, pod: Json, phase: str) -> Json:
        now = _now()
        runs = phase == "Running"
        ended = {"exitCode": int(phase == "Failed"), "reason": "Completed", "startedAt": now, "finishedAt": now}
        state = {"running": {"startedAt": now}} if runs else {"terminated": ended}
        containers = [
            {
                "name": one["name"],
                "image": one["image"],
                "imageID": one["image"],
                "ready": runs,
                "started": runs,
                "restartCount": 0,
                "state": state,
                "lastState": {},
            }
            for one in pod["spec"]["containers"]
        ]
        true = {"PodScheduled": True, "Initialized": True, "ContainersReady": runs, "Ready": runs}
        return {
            "phase": phase,
            "startTime": now,
            "hostIP": "10.0.0.1",
            "podIP": next(self._addresses),
            "containerStatuses": containers,
            "conditions": [
                {"type": name, "status": str(holds), "lastTransitionTime": now} for name, holds in true.items()
            ],
        }

    async def _node(self, node: Json) -> None:
        """Keep pods from a node that is not ready, and have it known that those on it are not."""
        name = node["metadata"]["name"]
        if all(one["status"] == "True" for one in _conditions(node) if one["type"] == "Ready"):
            return
        if LOST not in [{field: taint[field] for field in LOST} for taint in node["spec"].get("taints") or ()]:
            await self._call("PATCH", f"/api/v1/nodes/{name}", {"spec": {"taints": [LOST]}}, MERGE)
        for pod in (await self._call("GET", f"/api/v1/pods?fieldSelector=spec.nodeName%3D{name}"))["items"]:
            ready = {"type": "Ready", "status": "False", "reason": "NodeNotReady", "lastTransitionTime": _now()}
            kept = [one for one in _conditions(pod) if one["type"] != "Ready"]
            path = f"/api/v1/namespaces/{pod['metadata']['namespace']}/pods/{pod['metadata']['name']}/status"
            await self._call("PATCH", path, {"status": {"conditions": [*kept, ready]}}, MERGE)

    async def _claim(self, claim: Json) -> None:
        """Give a claim a volume of its own; the controller manager binds the two."""
        metadata, spec = claim["metadata"], claim["spec"]
        if claim.get("status", {}).get("phase") != "Pending" or spec.get("volumeName"):
            return
        volume = {
            "apiVersion": "v1",
            "kind": "PersistentVolume",
            "metadata": {"name": f"pvc-{metadata['uid']}"},
            "spec": {
                "accessModes": spec["accessModes"],
                "capacity": spec["resources"]["requests"],
                "claimRef": {name: metadata[name] for name in ("name", "namespace", "uid")},
                "hostPath": {"path": "/nowhere"},
                "persistentVolumeReclaimPolicy": "Retain",
                "storageClassName": spec.get("storageClassName", ""),
            },
        }
        await self._call("POST", "/api/v1/persistentvolumes", volume)

    async def _volume(self, volume: Json) -> None:
        if volume.get("status", {}).get("phase") == "Released":
            await self._call("DELETE", f"/api/v1/persistentvolumes/{volume['metadata']['name']}", {})

    async def _call(self, method: str, path: str, body: Json = None, media_type: str = "application/json") -> Json:
        data = None if body is None else msgspec.json.encode(body)
        headers = {"Content-Type": media_type}
        async with self._session.request(method, self._url + path, data=data, headers=headers) as answer:
            text = await answer.read()
            if answer.status not in (NOT_THERE, GONE):
                answer.raise_for_status()
            return msgspec.json.decode(text)


def _conditions(obj: Json) -> list[Json]:
    return obj.get("status", {}).get("conditions") or []


def _phase(pod: Json) -> str:
    metadata = pod["metadata"]
    of_a_job = any(owner["kind"] == "Job" for owner in metadata.get("ownerReferences", ()))
    chosen: str = metadata.get("annotations", {}).get(PHASE, "Succeeded" if of_a_job else "Running")
    return chosen


async def _lines(stream: aiohttp.StreamReader) -> AsyncIterator[Json]:
    """The JSON documents of a watch, however long their lines are."""
    waiting = b""
    async for part in stream.iter_any():
        *lines, waiting = (waiting + part).split(b"\n")
        for line in lines:
            yield msgspec.json.decode(line)


def _addresses() -> Iterator[str]:
    return (f"10.{one // 65536 % 256}.{one // 256 % 256}.{one % 256}" for one in itertools.count(1))


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
