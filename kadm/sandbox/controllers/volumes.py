"""Volumes for claims, out of nothing: the StorageClass ``standard`` of a member binds every claim at once.

Source: pkg/controller/volume/persistentvolume of Kubernetes 1.36. Claims of another class stay Pending, unless somebody
makes a PersistentVolume that names them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from kadm.sandbox.api import ApiServer, Event, Object
from kadm.sandbox.controllers.actions import Create, Delete, Update, perform
from kadm.sandbox.controllers.loop import Key
from kadm.sandbox.controllers.objects import annotations_of, being_deleted
from kadm.sandbox.controllers.pods import finished

CLAIMS, VOLUMES, CLASSES = "persistentvolumeclaims", "persistentvolumes", "storageclasses.storage.k8s.io"
PROVISIONER = "sandbox.kadm.io/volumes"
DEFAULT_CLASS = "storageclass.kubernetes.io/is-default-class"
PROVISIONED_BY = "pv.kubernetes.io/provisioned-by"
BIND_COMPLETED = "pv.kubernetes.io/bind-completed"
BOUND_BY_CONTROLLER = "pv.kubernetes.io/bound-by-controller"
CLAIM_PROTECTION, VOLUME_PROTECTION = "kubernetes.io/pvc-protection", "kubernetes.io/pv-protection"


def standard_class() -> Object:
    """The StorageClass that a member starts with."""
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": "standard", "annotations": {DEFAULT_CLASS: "true"}},
        "provisioner": PROVISIONER,
        "reclaimPolicy": "Delete",
        "volumeBindingMode": "Immediate",
    }


def volume_for(claim: Object, storage_class: Object) -> Object:
    """A PersistentVolume made for ``claim``."""
    metadata, spec = claim["metadata"], claim["spec"]
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": f"pvc-{metadata['uid']}", "annotations": {PROVISIONED_BY: PROVISIONER}},
        "spec": {
            "capacity": {"storage": ((spec.get("resources") or {}).get("requests") or {}).get("storage", "0")},
            "accessModes": spec["accessModes"],
            "claimRef": {
                "apiVersion": "v1",
                "kind": "PersistentVolumeClaim",
                "namespace": metadata["namespace"],
                "name": metadata["name"],
                "uid": metadata["uid"],
            },
            "persistentVolumeReclaimPolicy": storage_class.get("reclaimPolicy", "Delete"),
            "storageClassName": storage_class["metadata"]["name"],
            "volumeMode": spec.get("volumeMode", "Filesystem"),
            "hostPath": {"path": f"/sandbox/{metadata['namespace']}/{metadata['name']}"},
        },
    }


def bound(claim: Object, volume: Object) -> Object:
    """The claim, bound to the volume and of its class."""
    annotations = {**annotations_of(claim), BIND_COMPLETED: "yes", BOUND_BY_CONTROLLER: "yes"}
    spec = {**claim["spec"], "volumeName": volume["metadata"]["name"]}
    if volume["spec"].get("storageClassName"):
        spec["storageClassName"] = volume["spec"]["storageClassName"]
    return {**claim, "metadata": {**claim["metadata"], "annotations": annotations}, "spec": spec}


def unprotected(obj: Object, finalizer: str) -> Object:
    """The object without the finalizer that keeps it while it is in use."""
    kept = [entry for entry in obj["metadata"].get("finalizers") or () if entry != finalizer]
    metadata = {key: value for key, value in obj["metadata"].items() if key != "finalizers"}
    return {**obj, "metadata": {**metadata, "finalizers": kept} if kept else metadata}


def uses(pod: Object, claim: str) -> bool:
    """Whether a pod that has not finished mounts the claim of that name."""
    volumes = pod["spec"].get("volumes") or ()
    return not finished(pod) and any(
        (volume.get("persistentVolumeClaim") or {}).get("claimName") == claim for volume in volumes
    )


@dataclass(frozen=True)
class VolumeBinder:
    """Binds claims, provisioning volumes for the classes of this sandbox; removes volumes whose claim is gone."""

    api: ApiServer

    def wakes(self, event: Event) -> Iterable[Key]:
        metadata = event.object["metadata"]
        if event.resource == CLAIMS:
            yield metadata["namespace"], metadata["name"]
        elif event.resource == VOLUMES and event.type != "DELETED":
            if claim := event.object["spec"].get("claimRef"):
                yield claim["namespace"], claim["name"]
        elif event.resource == CLASSES and event.type == "ADDED":
            for claim in self.api.list(CLAIMS):
                yield claim["metadata"]["namespace"], claim["metadata"]["name"]

    def sync(self, namespace: str, name: str) -> float | None:
        claim = self.api.find(CLAIMS, namespace, name)
        if claim is None:
            self._reclaim(namespace, name)
            return None
        if being_deleted(claim) or claim.get("status", {}).get("phase") == "Bound":
            return None
        volume = self._volume(claim)
        if volume is None:
            return None
        if claim["spec"].get("volumeName") != volume["metadata"]["name"]:
            perform(self.api, [Update(CLAIMS, bound(claim, volume))])
            claim = self.api.get(CLAIMS, namespace, name)
        status = {
            "phase": "Bound",
            "accessModes": volume["spec"]["accessModes"],
            "capacity": volume["spec"]["capacity"],
        }
        perform(self.api, [Update(CLAIMS, {**claim, "status": {**claim.get("status", {}), **status}}, "status")])
        if volume.get("status", {}).get("phase") != "Bound":
            perform(self.api, [Update(VOLUMES, {**volume, "status": {"phase": "Bound"}}, "status")])
        return None

    def _volume(self, claim: Object) -> Object | None:
        """The volume for the claim: the one that names it, or a new one if its class makes them."""
        metadata = claim["metadata"]
        for volume in self.api.list(VOLUMES):
            reference = volume["spec"].get("claimRef") or {}
            if (reference.get("namespace"), reference.get("name")) == (metadata["namespace"], metadata["name"]):
                return volume if reference.get("uid", metadata["uid"]) == metadata["uid"] else None
        storage_class = self._class(claim)
        if storage_class is None or storage_class.get("provisioner") != PROVISIONER or claim["spec"].get("volumeName"):
            return None
        perform(self.api, [Create(VOLUMES, volume_for(claim, storage_class))])
        return self.api.get(VOLUMES, "", f"pvc-{metadata['uid']}")

    def _class(self, claim: Object) -> Object | None:
        """The claim's StorageClass; the default one where the claim names none at all."""
        name = claim["spec"].get("storageClassName")
        if name is not None:
            return self.api.find(CLASSES, "", name) if name else None
        defaults = [entry for entry in self.api.list(CLASSES) if annotations_of(entry).get(DEFAULT_CLASS) == "true"]
        return defaults[0] if defaults else None

    def _reclaim(self, namespace: str, name: str) -> None:
        for volume in self.api.list(VOLUMES):
            reference = volume["spec"].get("claimRef") or {}
            if (reference.get("namespace"), reference.get("name")) != (namespace, name):
                continue
            if volume["spec"].get("persistentVolumeReclaimPolicy") == "Delete":
                perform(self.api, [Delete(VOLUMES, volume)])
            elif volume.get("status", {}).get("phase") != "Released":
                perform(self.api, [Update(VOLUMES, {**volume, "status": {"phase": "Released"}}, "status")])


