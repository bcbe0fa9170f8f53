"""Asking a daemon what it knows, as ``kadm status --daemon`` does."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from http import HTTPStatus
from pathlib import Path
from urllib.parse import urlsplit

import aiohttp
import msgspec
from msgspec import Struct

from kadm.errors import KadmError, Problem, UsageError
from kadm.model.objects import JsonObject, ObjectKey
from kadm.model.status import FleetStatus, Health, WorkloadInMember, WorkloadStatus
from kadm.watch.serving.access import read_token


class Answered(Struct, frozen=True, kw_only=True):
    """What a daemon says. ``labels`` are those of each workload in git, ``members`` all that the fleet has, sorted."""

    status: FleetStatus
    labels: Mapping[ObjectKey, Mapping[str, str]]
    members: tuple[str, ...]


class DaemonError(KadmError):
    """The daemon cannot be asked, or does not answer as one does."""


class _Copy(Struct, rename="camel"):
    cluster: str
    health: Health
    desired: int | None = None
    current: int | None = None
    updated: int | None = None
    ready: int | None = None
    available: int | None = None


class _Workload(Struct, rename="camel"):
    group: str
    version: str
    kind: str
    namespace: str
    name: str
    health: Health
    labels: dict[str, str] = {}
    desired: int | None = None
    ready: int | None = None
    members: list[_Copy] = []
    native: JsonObject | None = None


class _Workloads(Struct, tag_field="kind", tag="FleetStatus", rename="camel"):
    fleet: str
    workloads: list[_Workload]
    unread: list[Problem] = []


class _Cluster(Struct):
    name: str


class _Clusters(Struct, tag_field="kind", tag="ClusterList"):
    clusters: list[_Cluster]


async def ask(url: str, *, token_file: Path | None, native: bool, timeout_s: float) -> Answered:
    """The status of the whole fleet as the daemon at ``url`` knows it, with native objects if ``native``.

    Raises UsageError for an address or a token file that cannot be used, and DaemonError.
    """
    base = _base(url)
    headers = {"Authorization": f"Bearer {read_token(token_file)}"} if token_file is not None else {}
    wanted = (f"{base}/api/v1/workloads?native={str(native).lower()}", f"{base}/api/v1/clusters")
    try:
        async with aiohttp.ClientSession(headers=headers, timeout=aiohttp.ClientTimeout(total=timeout_s)) as client:
            workloads, clusters = await asyncio.gather(*(_get(client, one, token_file) for one in wanted))
    except (aiohttp.ClientError, OSError) as error:
        why = "no answer in time" if isinstance(error, TimeoutError) else str(error)
        raise DaemonError(f"the daemon at {base} cannot be asked", why=why, hint="is kadm watch running?") from error
    try:
        found = msgspec.json.decode(workloads, type=_Workloads)
        members = msgspec.json.decode(clusters, type=_Clusters)
    except msgspec.DecodeError as error:
        raise DaemonError(f"{base} does not answer as kadm watch does", why=str(error)) from error
    return Answered(
        status=FleetStatus(
            fleet=found.fleet,
            workloads=tuple(_workload(one) for one in found.workloads),
            unread={problem.member: problem for problem in found.unread},
        ),
        labels={_key(one): one.labels for one in found.workloads},
        members=tuple(one.name for one in members.clusters),
    )


async def _get(client: aiohttp.ClientSession, url: str, token_file: Path | None) -> bytes:
    async with client.get(url, allow_redirects=False) as answer:
        if answer.status == HTTPStatus.UNAUTHORIZED and token_file is not None:
            hint = "name the file that the daemon's own --token-file names, or one with the same token"
            raise DaemonError(f"the token in {token_file} is not the daemon's", hint=hint)
        if answer.status == HTTPStatus.UNAUTHORIZED:
            raise DaemonError("the daemon wants its token", hint="--token-file FILE names it")
        if answer.status != HTTPStatus.OK:
            raise DaemonError(f"the daemon answers {answer.status} {answer.reason or ''}".rstrip())
        return await answer.read()


def _base(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.query:
        raise UsageError(f"--daemon {url} is no address of a daemon", hint="for example http://127.0.0.1:5236")
    return url.rstrip("/")


def _key(one: _Workload) -> ObjectKey:
    return ObjectKey(one.group, one.kind, one.namespace, one.name)


def _workload(one: _Workload) -> WorkloadStatus:
    return WorkloadStatus(
        key=_key(one),
        version=one.version,
        health=one.health,
        desired=one.desired,
        ready=one.ready,
        members=tuple(
            WorkloadInMember(
                member=copy.cluster,
                health=copy.health,
                desired=copy.desired,
                current=copy.current,
                updated=copy.updated,
                ready=copy.ready,
                available=copy.available,
            )
            for copy in one.members
        ),
        aggregated=one.native,
    )
