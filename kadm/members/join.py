"""Making a cluster a member of the fleet: check it, prepare it, and describe it in the repository."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from kadm.errors import Location, MemberError, MemberRefused, Problem, UsageError
from kadm.members.cluster_file import file_of, shown, write_cluster
from kadm.members.connection import DEFAULT_REQUEST_TIMEOUT_S, Connection
from kadm.members.credentials import Credentials
from kadm.members.discovery import Discovered, discover
from kadm.members.document import ensure_namespace
from kadm.members.identity import read_uid, read_version
from kadm.members.kubeconfig import Kubeconfigs
from kadm.members.permissions import BOOKKEEPING, CAPACITY, lacking, missing_permissions, placing_permissions
from kadm.members.pool import DEFAULT_PARALLEL, open_members
from kadm.members.record import read_record
from kadm.model.cluster import FederatedCluster, FederatedClusterSpec, KubeconfigRef
from kadm.model.objects import GroupVersionKind
from kadm.model.observation import Unread
from kadm.model.repository import RECORD_NAMESPACE, Repo
from kadm.model.selector import SelectorError, check_labels

_NAME = re.compile(r"[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?")


class Joined(Struct, frozen=True, kw_only=True):
    """A member that joined, or had joined before.

    ``file`` describes it, and ``file_changed`` says whether it was written now. ``warnings`` are what will not work, or
    could not be checked.
    """

    name: str
    uid: str
    version: str
    file: str
    file_changed: bool
    namespace_created: bool
    warnings: tuple[Problem, ...] = ()


async def join(
    repo: Repo,
    name: str,
    *,
    context: str | None = None,
    kubeconfig: str | None = None,
    labels: Mapping[str, str] | None = None,
    request_timeout_s: float = DEFAULT_REQUEST_TIMEOUT_S,
    parallel: int = DEFAULT_PARALLEL,
    environ: Mapping[str, str] | None = None,
) -> Joined:
    """Join the cluster behind ``context`` as member ``name``. Joining again is fine and updates ``labels``.

    ``context`` None: as the member's file says, else the context called like the member. ``kubeconfig`` None: as the
    file says, else as kubectl finds it. Nothing is written, neither to the member nor to the repository, before
    everything is checked.

    Raises UsageError for a name, label or context that cannot be; MemberUnreachable where the cluster does not answer;
    MemberRefused where its credential may not do what kadm needs; MemberError where it is a member already, under
    another name.
    """
    environment = os.environ if environ is None else environ
    wanted = dict(labels or {})
    _check(name, wanted)
    candidate = _candidate(repo, name, context=context, kubeconfig=kubeconfig, environ=environment)
    credentials = Credentials(Kubeconfigs(repo.root, environment), environment)
    access = await credentials.access(candidate, timeout_s=request_timeout_s)
    file = file_of(repo, name)
    async with Connection(name, access, request_timeout_s=request_timeout_s, read_only=False) as connection:
        uid = await read_uid(connection)
        version = await read_version(connection)
        discovered = await discover(connection)
        warnings = [
            *await _check_others(repo, name, uid, request_timeout_s, parallel, environment),
            *_undiscovered(name, discovered),
        ]
        await _check_record(connection, repo, uid)
        warnings += await _check_permissions(connection, repo, discovered)
        namespace_created = await ensure_namespace(connection)
    changed = write_cluster(file, name, kubeconfig=candidate.spec.kubeconfig, labels=wanted)
    return Joined(
        name=name,
        uid=uid,
        version=version,
        file=shown(repo, file),
        file_changed=changed,
        namespace_created=namespace_created,
        warnings=tuple(warnings),
    )


def _check(name: str, labels: Mapping[str, str]) -> None:
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"{name!r} cannot be a member's name",
            hint="lower-case letters, digits, '-' and '.', as for a Kubernetes name",
        )
    try:
        check_labels(labels)
    except SelectorError as error:
        raise UsageError("a label cannot be", why=str(error)) from error


def _candidate(
    repo: Repo, name: str, *, context: str | None, kubeconfig: str | None, environ: Mapping[str, str]
) -> FederatedCluster:
    """The member as it will be described: what its file says, overridden by what is asked for."""
    known = repo.cluster(name)
    before = known.spec.kubeconfig if known else KubeconfigRef()
    ref = KubeconfigRef(
        path=_portable(kubeconfig, environ) if kubeconfig else before.path, context=context or before.context
    )
    location = known.location if known else Location(f"{name}.yaml")
    return FederatedCluster(name=name, location=location, spec=FederatedClusterSpec(kubeconfig=ref))


def _portable(path: str, environ: Mapping[str, str]) -> str:
    """The path as others can use it: below the home directory as ``~/…``, otherwise absolute."""
    home = environ.get("HOME") or str(Path.home())
    expanded = home + path[1:] if path == "~" or path.startswith("~/") else path
    absolute = Path(os.path.abspath(expanded))  # noqa: PTH100  # links stay as the user wrote them
    return f"~/{absolute.relative_to(home)}" if absolute.is_relative_to(home) else str(absolute)


async def _check_others(
    repo: Repo, name: str, uid: str, request_timeout_s: float, parallel: int, environ: Mapping[str, str]
) -> list[Problem]:
    """Raise MemberError where another member is this cluster; warn of those that could not be asked."""
    others = [cluster.name for cluster in repo.clusters if cluster.name != name]
    if not others:
        return []
    async with open_members(
        repo, request_timeout_s=request_timeout_s, parallel=parallel, only=others, environ=environ
    ) as pool:
        uids = await pool.each(read_uid)
    twins = [other for other, found in uids.items() if found == uid]
    if twins:
        raise _joined_as(name, twins[0], why=f"{twins[0]} in {file_of(repo, twins[0]).name} is the same cluster")
    return [
        Problem(
            what=f"it could not be checked whether {other} is the same cluster",
            severity="warning",
            member=name,
            why=found.problem.what,
        )
        for other, found in uids.items()
        if isinstance(found, Unread)
    ]


async def _check_record(connection: Connection, repo: Repo, uid: str) -> None:
    """Raise MemberError where the fleet's record in the cluster was written under another name."""
    record = await read_record(connection, repo.fleet.name, member_uid=uid)
    if record is not None and record.member not in ("", connection.name):
        raise _joined_as(connection.name, record.member, why=f"its record in {RECORD_NAMESPACE} says so")


