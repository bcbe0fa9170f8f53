"""Reading and writing objects in one member, as functions over its connection.

Every function names the type by what discovery found (``ApiResource``) and leaves errors as ``Connection.request``
raises them, unless it says otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Generic, Literal, TypeVar
from urllib.parse import quote

import msgspec
from msgspec import Struct

from kadm.errors import MemberRefused
from kadm.members.connection import APPLY_PATCH, JSON_PATCH, Connection
from kadm.members.refusal import is_not_found
from kadm.model.live import RawObject
from kadm.model.objects import JsonObject, ObjectKey
from kadm.model.observation import ApiResource

T = TypeVar("T")
Propagation = Literal["Background", "Foreground", "Orphan"]

CONFIG_MAPS = ApiResource(group="", version="v1", kind="ConfigMap", plural="configmaps", namespaced=True)
NAMESPACES = ApiResource(group="", version="v1", kind="Namespace", plural="namespaces", namespaced=False)
NODES = ApiResource(group="", version="v1", kind="Node", plural="nodes", namespaced=False)
PODS = ApiResource(group="", version="v1", kind="Pod", plural="pods", namespaced=True)
LEASES = ApiResource(group="coordination.k8s.io", version="v1", kind="Lease", plural="leases", namespaced=True)

PAGE = 3000
"""Objects per page of a list: measured on a real server, small pages cost several times as much as large ones."""
_RESTARTS = 3


class _ListMeta(Struct):
    continue_: str = msgspec.field(default="", name="continue")


class _Page(Struct, Generic[T]):
    """One page of a list. ``items`` may be null."""

    items: list[T] | None = None
    metadata: _ListMeta = msgspec.field(default_factory=_ListMeta)


class _Leaving(Struct):
    """What a member answers to a DELETE where the object stays for a while."""

    class Metadata(Struct):
        finalizers: list[str] = []

    metadata: Metadata = msgspec.field(default_factory=Metadata)


class Applied(Struct, frozen=True):
    """What server-side apply gave: the object as it stands now (or would, in a dry run), and whether it is new.

    ``created`` is the difference between 201 and 200: an object that existed is none of ours until it is adopted.
    """

    object: JsonObject
    created: bool


def url_path(resource: ApiResource, namespace: str = "", name: str = "", subresource: str = "") -> str:
    """The request path of a list (no ``name``), an object or a subresource; no ``namespace``: all of them."""
    path = f"/apis/{resource.group}/{resource.version}" if resource.group else f"/api/{resource.version}"
    if namespace and resource.namespaced:
        path += f"/namespaces/{quote(namespace, safe='')}"
    path += f"/{resource.plural}"
    if name:
        path += f"/{quote(name, safe=':')}"
    return f"{path}/{subresource}" if subresource else path


def key_in(resource: ApiResource, namespace: str, name: str) -> ObjectKey:
    """The identity of an object of this type."""
    return ObjectKey(resource.group, resource.kind, namespace if resource.namespaced else "", name)


async def get(connection: Connection, resource: ApiResource, namespace: str, name: str) -> JsonObject | None:
    """The live object, or None where the member says that it does not exist."""
    path = url_path(resource, namespace, name)
    try:
        return await connection.read(path, dict[str, Any], about=str(key_in(resource, namespace, name)))
    except MemberRefused as refused:
        if is_not_found(refused):
            return None
        raise


async def get_raw(connection: Connection, resource: ApiResource, namespace: str, name: str) -> RawObject | None:
    """The live object as its bytes came, or None where the member says that it does not exist."""
    path = url_path(resource, namespace, name)
    try:
        fields = await connection.read(path, dict[str, msgspec.Raw], about=str(key_in(resource, namespace, name)))
    except MemberRefused as refused:
        if is_not_found(refused):
            return None
        raise
    return RawObject(fields, resource.gvk.api_version, resource.kind)


async def list_objects(
    connection: Connection, resource: ApiResource, *, namespace: str = "", labels: str = "", fields: str = ""
) -> list[JsonObject]:
    """All objects of a type, in the member's order, each with its apiVersion and kind (lists leave them out)."""
    found = await list_as(connection, resource, dict[str, Any], namespace=namespace, labels=labels, fields=fields)
    for item in found:
        item.setdefault("apiVersion", resource.gvk.api_version)
        item.setdefault("kind", resource.kind)
    return found


