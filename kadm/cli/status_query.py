"""Which objects a status is asked of, and the answer."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

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
    daemon: str | None = None
    token_file: Path | None = None
    native: bool = False
    """Whether native objects are wanted, which a daemon is asked for only then."""


async def answer(query: StatusQuery) -> FleetStatus:
    """The status of what the query names: of the daemon, if it names one, else of the members."""
    if query.daemon is not None:
        return await _of_daemon(query, query.daemon)
    if query.token_file is not None:
        raise UsageError("--token-file needs --daemon", hint="members are reached by their kubeconfigs")
    from kadm.members.pool import open_members
    from kadm.survey import survey

    repo = with_members(load(query.directory))
    keys = _keys(repo, query)
    async with open_members(
        repo, request_timeout_s=query.request_timeout_s, parallel=query.parallel, only=query.only
    ) as pool:
        return await survey(repo, pool, keys, now=datetime.now(UTC))


async def _of_daemon(query: StatusQuery, url: str) -> FleetStatus:
    """What the daemon knows of what the query names. The repository and the members are not asked."""
    from kadm.status import narrowed
    from kadm.watch.client import ask

    if query.native and query.only:
        raise UsageError(
            "-o yaml shows the status over all members", hint="leave --cluster out, or ask without --daemon"
        )
    found = await ask(url, token_file=query.token_file, native=query.native, timeout_s=query.request_timeout_s)
    status = found.status
    wanted = set(_named(found.labels, query, list(found.labels)))
    workloads = tuple(one for one in status.workloads if one.key in wanted)
    if not query.only:
        return replace(status, workloads=workloads)
    unknown = sorted(set(query.only) - set(found.members))
    if unknown:
        raise UsageError(
            f"no such member: {', '.join(unknown)}", hint=f"members are: {', '.join(found.members) or 'none'}"
        )
    return replace(
        status,
        workloads=tuple(narrowed(one, query.only) for one in workloads),
        unread={name: problem for name, problem in status.unread.items() if name in query.only},
    )


def _keys(repo: Repo, query: StatusQuery) -> list[ObjectKey]:
    """The objects that the query names, in order of the repository."""
    labels = {one.key: one.object["metadata"].get("labels") or {} for one in repo.manifests}
    return _named(labels, query, [key for key in labels if workload_kind(key.group, key.kind)])


def _named(
    labels: Mapping[ObjectKey, Mapping[str, str]], query: StatusQuery, otherwise: Collection[ObjectKey]
) -> list[ObjectKey]:
    """Of the objects that there are (key → labels) those that the query names; ``otherwise`` where it names none."""
    if query.names:
        named = {key for text in query.names for key in resolve(text, labels, namespace=query.namespace)}
    else:
        named = set(otherwise)
    wanted = labels_of(query.selector)
    return [
        key
        for key, its in labels.items()
        if key in named and query.namespace in (None, key.namespace) and labels_match(wanted, its)
    ]


def labels_of(selector: str | None) -> dict[str, str]:
    """``k=v,k=v`` as a map. Raises UsageError for anything else."""
    found = {}
    for part in selector.split(",") if selector else ():
        name, equals, value = part.partition("=")
        if not equals or not name.strip():
            what = f"{part} is not of the form key=value" if part.strip() else "nothing stands beside a comma"
            raise UsageError(f'-l "{selector}": {what}', hint="for example -l app=web,tier=front")
        found[name.strip()] = value.removeprefix("=").strip()
    return found
