"""Defaults of claims, volumes, storage classes and CSI drivers."""

from __future__ import annotations

from kadm.model.objects import JsonObject
from kadm.sandbox.kinds.defaults.pods import volume_source


def claim_spec(spec: JsonObject) -> None:
    """Fill the spec of a claim or of a claim template."""
    spec.setdefault("volumeMode", "Filesystem")


def persistent_volume_claim(obj: JsonObject) -> None:
    obj["status"].setdefault("phase", "Pending")
    claim_spec(obj["spec"])


def persistent_volume(obj: JsonObject) -> None:
    obj["status"].setdefault("phase", "Pending")
    spec = obj["spec"]
    spec.setdefault("persistentVolumeReclaimPolicy", "Retain")
    spec.setdefault("volumeMode", "Filesystem")
    for name, source in spec.items():
        if isinstance(source, dict):
            volume_source(name, source)


def storage_class(obj: JsonObject) -> None:
    obj.setdefault("reclaimPolicy", "Delete")
    obj.setdefault("volumeBindingMode", "Immediate")


def csi_driver(obj: JsonObject) -> None:
    spec = obj["spec"]
    spec.setdefault("attachRequired", True)
    spec.setdefault("podInfoOnMount", False)
    spec.setdefault("storageCapacity", False)
    spec.setdefault("fsGroupPolicy", "ReadWriteOnceWithFSType")
    spec.setdefault("requiresRepublish", False)
    spec.setdefault("seLinuxMount", False)
    if not spec.get("volumeLifecycleModes"):
        spec["volumeLifecycleModes"] = ["Persistent"]