async def list_as(
    connection: Connection,
    resource: ApiResource,
    shape: type[T],
    *,
    namespace: str = "",
    labels: str = "",
    fields: str = "",
) -> list[T]:
    """All objects of a type as ``shape``: any type that msgspec decodes, ``msgspec.Raw`` for the bytes as they came.

    ``labels`` and ``fields`` are selectors as kubectl takes them. The list is complete and consistent: it is read in
    pages of one moment, and from the start where the member forgot that moment on the way (410). resourceVersion stays
    unset, for every other value may be answered from a stale cache.
    """
    path = url_path(resource, namespace)
    about = f"{resource.plural}.{resource.group}" if resource.group else resource.plural
    selectors = {"limit": str(PAGE)}
    if labels:
        selectors["labelSelector"] = labels
    if fields:
        selectors["fieldSelector"] = fields
    restarts = 0
    items: list[T] = []
    token = ""
    while True:
        query = {**selectors, "continue": token} if token else selectors
        try:
            page = await connection.read(path, _Page[shape], query=query, about=about)  # type: ignore[valid-type]
        except MemberRefused as refused:
            if refused.status == 410 and token and restarts < _RESTARTS:
                restarts += 1
                items, token = [], ""
                continue
            raise
        items += page.items or []
        token = page.metadata.continue_
        if not token:
            return items


async def server_side_apply(
    connection: Connection,
    resource: ApiResource,
    obj: JsonObject,
    *,
    manager: str,
    force: bool = False,
    dry_run: bool = False,
) -> Applied:
    """Apply ``obj`` (its metadata names it) as ``manager``. Without ``force`` a field of somebody else is a 409.

    An update carries ``metadata.uid`` in ``obj``, so that it can neither recreate nor hit another object.
    """
    query = {"fieldManager": manager, "force": "true" if force else "false"}
    path, about = _place(resource, obj)
    answer = await connection.request(
        "PATCH", path, query=_dry(query, dry_run), body=obj, content_type=APPLY_PATCH, about=about
    )
    return Applied(connection.decode(answer.body, dict[str, Any], path=path, about=about), answer.status == 201)


async def json_patch(
    connection: Connection,
    resource: ApiResource,
    namespace: str,
    name: str,
    operations: Sequence[JsonObject],
    *,
    manager: str,
    dry_run: bool = False,
) -> JsonObject:
    """Apply RFC 6902 ``operations``. One that replaces ``/metadata/resourceVersion`` makes a stale version a 409."""
    path, about = url_path(resource, namespace, name), str(key_in(resource, namespace, name))
    answer = await connection.request(
        "PATCH",
        path,
        query=_dry({"fieldManager": manager}, dry_run),
        body=list(operations),
        content_type=JSON_PATCH,
        about=about,
    )
    return connection.decode(answer.body, dict[str, Any], path=path, about=about)


async def delete(
    connection: Connection,
    resource: ApiResource,
    namespace: str,
    name: str,
    *,
    uid: str,
    propagation: Propagation = "Background",
    dry_run: bool = False,
) -> tuple[str, ...]:
    """Delete the object of this uid, and return the finalizers that it waits for; one that does not exist is fine.

    Another object of the same name is a 409 and stays. What the object owns goes with it, by ``propagation``.
    """
    options = {
        "apiVersion": "v1",
        "kind": "DeleteOptions",
        "preconditions": {"uid": uid},
        "propagationPolicy": propagation,
    }
    path, about = url_path(resource, namespace, name), str(key_in(resource, namespace, name))
    try:
        answer = await connection.request("DELETE", path, query=_dry({}, dry_run), body=options, about=about)
    except MemberRefused as refused:
        if is_not_found(refused):
            return ()
        raise
    try:
        return tuple(msgspec.json.decode(answer.body, type=_Leaving).metadata.finalizers)
    except msgspec.DecodeError:
        return ()  # the member took it: that counts


async def create(
    connection: Connection, resource: ApiResource, obj: JsonObject, *, manager: str, dry_run: bool = False
) -> JsonObject:
    """Create ``obj``, which must not exist yet (409), and return it as stored."""
    _, about = _place(resource, obj)
    path = url_path(resource, obj["metadata"].get("namespace") or "")
    answer = await connection.request(
        "POST", path, query=_dry({"fieldManager": manager}, dry_run), body=obj, about=about
    )
    return connection.decode(answer.body, dict[str, Any], path=path, about=about)


async def replace(
    connection: Connection, resource: ApiResource, obj: JsonObject, *, manager: str, dry_run: bool = False
) -> JsonObject:
    """Replace an object by ``obj``, whose ``metadata.resourceVersion`` must be the live one (409), and return it.

    Raises ValueError without a resourceVersion: such a PUT would overwrite whatever is there.
    """
    if not obj["metadata"].get("resourceVersion"):
        raise ValueError("a replacement must carry the resourceVersion that it replaces")
    path, about = _place(resource, obj)
    answer = await connection.request(
        "PUT", path, query=_dry({"fieldManager": manager}, dry_run), body=obj, about=about
    )
    return connection.decode(answer.body, dict[str, Any], path=path, about=about)


def _place(resource: ApiResource, obj: JsonObject) -> tuple[str, str]:
    """The object's request path, and its name for messages."""
    metadata = obj["metadata"]
    namespace, name = metadata.get("namespace") or "", metadata["name"]
    return url_path(resource, namespace, name), str(key_in(resource, namespace, name))


def _dry(query: dict[str, str], dry_run: bool) -> dict[str, str]:
    return {**query, "dryRun": "All"} if dry_run else query
