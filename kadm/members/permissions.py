"""What a member lets this credential do, by asking the member (SelfSubjectAccessReview)."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from msgspec import Struct, field

from kadm.errors import MemberRefused
from kadm.members.connection import Connection
from kadm.members.together import together
from kadm.model.observation import ApiResource
from kadm.model.repository import RECORD_NAMESPACE

_REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"


class Permission(Struct, frozen=True, order=True):
    """A verb on a type; ``namespace`` empty means all of them, or cluster scope. ``*`` stands for everything."""

    group: str
    plural: str
    verb: str
    namespace: str = ""

    def __str__(self) -> str:
        what = f"{self.plural}.{self.group}" if self.group else self.plural
        return f"{self.verb} {what} in {self.namespace}" if self.namespace else f"{self.verb} {what}"


EVERYTHING = Permission("*", "*", "*")

BOOKKEEPING: tuple[Permission, ...] = (
    Permission("", "namespaces", "get"),
    Permission("", "namespaces", "create"),
    *(Permission("", "configmaps", verb, RECORD_NAMESPACE) for verb in ("get", "list", "create", "update", "delete")),
    *(Permission("coordination.k8s.io", "leases", verb, RECORD_NAMESPACE) for verb in ("get", "create", "update")),
)
"""Without these kadm cannot keep its record, so it cannot deploy at all."""

CAPACITY: tuple[Permission, ...] = (Permission("", "nodes", "list"), Permission("", "pods", "list"))
"""Needed by policies that look at what members have left."""

_PLACING = ("get", "list", "create", "patch", "delete")


class _Status(Struct):
    allowed: bool = False


class _Review(Struct):
    status: _Status = field(default_factory=_Status)


async def missing_permissions(connection: Connection, needed: Iterable[Permission]) -> tuple[Permission, ...]:
    """Those of ``needed`` that the credential lacks, sorted. An administrator costs one request.

    A permission for one namespace is not asked for where the same one for all namespaces is granted. Raises MemberError
    where the member does not answer the question.
    """
    wanted = sorted(set(needed))
    if await _may(connection, EVERYTHING):
        return ()
    everywhere = {Permission(one.group, one.plural, one.verb) for one in wanted}
    granted = await _ask(connection, everywhere)
    open_questions = [one for one in wanted if Permission(one.group, one.plural, one.verb) not in granted]
    granted |= await _ask(connection, [one for one in open_questions if one.namespace])
    return tuple(one for one in open_questions if one not in granted)


def placing_permissions(types: Iterable[tuple[ApiResource, str]]) -> tuple[Permission, ...]:
    """What kadm needs to keep objects of these types in these namespaces (empty: cluster scope)."""
    return tuple(
        Permission(resource.group, resource.plural, verb, namespace)
        for resource, namespace in sorted(set(types))
        for verb in _PLACING
    )


async def _ask(connection: Connection, questions: Collection[Permission]) -> set[Permission]:
    """Those that are granted."""
    answers = await together({str(one): _may(connection, one) for one in questions})
    return {one for one in questions if answers[str(one)]}


async def _may(connection: Connection, permission: Permission) -> bool:
    attributes = {"verb": permission.verb, "group": permission.group, "resource": permission.plural}
    if permission.namespace:
        attributes["namespace"] = permission.namespace
    review = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectAccessReview",
        "spec": {"resourceAttributes": attributes},
    }
    # It stores nothing; dryRun says so to the guard of connections that only read.
    answer = await connection.request("POST", _REVIEWS, query={"dryRun": "All"}, body=review, about="permissions")
    return connection.decode(answer.body, _Review, path=_REVIEWS).status.allowed


def lacking(connection: Connection, missing: Collection[Permission]) -> MemberRefused:
    """The error for permissions without which nothing goes."""
    return MemberRefused(
        "the credential lacks permissions that kadm needs",
        status=403,
        reason="Forbidden",
        member=connection.name,
        why=", ".join(str(one) for one in missing),
        hint=f"grant them to the user of {connection.access.source or 'this context'}, e.g. by a ClusterRole",
    )
