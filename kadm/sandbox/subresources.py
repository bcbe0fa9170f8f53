"""Subresources that are another view of an object: scale, binding, eviction and token requests.

A Scale is read from and written to its parent's replica fields. Its managedFields are those entries of the parent that
own the replica count, in terms of ``autoscaling/v1``; the fields that an entry owns elsewhere stay with it. Source:
the scale REST storages and ScaleHandler of the Kubernetes 1.36 registry.
"""

from __future__ import annotations

from typing import Any

import msgspec

from kadm.sandbox import field_sets, label_selectors
from kadm.sandbox.kinds.registry import ResourceKind
from kadm.sandbox.schema import Schema, builtin
from kadm.sandbox.store import Object

SCALE_KIND = ResourceKind(
    group="autoscaling",
    version="v1",
    kind="Scale",
    plural="scales",
    singular="scale",
    storage_group="autoscaling",
    storage_version="v1",
)
SCALE_VERSION = SCALE_KIND.api_version
_SCALE_FIELDS: Object = {"f:spec": {"f:replicas": {}}}


class ScalePaths(msgspec.Struct, frozen=True, kw_only=True):
    """Where a kind keeps what a Scale shows. ``selector`` () means that there is none."""

    replicas: tuple[str, ...]
    status_replicas: tuple[str, ...]
    selector: tuple[str, ...]
    selector_is_text: bool


_BUILTIN_PATHS = ScalePaths(
    replicas=("spec", "replicas"),
    status_replicas=("status", "replicas"),
    selector=("spec", "selector"),
    selector_is_text=False,
)


def scale_schema() -> Schema:
    """The type of a Scale."""
    schema = builtin(SCALE_KIND.group, SCALE_KIND.version, SCALE_KIND.kind)
    assert schema is not None
    return schema


def _steps(path: str) -> tuple[str, ...]:
    return tuple(step for step in path.split(".") if step)


def scale_paths(kind: ResourceKind) -> ScalePaths:
    """Where this kind keeps its replica counts."""
    if kind.custom is None:
        return _BUILTIN_PATHS
    return ScalePaths(
        replicas=_steps(kind.custom.scale_spec_path),
        status_replicas=_steps(kind.custom.scale_status_path),
        selector=_steps(kind.custom.scale_label_selector_path),
        selector_is_text=True,
    )


def _at(obj: Any, path: tuple[str, ...]) -> Any:
    for step in path:
        obj = obj.get(step) if isinstance(obj, dict) else None
    return obj


def _with(obj: Object, path: tuple[str, ...], value: Any) -> Object:
    first, *rest = path
    if not rest:
        return {**obj, first: value}
    return {**obj, first: _with(obj.get(first) or {}, tuple(rest), value)}


def _selector_text(selector: Object | None) -> str:
    """A label selector, or a plain map of labels (ReplicationController), as a query's text."""
    if selector and not {"matchLabels", "matchExpressions"} & set(selector):
        return label_selectors.as_text({"matchLabels": selector})
    return label_selectors.as_text(selector)


def scale_of(kind: ResourceKind, obj: Object) -> Object:
    """The Scale of an object, with the managedFields that it is to be written under."""
    paths = scale_paths(kind)
    metadata = obj["metadata"]
    shown = {
        key: metadata[key]
        for key in ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")
        if key in metadata
    }
    if entries := _scale_entries(kind, metadata.get("managedFields") or []):
        shown["managedFields"] = entries
    status: Object = {"replicas": _at(obj, paths.status_replicas) or 0}
    selector = _at(obj, paths.selector) if paths.selector else None
    text = (selector or "") if paths.selector_is_text else _selector_text(selector)
    if text:
        status["selector"] = text
    replicas = _at(obj, paths.replicas)
    return {
        "kind": "Scale",
        "apiVersion": SCALE_VERSION,
        "metadata": shown,
        "spec": {"replicas": replicas} if replicas else {},
        "status": status,
    }


def shown_scale(scale: Object) -> Object:
    """A Scale as clients see it: without managedFields."""
    metadata = {key: value for key, value in scale["metadata"].items() if key != "managedFields"}
    return {**scale, "metadata": metadata}


def with_replicas(kind: ResourceKind, obj: Object, scale: Object) -> Object:
    """The parent with the Scale's replica count, and with its managedFields after the Scale was written."""
    paths = scale_paths(kind)
    changed = _with(obj, paths.replicas, (scale.get("spec") or {}).get("replicas") or 0)
    entries = _parent_entries(
        kind, obj["metadata"].get("managedFields") or [], scale["metadata"].get("managedFields") or []
    )
    metadata = {key: value for key, value in changed["metadata"].items() if key != "managedFields"}
    if entries:
        metadata["managedFields"] = entries
    return {**changed, "metadata": metadata}


def _replica_fields(kind: ResourceKind) -> tuple[str, ...]:
    return tuple(f"f:{step}" for step in scale_paths(kind).replicas)


def _scale_entries(kind: ResourceKind, entries: list[Object]) -> list[Object]:
    """The parent's entries that own the replica count, as entries of a Scale."""
    path = _replica_fields(kind)
    return [
        {**entry, "apiVersion": SCALE_VERSION, "fieldsV1": _SCALE_FIELDS}
        for entry in entries
        if isinstance(_at(entry.get("fieldsV1"), path), dict)
    ]


def _identity(entry: Object) -> tuple[str, str, str]:
    return entry.get("manager", ""), entry.get("operation", ""), entry.get("subresource", "")


def _nested(path: tuple[str, ...]) -> Object:
    fields: Object = {}
    for step in reversed(path):
        fields = {step: fields}
    return fields


def _parent_entries(kind: ResourceKind, before: list[Object], scale: list[Object]) -> list[Object]:
    """The parent's entries after a Scale was written: who lost the replica count, and who has it now."""
    path = _replica_fields(kind)
    owners = {
        _identity(entry): entry
        for entry in scale
        if isinstance(_at(entry.get("fieldsV1"), ("f:spec", "f:replicas")), dict)
    }
    entries: list[Object] = []
    for entry in before:
        key = _identity(entry)
        if not isinstance(_at(entry.get("fieldsV1"), path), dict):
            entries.append(entry)
        elif key in owners:
            owners.pop(key)
            entries.append(entry)
        elif fields := field_sets.difference(entry["fieldsV1"], _nested(path)):
            entries.append({**entry, "fieldsV1": fields})
    for owner in owners.values():
        # Only entries written through the subresource are new, and the server gives these no time.
        added = {name: value for name, value in owner.items() if name != "time"}
        entries.append({**added, "apiVersion": kind.api_version, "fieldsV1": _nested(path)})
    return entries
