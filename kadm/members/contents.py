"""What a namespace or a CRD holds besides kadm's own objects: deleting it would delete that too."""

from __future__ import annotations

from collections.abc import Collection

from kadm.errors import MemberError, MemberRefused
from kadm.members.connection import Connection
from kadm.members.discovery import discover
from kadm.members.resources import list_objects
from kadm.model.objects import JsonObject
from kadm.model.observation import ApiResource, MemberState

DEFAULTS = frozenset(
    {
        ("", "ConfigMap", "kube-root-ca.crt"),
        ("", "ConfigMap", "openshift-service-ca.crt"),
        ("", "ServiceAccount", "default"),
    }
)
"""(group, kind, name) of what Kubernetes itself puts into every namespace."""

_DERIVED = frozenset(
    {("", "Endpoints"), ("discovery.k8s.io", "EndpointSlice"), ("", "Event"), ("events.k8s.io", "Event")}
)
"""(group, kind) of what controllers make beside others' objects: it goes with them."""


async def foreign_in_namespace(
    connection: Connection, state: MemberState, namespace: str, *, own_uids: Collection[str]
) -> tuple[str, ...]:
    """Names of what the namespace holds that is neither kadm's (``own_uids``), nor owned by it, nor there by default.

    PersistentVolumeClaims always count: they stay after what claimed them, and hold data (design, section 8).
    Raises MemberError where any kind could not be listed: unread is not absent.
    """
    found: dict[str, JsonObject] = {}
    for resource in state.api_resources:
        if resource.namespaced and "list" in resource.verbs:
            for live in await _listed(connection, resource, namespace):
                found.setdefault(live["metadata"]["uid"], live)
    return tuple(sorted(_name(live) for uid, live in found.items() if _is_foreign(uid, found, own_uids)))


async def _listed(connection: Connection, resource: ApiResource, namespace: str) -> list[JsonObject]:
    """What there is of one kind: nothing where its CRD went meanwhile, for its objects went before it."""
    try:
        return await list_objects(connection, resource, namespace=namespace)
    except MemberRefused as refused:
        if refused.status != 404:
            raise
        now = await discover(connection)
        if resource.gvk.api_version in now.failed or any(one.gvk == resource.gvk for one in now.resources):
            raise
        return []


async def instances_of_crd(
    connection: Connection, state: MemberState, crd_name: str, *, own_uids: Collection[str]
) -> tuple[str, ...]:
    """Names of the live objects of a CRD ``plural.group`` that are not kadm's to delete (``own_uids``).

    Raises MemberError where they could not be listed.
    """
    plural, _, group = crd_name.partition(".")
    for resource in state.api_resources:
        if (resource.group, resource.plural) == (group, plural):
            live = await list_objects(connection, resource)
            return tuple(sorted(_name(one) for one in live if not _is_going(one, own_uids)))
    return ()


async def foreign_or_unknown(
    connection: Connection, state: MemberState, kind: str, name: str, *, own_uids: Collection[str]
) -> tuple[tuple[str, ...], str]:
    """What stands behind a namespace or CRD, and why that is unknown (empty: it is known)."""
    try:
        if kind == "Namespace":
            return await foreign_in_namespace(connection, state, name, own_uids=own_uids), ""
        return await instances_of_crd(connection, state, name, own_uids=own_uids), ""
    except MemberError as error:
        return (), str(error)


def _is_going(live: JsonObject, own_uids: Collection[str]) -> bool:
    """Whether the object goes in any case: it is being deleted, or will be."""
    return bool(live["metadata"].get("deletionTimestamp")) or live["metadata"]["uid"] in own_uids


def _is_foreign(uid: str, found: dict[str, JsonObject], own_uids: Collection[str]) -> bool:
    live = found[uid]
    if live["metadata"].get("deletionTimestamp"):
        return False
    group = live["apiVersion"].rpartition("/")[0]
    if live["kind"] == "PersistentVolumeClaim" and group == "":
        return True
    if (group, live["kind"], live["metadata"]["name"]) in DEFAULTS or (group, live["kind"]) in _DERIVED:
        return False
    if live["kind"] == "Secret" and live.get("type") == "kubernetes.io/service-account-token":
        return False
    seen = set()
    waiting = [uid]
    while waiting:  # up the owners: what belongs to one of ours goes with it
        current = waiting.pop()
        if current in own_uids:
            return False
        if current not in seen and current in found:
            seen.add(current)
            waiting += [owner["uid"] for owner in found[current]["metadata"].get("ownerReferences") or []]
    return True


def _name(live: JsonObject) -> str:
    return f"{live['kind']}/{live['metadata']['name']}"