def _joined_as(name: str, other: str, *, why: str) -> MemberError:
    return MemberError(
        f"this cluster is a member already, as {other}",
        member=name,
        why=why,
        hint=f"kadm unjoin {other} first, or keep that name",
    )


async def _check_permissions(connection: Connection, repo: Repo, discovered: Discovered) -> list[Problem]:
    """Raise MemberRefused where bookkeeping is not permitted; warn of what the repository's manifests would need."""
    types = {resource.gvk: resource for resource in discovered.resources}
    wanted = {(GroupVersionKind(one.key.group, one.version, one.key.kind), one.key.namespace) for one in repo.manifests}
    placing = placing_permissions((types[gvk], namespace) for gvk, namespace in wanted if gvk in types)
    try:
        missing = await missing_permissions(connection, (*BOOKKEEPING, *CAPACITY, *placing))
    except MemberRefused as refused:
        return [
            Problem(
                what="the credential's permissions could not be checked",
                severity="warning",
                member=connection.name,
                why=refused.problem.why or refused.problem.what,
            )
        ]
    if fatal := [one for one in missing if one in BOOKKEEPING]:
        raise lacking(connection, fatal)
    return [
        Problem(
            what=f"the credential may not {permission}",
            severity="warning",
            member=connection.name,
            hint="policies that look at capacity need it"
            if permission in CAPACITY
            else "manifests of this kind need it",
        )
        for permission in missing
    ]


def _undiscovered(name: str, discovered: Discovered) -> list[Problem]:
    return [
        Problem(
            what=f"it is unknown what the member serves in {group_version}", severity="warning", member=name, why=reason
        )
        for group_version, reason in discovered.failed.items()
    ]
