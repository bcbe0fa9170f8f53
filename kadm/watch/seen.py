"""What is kept of a live object: whether it changed, and of a workload what its status needs.

A member of thousands of objects must not cost as much memory here as it does there: templates, managedFields and the
values of everything that is no workload are dropped at once.
"""

from __future__ import annotations

import hashlib
from typing import Any

import msgspec
from msgspec import Raw, Struct

from kadm.model.objects import JsonObject, ObjectKey
from kadm.model.observation import ApiResource
from kadm.model.workload import workload_kind

_HEAVY_SPEC = frozenset({"template", "jobTemplate", "volumeClaimTemplates", "containers", "initContainers", "volumes"})
_KEPT_METADATA = ("name", "namespace", "uid", "generation", "deletionTimestamp", "annotations")
_NOISE = ("deployment.kubernetes.io/", "kubectl.kubernetes.io/")
"""Annotations that controllers and kubectl keep for themselves."""

_NOT_MARKED = frozenset({"apiVersion", "kind", "metadata", "status"})
"""Lists leave out the first two of their items, watches do not."""

_POD_METADATA = ("name", "namespace", "uid", "labels", "creationTimestamp", "deletionTimestamp")


class _Metadata(Struct, rename="camel"):
    name: str
    namespace: str = ""
    uid: str = ""
    generation: int | None = None
    labels: Raw = Raw(b"null")
    annotations: dict[str, str] | None = None
    deletion_timestamp: str | None = None


class Seen(Struct, frozen=True):
    """One object. ``mark`` differs whenever something but its status does; ``slim`` is what a workload's status needs
    of it, as JSON, and empty for everything else."""

    mark: bytes
    slim: bytes = b""

    @property
    def object(self) -> JsonObject:
        """The slim object, decoded. Raises ValueError where none was kept."""
        if not self.slim:
            raise ValueError("only workloads are kept")
        found: JsonObject = msgspec.json.decode(self.slim)
        return found


def seen(fields: dict[str, Raw], resource: ApiResource) -> tuple[ObjectKey, Seen]:
    """The identity of a listed or watched object, and what is kept of it."""
    metadata = msgspec.json.decode(fields["metadata"], type=_Metadata)
    key = ObjectKey(resource.group, resource.kind, metadata.namespace if resource.namespaced else "", metadata.name)
    slim = b""
    if workload_kind(resource.group, resource.kind) is not None:
        slim = msgspec.json.encode(slimmed(fields, resource))
    return key, Seen(_mark(fields, metadata), slim)


def slimmed(fields: dict[str, Raw], resource: ApiResource) -> JsonObject:
    """A workload without what is heavy and says nothing of its status."""
    whole: dict[str, Any] = msgspec.json.decode(fields["metadata"])
    metadata = {name: whole[name] for name in _KEPT_METADATA if name in whole}
    if "annotations" in metadata:
        metadata["annotations"] = _without_noise(metadata["annotations"])
    spec = msgspec.json.decode(fields["spec"]) if "spec" in fields else {}
    found: JsonObject = {
        "apiVersion": resource.gvk.api_version,
        "kind": resource.kind,
        "metadata": metadata,
        "spec": {name: value for name, value in spec.items() if name not in _HEAVY_SPEC},
    }
    if "status" in fields:
        found["status"] = msgspec.json.decode(fields["status"])
    return found


def slim_pod(fields: dict[str, Raw]) -> JsonObject:
    """Of a pod that waits: what it is called and belongs to, and why it waits."""
    whole: dict[str, Any] = msgspec.json.decode(fields["metadata"])
    status = msgspec.json.decode(fields["status"]) if "status" in fields else {}
    kept = ("phase", "conditions", "containerStatuses", "initContainerStatuses")
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {name: whole[name] for name in _POD_METADATA if name in whole},
        "status": {name: status[name] for name in kept if name in status},
    }


def _mark(fields: dict[str, Raw], metadata: _Metadata) -> bytes:
    """A hash of what makes the object what it is. Where there is a generation, it stands for the spec."""
    digest = hashlib.blake2b(digest_size=8)
    digest.update(
        msgspec.json.encode(
            [
                metadata.uid,
                metadata.generation,
                metadata.deletion_timestamp,
                sorted(_without_noise(metadata.annotations or {}).items()),
            ]
        )
    )
    digest.update(metadata.labels)
    if metadata.generation is None:
        for name in sorted(fields):
            if name not in _NOT_MARKED:
                digest.update(name.encode())
                digest.update(fields[name])
    return digest.digest()


def _without_noise(annotations: dict[str, str]) -> dict[str, str]:
    return {name: text for name, text in annotations.items() if not name.startswith(_NOISE)}
