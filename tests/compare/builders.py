"""Objects with defaults, so that a test names only what matters."""

from __future__ import annotations

from typing import Any

from kadm.model.desired import DesiredObject
from kadm.model.objects import JsonObject, ObjectKey, gvk_of, key_of
from kadm.model.record import Record, RecordedObject

MANAGER = "kadm-shop"


def a_config(name: str = "a", *, data: dict[str, str] | None = None, **metadata: Any) -> JsonObject:
    """A ConfigMap in namespace ``shop``, as git holds it."""
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": "shop", **metadata},
        "data": data if data is not None else {"k": "v"},
    }


def live(obj: JsonObject, *, uid: str = "u1", managers: tuple[JsonObject, ...] = (), **metadata: Any) -> JsonObject:
    """The object as a member holds it."""
    return {
        **obj,
        "metadata": {
            **obj["metadata"],
            "uid": uid,
            "resourceVersion": "7",
            "creationTimestamp": "2026-01-01T00:00:00Z",
            "managedFields": list(managers),
            **metadata,
        },
    }


def entry(
    manager: str, fields: JsonObject, *, operation: str = "Apply", time: str = "2026-01-01T00:00:00Z"
) -> JsonObject:
    """A managedFields entry."""
    return {"manager": manager, "operation": operation, "apiVersion": "v1", "time": time, "fieldsV1": fields}


def desired(obj: JsonObject) -> DesiredObject:
    """What a member must hold."""
    return DesiredObject(key=key_of(obj), version=gvk_of(obj).version, object=obj, digest="")


def recorded(key: ObjectKey, *, uid: str = "u1", origin: str = "created") -> RecordedObject:
    """An object in the record."""
    return RecordedObject(
        group=key.group,
        version="v1",
        kind=key.kind,
        namespace=key.namespace,
        name=key.name,
        uid=uid,
        origin="adopted" if origin == "adopted" else "created",
    )


def a_record(*objects: RecordedObject) -> Record:
    """A record of fleet ``shop``."""
    return Record(fleet="shop", member_uid="m", objects=objects)
