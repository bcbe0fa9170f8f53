"""What a pod spec refers to: ConfigMaps, Secrets, claims and service accounts (propagation spec, section 3)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from msgspec import Struct

from kadm.model.objects import JsonObject, JsonValue, Path, at

ReferredKind = Literal["ConfigMap", "PersistentVolumeClaim", "Secret", "ServiceAccount"]
"""All of the core group, and all in the pod's namespace."""

_CONTAINER_LISTS = ("containers", "initContainers", "ephemeralContainers")

_VOLUME_SECRETS: tuple[Path, ...] = (
    ("azureFile", "secretName"),
    ("cephfs", "secretRef", "name"),
    ("cinder", "secretRef", "name"),
    ("csi", "nodePublishSecretRef", "name"),
    ("flexVolume", "secretRef", "name"),
    ("iscsi", "secretRef", "name"),
    ("rbd", "secretRef", "name"),
    ("scaleIO", "secretRef", "name"),
    ("storageos", "secretRef", "name"),
)


class Reference(Struct, frozen=True):
    """One name in a pod spec; ``path`` is relative to it. ``optional``: the pod starts without the object."""

    kind: ReferredKind
    name: str
    path: Path
    optional: bool = False


def references(pod_spec: JsonObject) -> tuple[Reference, ...]:
    """Every reference, in the order in which they stand. Empty names are no references."""
    return tuple(reference for reference in _references(pod_spec) if reference.name)


def _references(pod_spec: JsonObject) -> Iterator[Reference]:
    # `serviceAccount` is the older spelling, which API servers copy to the newer one
    for field in ("serviceAccountName", "serviceAccount"):
        if pod_spec.get(field):
            yield Reference("ServiceAccount", pod_spec[field], (field,))
            break
    for index, entry in _items(pod_spec, "imagePullSecrets"):
        yield Reference("Secret", _name(entry, ("name",)), ("imagePullSecrets", index, "name"))
    for containers in _CONTAINER_LISTS:
        for index, container in _items(pod_spec, containers):
            yield from _of_container(container, (containers, index))
    for index, volume in _items(pod_spec, "volumes"):
        yield from _of_volume(volume, ("volumes", index))


def _of_container(container: JsonObject, path: Path) -> Iterator[Reference]:
    for index, source in _items(container, "envFrom"):
        yield from _either(source, ("configMapRef", "secretRef"), "name", (*path, "envFrom", index))
    for index, variable in _items(container, "env"):
        if isinstance(value_from := variable.get("valueFrom"), dict):
            yield from _either(
                value_from, ("configMapKeyRef", "secretKeyRef"), "name", (*path, "env", index, "valueFrom")
            )


def _of_volume(volume: JsonObject, path: Path) -> Iterator[Reference]:
    yield from _either(volume, ("configMap", ""), "name", path)
    yield from _either(volume, ("", "secret"), "secretName", path)
    if isinstance(claim := volume.get("persistentVolumeClaim"), dict):
        name = _name(claim, ("claimName",))
        yield Reference("PersistentVolumeClaim", name, (*path, "persistentVolumeClaim", "claimName"))
    if isinstance(projected := volume.get("projected"), dict):
        for index, source in _items(projected, "sources"):
            yield from _either(source, ("configMap", "secret"), "name", (*path, "projected", "sources", index))
    for secret in _VOLUME_SECRETS:
        if secret[0] in volume:
            yield Reference("Secret", _name(volume, secret), (*path, *secret))


def _either(holder: JsonObject, fields: tuple[str, str], name: str, path: Path) -> Iterator[Reference]:
    """The ConfigMap under the first field and the Secret under the second, as far as they are there."""
    kinds: tuple[ReferredKind, ReferredKind] = ("ConfigMap", "Secret")
    for kind, field in zip(kinds, fields, strict=True):
        if isinstance(found := holder.get(field), dict):
            yield Reference(kind, _name(found, (name,)), (*path, field, name), found.get("optional") is True)


def _items(holder: JsonObject, field: str) -> Iterator[tuple[int, JsonObject]]:
    found: JsonValue = holder.get(field)
    for index, item in enumerate(found if isinstance(found, list) else ()):
        if isinstance(item, dict):
            yield index, item


def _name(holder: JsonObject, path: Path) -> str:
    found = at(holder, path)
    return found if isinstance(found, str) else ""
