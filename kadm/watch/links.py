"""The daemon's connections: one per member for reading and applying, one for its own Leases and documents.

A connection is made when it is first needed, and made anew when the member was lost: a kubeconfig may have changed
meanwhile. Those that are replaced are closed when nobody uses them any more.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from kadm.errors import MemberError, Problem
from kadm.members.connection import Connection
from kadm.members.credentials import Credentials
from kadm.members.kubeconfig import Kubeconfigs
from kadm.members.pool import MemberPool
from kadm.model.cluster import FederatedCluster
from kadm.model.observation import Unread
from kadm.model.repository import Repo

READ_AGAIN_S = 10.0
"""Kubeconfigs are read again at most so often: one may hold hundreds of members."""


class Links:
    """Connections by member. Belongs to one event loop; ``close`` ends all of them."""

    def __init__(self, *, request_timeout_s: float, parallel: int, environ: Mapping[str, str] | None = None) -> None:
        self._request_timeout_s = request_timeout_s
        self._parallel = parallel
        self._environ = dict(os.environ if environ is None else environ)
        self._clusters: dict[str, FederatedCluster] = {}
        self._root = Path()
        self._credentials: Credentials | None = None
        self._read_s = 0.0
        self._readers: dict[str, Connection] = {}
        self._writers: dict[str, Connection] = {}
        self._retired: list[Connection] = []
        self._failures: dict[str, Counter[str]] = {}

    def use(self, repo: Repo) -> None:
        """Reach members as this repository says. Those that it reaches otherwise than before are connected anew."""
        known, self._clusters = self._clusters, {cluster.name: cluster for cluster in repo.clusters}
        self._root = Path(repo.root)
        self._credentials = None
        for name, cluster in known.items():
            now = self._clusters.get(name)
            if now is None or now.spec.kubeconfig != cluster.spec.kubeconfig:
                self.renew(name)

    def renew(self, name: str) -> None:
        """Connect to the member anew when it is needed next, with what its kubeconfig says then."""
        if self._read_s + READ_AGAIN_S < time.monotonic():
            self._credentials = None
        for connections in (self._readers, self._writers):
            if (old := connections.pop(name, None)) is not None:
                self._retired.append(old)

    async def reader(self, name: str) -> Connection:
        """The connection that plans read with and applies write with. Raises MemberError where there can be none."""
        return await self._open(self._readers, name, read_only=True)

    async def writer(self, name: str) -> Connection:
        """The connection for the daemon's own Leases and documents. Raises MemberError where there can be none."""
        return await self._open(self._writers, name, read_only=False)

    async def pool(self, fleet: str, *, lost: Mapping[str, Problem]) -> MemberPool:
        """All members, without those that are known to be lost: nobody waits for them."""
        connections: dict[str, Connection] = {}
        unread = {name: Unread(name, problem) for name, problem in lost.items() if name in self._clusters}
        for name in sorted(self._clusters.keys() - unread.keys()):
            try:
                connections[name] = await self.reader(name)
            except MemberError as error:
                unread[name] = Unread(name, error.problem)
        return MemberPool(
            fleet, MappingProxyType(connections), MappingProxyType(dict(sorted(unread.items()))), self._parallel
        )

    async def sweep(self) -> None:
        """Close what was replaced, and is not waited on; to be called while nothing is planned or applied."""
        idle = [one for one in self._retired if not one.busy]
        self._retired = [one for one in self._retired if one.busy]
        for connection in idle:
            await connection.close()

    async def close(self) -> None:
        """Close everything."""
        for name in list(self._readers | self._writers):
            self.renew(name)
        retired, self._retired = self._retired, []
        for connection in retired:
            await connection.close()

    async def _open(self, connections: dict[str, Connection], name: str, *, read_only: bool) -> Connection:
        if name in connections:
            return connections[name]
        cluster = self._clusters.get(name)
        if cluster is None:
            raise MemberError("it left the fleet", member=name)
        if self._credentials is None:
            self._read_s = time.monotonic()
            self._credentials = Credentials(Kubeconfigs(str(self._root), self._environ), self._environ)
        access = await self._credentials.access(cluster, timeout_s=self._request_timeout_s)
        connection = Connection(
            name,
            access,
            request_timeout_s=self._request_timeout_s,
            read_only=read_only,
            failures=self._failures.setdefault(name, Counter()),
        )
        await connection.__aenter__()
        if name in connections:  # somebody else was faster
            await connection.close()
            return connections[name]
        connections[name] = connection
        return connection
