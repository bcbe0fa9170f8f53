"""What a member serves: every type of every served version, from aggregated discovery where there is one.

From 1.27 two requests tell everything (KEP-3352); before, each group version costs one. A group whose API server does
not answer is remembered as failed, never taken for one that serves nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache

import msgspec
from msgspec import Struct

from kadm.errors import MemberRefused
from kadm.members.connection import JSON, Connection
from kadm.members.together import together
from kadm.model.observation import ApiResource

_AGGREGATED = (
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,"
    "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,"
    f"{JSON}"
)
_STALE = "Stale"
_SHARED = 4096
"""Types that are remembered to be shared: all of a fleet whose members serve about the same."""


class Discovered(Struct, frozen=True):
    """The types that a member serves (sorted), and what could not be found out: ``group/version`` → reason (sorted)."""

    resources: tuple[ApiResource, ...]
    failed: Mapping[str, str] = {}


class _Kind(Struct):
    kind: str = ""
    group: str = ""
    version: str = ""


class _AggregatedResource(Struct, rename="camel"):
    resource: str
    scope: str
    response_kind: _Kind | None = None
    verbs: list[str] | None = None
    short_names: list[str] | None = None


class _AggregatedVersion(Struct):
    version: str
    resources: list[_AggregatedResource] | None = None
    freshness: str = ""


class _Metadata(Struct):
    name: str = ""


class _AggregatedGroup(Struct):
    """``metadata.name`` is the group, empty for core."""

    metadata: _Metadata = msgspec.field(default_factory=_Metadata)
    versions: list[_AggregatedVersion] | None = None


class _GroupVersion(Struct, rename="camel"):
    group_version: str


class _Group(Struct):
    versions: list[_GroupVersion] | None = None


class _Root(Struct):
    """The answer of ``/api`` or ``/apis``, aggregated (``items``) or not (``versions``, ``groups``)."""

    kind: str
    items: list[_AggregatedGroup] | None = None
    versions: list[str] | None = None
    groups: list[_Group] | None = None


class _Resource(Struct, rename="camel"):
    name: str
    kind: str
    namespaced: bool
    verbs: list[str] | None = None
    short_names: list[str] | None = None


class _ResourceList(Struct):
    resources: list[_Resource] | None = None


async def discover(connection: Connection) -> Discovered:
    """Everything the member serves. Raises MemberError where even the list of groups could not be read."""
    roots = await together({path: _read_root(connection, path) for path in ("/api", "/apis")})
    found: set[ApiResource] = set()
    failed: dict[str, str] = {}
    one_by_one: list[str] = []
    for root in roots.values():
        if root.kind == "APIGroupDiscoveryList":
            _collect(root.items or (), found, failed)
        else:
            one_by_one += root.versions or ()
            one_by_one += [version.group_version for group in root.groups or () for version in group.versions or ()]
    answers = await together({name: _read_group_version(connection, name) for name in one_by_one})
    for name, answer in answers.items():
        if isinstance(answer, str):
            failed[name] = answer
        else:
            found.update(answer)
    return Discovered(tuple(sorted(found)), dict(sorted(failed.items())))


async def _read_root(connection: Connection, path: str) -> _Root:
    answer = await connection.request("GET", path, accept=_AGGREGATED)
    return connection.decode(answer.body, _Root, path=path)


async def _read_group_version(connection: Connection, name: str) -> list[ApiResource] | str:
    """The types of one group version, or why they are unknown."""
    group, _, version = name.rpartition("/")
    path = f"/apis/{name}" if group else f"/api/{name}"
    try:
        listed = await connection.read(path, _ResourceList)
    except MemberRefused as refused:
        return refused.problem.why or refused.problem.what
    return [
        _shared(
            group,
            version,
            resource.kind,
            plural=resource.name,
            namespaced=resource.namespaced,
            verbs=tuple(sorted(resource.verbs or ())),
            short_names=tuple(resource.short_names or ()),
        )
        for resource in listed.resources or ()
        if "/" not in resource.name
    ]


@lru_cache(maxsize=_SHARED)
def _shared(
    group: str,
    version: str,
    kind: str,
    *,
    plural: str,
    namespaced: bool,
    verbs: tuple[str, ...],
    short_names: tuple[str, ...],
) -> ApiResource:
    """The type; the same object for each member that serves it alike, as nearly all do."""
    return ApiResource(
        group=group,
        version=version,
        kind=kind,
        plural=plural,
        namespaced=namespaced,
        verbs=verbs,
        short_names=short_names,
    )


def _collect(groups: Iterable[_AggregatedGroup], found: set[ApiResource], failed: dict[str, str]) -> None:
    """Sort aggregated groups into what is served and what may be out of date."""
    for group in groups:
        name = group.metadata.name
        for version in group.versions or ():
            if version.freshness == _STALE:
                failed[f"{name}/{version.version}" if name else version.version] = (
                    "its API server does not answer; what it serves may be out of date"
                )
            for resource in version.resources or ():
                kind = resource.response_kind or _Kind()
                if not kind.kind:
                    continue  # a subresource's shell: it has no kind of its own
                found.add(
                    _shared(
                        name,
                        version.version,
                        kind.kind,
                        plural=resource.resource,
                        namespaced=resource.scope == "Namespaced",
                        verbs=tuple(sorted(resource.verbs or ())),
                        short_names=tuple(resource.short_names or ()),
                    )
                )
