"""A member with controllers in this process, without HTTP and without delays."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from kadm.sandbox.api import ApiServer
from kadm.sandbox.controllers import ControllerLoop, all_controllers
from kadm.sandbox.controllers.kubelet import Delays
from kadm.sandbox.controllers.nodes import NodeSize, a_node
from kadm.sandbox.controllers.volumes import standard_class

Object = dict[str, Any]
WITHIN_S = 10.0
USER = "tester"


@dataclass(frozen=True)
class LiveMember:
    """The member's API, with waiting."""

    api: ApiServer

    def create(self, resource: str, obj: Object, namespace: str = "default") -> Object:
        """Create an object, in ``default`` unless another namespace ("" for none) is named."""
        metadata = {**obj["metadata"], **({"namespace": namespace} if namespace else {})}
        return self.api.create(resource, {**obj, "metadata": metadata}, manager=USER)

    async def until(self, holds: Callable[[], bool]) -> None:
        """Wait until ``holds``, looked at after every write. Raises TimeoutError."""
        watch = self.api.watch(None)
        try:
            async with asyncio.timeout(WITHIN_S):
                while not holds():
                    await watch.wait()
                    while watch.take():
                        pass
        finally:
            watch.close()

    def names(self, resource: str, namespace: str | None = "default") -> list[str]:
        """The names of the objects that are there."""
        return [obj["metadata"]["name"] for obj in self.api.list(resource, namespace)]


@asynccontextmanager
async def a_live_member(nodes: int = 2) -> AsyncIterator[LiveMember]:
    """A member with nodes of 4 CPU and 8Gi, settled."""
    api = ApiServer("member1", clock=lambda: datetime.now(UTC))
    for index in range(nodes):
        api.create("nodes", a_node(index, NodeSize(), api.version, api.clock()), manager="kubelet")
    api.create("storageclasses.storage.k8s.io", standard_class(), manager=USER)
    loop = ControllerLoop(api, all_controllers(api, Delays(0, 0, 0, 0), ca="CA"))
    task = asyncio.create_task(loop.run())
    try:
        await loop.settled()
        yield LiveMember(api)
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
