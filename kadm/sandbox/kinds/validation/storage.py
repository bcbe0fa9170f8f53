"""Faults of claims, volumes and storage classes."""

from __future__ import annotations

from kadm.model.objects import JsonObject
from kadm.sandbox.kinds.field_errors import FieldError, forbidden, invalid_value, not_supported, required
from kadm.sandbox.kinds.validation import names, values

_ACCESS_MODES = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")
_NO_SOURCE = ("capacity", "claimRef", "nodeAffinity")
_CLAIM_TEXT = (
    "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims"
)


def claim(obj: JsonObject) -> list[FieldError]:
    spec = obj["spec"]
    modes = spec.get("accessModes") or ()
    errors: list[FieldError] = []
    if not modes:
        errors.append(required("spec.accessModes", "at least 1 access mode is required"))
    for mode in modes:
        errors += values.one_of(mode, "spec.accessModes", _ACCESS_MODES)
    if "storage" not in ((spec.get("resources") or {}).get("requests") or {}):
        errors.append(required("spec.resources[storage]"))
    class_name = spec.get("storageClassName")
    if class_name:
        errors += [invalid_value("spec.storageClassName", class_name, each) for each in names.dns_subdomain(class_name)]
    if spec.get("volumeMode") not in (None, "Block", "Filesystem"):
        errors.append(not_supported("spec.volumeMode", spec["volumeMode"], ("Block", "Filesystem")))
    return errors + values.selector(spec.get("selector"), "spec.selector")


def claim_update(new: JsonObject, old: JsonObject) -> list[FieldError]:
    errors = claim(new)
    binds = not old["spec"].get("volumeName") and bool(new["spec"].get("volumeName"))
    free = ("resources", "volumeAttributesClassName", *(("volumeName", "storageClassName") if binds else ()))
    wanted = {key: value for key, value in new["spec"].items() if key not in free}
    held = {key: value for key, value in old["spec"].items() if key not in free}
    bound = old["status"].get("phase") == "Bound"
    if wanted != held or (not bound and new["spec"].get("resources") != old["spec"].get("resources")):
        errors.append(forbidden("spec", _CLAIM_TEXT))
    return errors


def volume(obj: JsonObject) -> list[FieldError]:
    spec = obj["spec"]
    errors: list[FieldError] = []
    if not spec.get("accessModes"):
        errors.append(required("spec.accessModes"))
    if "storage" not in (spec.get("capacity") or {}):
        errors.append(not_supported("spec.capacity", spec.get("capacity") or None, ("storage",)))
    if not _source(spec):
        errors.append(required("spec", "must specify a volume type"))
    policy = spec.get("persistentVolumeReclaimPolicy")
    return errors + values.one_of(policy, "spec.persistentVolumeReclaimPolicy", ("Delete", "Recycle", "Retain"))


def volume_update(new: JsonObject, old: JsonObject) -> list[FieldError]:
    errors = volume(new)
    if _source(new["spec"]) != _source(old["spec"]):
        why = "spec.persistentvolumesource is immutable after creation"
        errors.append(forbidden("spec.persistentvolumesource", why))
    return errors + values.unchanged(new["spec"].get("volumeMode"), old["spec"].get("volumeMode"), "volumeMode")


def _source(spec: JsonObject) -> JsonObject:
    return {key: value for key, value in spec.items() if isinstance(value, dict) and key not in _NO_SOURCE}


def storage_class(obj: JsonObject) -> list[FieldError]:
    errors: list[FieldError] = []
    if not obj.get("provisioner"):
        errors.append(required("provisioner"))
    errors += values.one_of(obj.get("reclaimPolicy"), "reclaimPolicy", ("Delete", "Recycle", "Retain"))
    modes = ("Immediate", "WaitForFirstConsumer")
    return errors + values.one_of(obj.get("volumeBindingMode"), "volumeBindingMode", modes)


def storage_class_update(new: JsonObject, old: JsonObject) -> list[FieldError]:
    errors: list[FieldError] = []
    for key, text in (
        ("parameters", "updates to parameters are forbidden."),
        ("provisioner", "updates to provisioner are forbidden."),
        ("reclaimPolicy", "updates to reclaimPolicy are forbidden."),
    ):
        if (new.get(key) or {}) != (old.get(key) or {}):
            errors.append(forbidden(key, text))
    errors += values.unchanged(new.get("volumeBindingMode"), old.get("volumeBindingMode"), "volumeBindingMode")
    return errors
