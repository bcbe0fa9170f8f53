"""Which objects a status is asked of, and the answer."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from msgspec import Struct

from kadm.cli.names import resolve
from kadm.cli.planning import load, with_members
from kadm.errors import UsageError
from kadm.model.objects import ObjectKey
from kadm.model.repository import Repo
from kadm.model.selector import labels_match
from kadm.model.status import FleetStatus
from kadm.model.workload import workload_kind


class StatusQuery(Struct, frozen=True, kw_only=True):
    """What ``kadm status`` was asked."""

    directory: Path
    names: list[str]
    namespace: str | None = None
    selector: str | None = None
    only: list[str] | None = None
    request_timeout_s: float = 30.0
    parallel: int = 32


async def answer(query: StatusQuery) -> FleetStatus:
    """The status of what the query names."""
    from kadm.members.pool import open_members
    from kadm.survey import survey

    repo = with_members(load(query.directory))
    keys = _keys(repo, query)
    async with open_members(
        repo, request_timeout_s=query.request_timeout_s, parallel=query.parallel, only=query.only
    ) as pool:
        return await survey(repo, pool, keys, now=datetime.now(UTC))


def _keys(repo: Repo, query: StatusQuery) -> list[ObjectKey]:
    """The objects that the query names, in order of the repository."""
    manifests = {manifest.key: manifest for manifest in repo.manifests}
    if query.names:
        named = {key for text in query.names for key in resolve(text, manifests, namespace=query.namespace)}
    else:
        named = {key for key in manifests if workload_kind(key.group, key.kind)}
    wanted = _labels(query.selector)
    return [
        key
        for key, manifest in manifests.items()
        if key in named
        and query.namespace in (None, key.namespace)
        and labels_match(wanted, manifest.object["metadata"].get("labels") or {})
    ]


def _labels(selector: str | None) -> dict[str, str]:
    """``k=v,k=v`` as a map. Raises UsageError for anything else."""
    found = {}
    for part in (selector or "").split(","):
        if part:
            name, equals, value = part.partition("=")
            if not equals or not name:
                raise UsageError(f"-l {selector}: {part} is not of the form key=value")
            found[name.strip()] = value.lstrip("=").strip()
    return found
