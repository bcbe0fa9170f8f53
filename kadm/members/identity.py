"""Who a member is, which version it runs, and whether it is ready."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from kadm.errors import MemberRefused, MemberSilent, MemberUnreachable
from kadm.members import resources
from kadm.members.connection import Connection
from kadm.model.observation import Ready

IDENTITY_NAMESPACE = "kube-system"
"""Its uid is the member's identity: it exists once per cluster and lives as long as the cluster does."""


class Readiness(Struct, frozen=True):
    """Whether the member's API server calls itself ready; ``reason`` is empty where it does."""

    ready: Ready
    reason: str = ""


class _Version(Struct, rename="camel"):
    git_version: str


async def read_uid(connection: Connection) -> str:
    """The member's identity. Raises MemberRefused where it has none that can be read: then it is no known member.

    It is what a member is asked first. That there is no connection, or that the credential is not accepted, is no
    matter of this namespace: such errors name the member alone.
    """
    try:
        namespace = await resources.get(connection, resources.NAMESPACES, "", IDENTITY_NAMESPACE)
    except MemberUnreachable as error:
        problem = error.problem
        kind = MemberSilent if isinstance(error, MemberSilent) else MemberUnreachable
        raise kind(problem.what, member=problem.member, why=problem.why, hint=problem.hint) from error
    except MemberRefused as refused:
        if refused.status != 401:
            raise
        problem = refused.problem
        raise MemberRefused(
            problem.what,
            status=refused.status,
            reason=refused.reason,
            body=refused.body,
            member=problem.member,
            why=problem.why,
            hint=problem.hint,
        ) from refused
    uid: Any = (namespace or {}).get("metadata", {}).get("uid")
    if not isinstance(uid, str) or not uid:
        raise MemberRefused(
            f"namespace {IDENTITY_NAMESPACE} does not exist: the member cannot be identified",
            status=404 if namespace is None else 200,
            member=connection.name,
            object=f"Namespace {IDENTITY_NAMESPACE}",
            hint="check that this is a Kubernetes API server",
        )
    return uid


async def read_version(connection: Connection) -> str:
    """gitVersion, e.g. ``v1.36.2``; empty where the credential may not read it."""
    try:
        return (await connection.read("/version", _Version)).git_version
    except MemberRefused as refused:
        if refused.status in (403, 404):
            return ""
        raise


async def read_readiness(connection: Connection) -> Readiness:
    """What ``/readyz`` says, or ``/healthz`` where that is missing (before 1.16) or forbidden.

    A member that refuses both is Unknown: it answers, but nothing says that it is well.
    """
    why = ""
    for path in ("/readyz", "/healthz"):
        try:
            await connection.request("GET", path, accept="*/*", once=True)  # 500 is an answer here
        except MemberRefused as refused:
            if refused.status not in (403, 404):
                return Readiness("False", f"{path}: {_failed_checks(refused)}")
            why = f"{path}: {refused.problem.what}"
        else:
            return Readiness("True")
    return Readiness("Unknown", why)


def _failed_checks(refused: MemberRefused) -> str:
    return refused.problem.why or refused.problem.what
