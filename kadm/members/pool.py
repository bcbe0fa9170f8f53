"""The connections to all members of a fleet, opened together and independent of each other."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeVar

from kadm.errors import MemberError, UsageError
from kadm.members.connection import DEFAULT_REQUEST_TIMEOUT_S, Connection
from kadm.members.credentials import Credentials
from kadm.members.kubeconfig import Kubeconfigs
from kadm.members.observe import observe_member, without_twins
from kadm.members.together import together
from kadm.model.cluster import FederatedCluster
from kadm.model.observation import MemberState, Observation, Unread
from kadm.model.repository import Repo

DEFAULT_PARALLEL = 32
T = TypeVar("T")


@dataclass(frozen=True)
class MemberPool:
    """Open connections by member name (sorted), and the members that cannot even be addressed, with the reason."""

    fleet: str
    connections: Mapping[str, Connection]
    unread: Mapping[str, Unread]
    parallel: int = DEFAULT_PARALLEL

    def connection(self, name: str) -> Connection:
        """The connection of one member. Raises KeyError where there is none."""
        return self.connections[name]

    async def each(
        self, work: Callable[[Connection], Awaitable[T]], *, names: Collection[str] | None = None
    ) -> dict[str, T | Unread]:
        """What ``work`` gives for each member (None: all of the pool), by name, sorted.

        Members run side by side, ``parallel`` at a time, and independently: a MemberError in one becomes its
        ``Unread``. Any other exception ends all of them.
        """
        chosen = sorted(name for name in {*self.connections, *self.unread} if names is None or name in names)
        slots = asyncio.Semaphore(self.parallel)
        results: dict[str, T | Unread] = {name: self.unread[name] for name in chosen if name in self.unread}

        async def run(name: str, connection: Connection) -> None:
            async with slots:
                try:
                    results[name] = await work(connection)
                except MemberError as error:
                    results[name] = Unread(name, error.problem)

        await together(
            {f"member {name}": run(name, self.connections[name]) for name in chosen if name in self.connections}
        )
        return {name: results[name] for name in chosen}

    async def observe(self, *, capacity: bool = False) -> Observation:
        """The state of every member of the pool; ``capacity`` reads nodes and pods too.

        Raises MemberError where two members are the same cluster: nothing sensible can be planned then.
        """

        async def read(connection: Connection) -> MemberState:
            return await observe_member(connection, self.fleet, capacity=capacity)

        return without_twins(Observation(MappingProxyType(await self.each(read))))


@asynccontextmanager
async def open_members(
    repo: Repo,
    *,
    read_only: bool = True,
    request_timeout_s: float = DEFAULT_REQUEST_TIMEOUT_S,
    parallel: int = DEFAULT_PARALLEL,
    only: Collection[str] | None = None,
    environ: Mapping[str, str] | None = None,
) -> AsyncIterator[MemberPool]:
    """Connections to the members of ``repo`` for the time of the block; ``only`` names some of them (None: all).

    Nothing is sent yet, except that exec plugins of kubeconfigs run. ``environ`` is the process environment by
    default. Raises UsageError where ``only`` names no member; every other fault is that member's ``unread``.
    """
    unknown = sorted(set(only or ()) - {cluster.name for cluster in repo.clusters})
    if unknown:
        raise UsageError(
            f"no such member: {', '.join(unknown)}",
            hint=f"members are: {', '.join(cluster.name for cluster in repo.clusters) or 'none'}",
        )
    clusters = [cluster for cluster in repo.clusters if only is None or cluster.name in only]
    environment = os.environ if environ is None else environ
    credentials = Credentials(Kubeconfigs(repo.root, environment), environment)
    slots = asyncio.Semaphore(parallel)
    unread: dict[str, Unread] = {}
    connections: dict[str, Connection] = {}

    async with AsyncExitStack() as stack:

        async def open_one(cluster: FederatedCluster) -> None:
            try:
                async with slots:
                    access = await credentials.access(cluster, timeout_s=request_timeout_s)
            except MemberError as error:
                unread[cluster.name] = Unread(cluster.name, error.problem)
                return
            connection = Connection(cluster.name, access, request_timeout_s=request_timeout_s, read_only=read_only)
            connections[cluster.name] = await stack.enter_async_context(connection)

        await together({f"open {cluster.name}": open_one(cluster) for cluster in clusters})
        yield MemberPool(
            repo.fleet.name,
            MappingProxyType(dict(sorted(connections.items()))),
            MappingProxyType(dict(sorted(unread.items()))),
            parallel,
        )