@dataclass(frozen=True)
class VolumeProtection:
    """Lets go of claims that no pod uses any more and of volumes that are not bound, once they are being deleted.

    Source: pkg/controller/volume/pvcprotection and .../pvprotection.
    """

    api: ApiServer

    def wakes(self, event: Event) -> Iterable[Key]:
        metadata = event.object["metadata"]
        if event.resource in (CLAIMS, VOLUMES) and being_deleted(event.object):
            yield metadata.get("namespace", ""), metadata["name"]
        elif event.resource == "pods" and (event.type == "DELETED" or finished(event.object)):
            for volume in event.object["spec"].get("volumes") or ():
                if claim := (volume.get("persistentVolumeClaim") or {}).get("claimName"):
                    yield metadata["namespace"], claim

    def sync(self, namespace: str, name: str) -> float | None:
        resource, finalizer = (CLAIMS, CLAIM_PROTECTION) if namespace else (VOLUMES, VOLUME_PROTECTION)
        obj = self.api.find(resource, namespace, name)
        if obj is None or not being_deleted(obj) or finalizer not in (obj["metadata"].get("finalizers") or ()):
            return None
        if namespace and any(uses(pod, name) for pod in self.api.list("pods", namespace)):
            return None
        if not namespace and self._claimed(obj):
            return None
        perform(self.api, [Update(resource, unprotected(obj, finalizer))])
        return None

    def _claimed(self, volume: Object) -> bool:
        """Whether the claim that the volume is bound to is still there."""
        reference = volume["spec"].get("claimRef")
        if reference is None:
            return False
        claim = self.api.find(CLAIMS, reference["namespace"], reference["name"])
        return claim is not None and claim["spec"].get("volumeName") == volume["metadata"]["name"]
