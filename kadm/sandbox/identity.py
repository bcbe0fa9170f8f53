"""Whether an object that a request carries is the one that its path names."""

from __future__ import annotations

from kadm.sandbox.kinds.registry import ResourceKind
from kadm.sandbox.responses import bad_request
from kadm.sandbox.store import Object


def check_namespace(kind: ResourceKind, obj: Object, namespace: str) -> None:
    """Raise ApiError 400 unless the object is of the path's namespace, or says nothing of one."""
    said = (obj.get("metadata") or {}).get("namespace")
    if said and said != namespace and kind.namespaced:
        raise bad_request("the namespace of the provided object does not match the namespace sent on the request")


def check_identity(kind: ResourceKind, obj: Object, namespace: str, name: str) -> None:
    """Raise ApiError 400 unless the object has the path's name, and its namespace or none."""
    check_namespace(kind, obj, namespace)
    said = (obj.get("metadata") or {}).get("name")
    if said == name:
        return
    if not said:
        raise bad_request(f"the name of the object ({name} based on URL) was undeterminable: name must be provided")
    raise bad_request(f"the name of the object ({said}) does not match the name on the URL ({name})")
