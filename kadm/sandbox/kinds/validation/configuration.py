"""Faults of Namespaces, ConfigMaps, Secrets, Leases, LimitRanges, quotas and priority classes."""

from __future__ import annotations

import base64
import binascii

from kadm.model.objects import JsonObject, JsonValue
from kadm.sandbox.kinds import quantities
from kadm.sandbox.kinds.field_errors import FieldError, forbidden, invalid_value, required, too_long
from kadm.sandbox.kinds.validation import names, values

_MAX_DATA = 1024 * 1024
_MAX_PRIORITY = 1_000_000_000
_IMMUTABLE = "field is immutable when `immutable` is set"
_REQUIRED_KEYS = {
    "kubernetes.io/tls": ("tls.crt", "tls.key"),
    "kubernetes.io/dockerconfigjson": (".dockerconfigjson",),
    "kubernetes.io/dockercfg": (".dockercfg",),
    "kubernetes.io/ssh-auth": ("ssh-privatekey",),
}
"""Type of a Secret → keys that its data must have."""


def config_map(obj: JsonObject) -> list[FieldError]:
    texts, binary = obj.get("data") or {}, obj.get("binaryData") or {}
    errors: list[FieldError] = []
    for key in texts:
        errors += [invalid_value(f"data[{key}]", key, each) for each in names.config_key(key)]
        if key in binary:
            errors.append(invalid_value(f"data[{key}]", key, "duplicate of key present in binaryData"))
    for key in binary:
        errors += [invalid_value(f"binaryData[{key}]", key, each) for each in names.config_key(key)]
    size = sum(len(value.encode()) for value in texts.values()) + sum(_decoded_size(value) for value in binary.values())
    return [*errors, too_long("[]", _MAX_DATA)] if size > _MAX_DATA else errors


def config_map_update(new: JsonObject, old: JsonObject) -> list[FieldError]:
    return _immutable(new, old, ("data", "binaryData")) + config_map(new)


def secret(obj: JsonObject) -> list[FieldError]:
    data, kind = obj.get("data") or {}, obj.get("type")
    errors: list[FieldError] = []
    for key in data:
        errors += [invalid_value(f"data[{key}]", key, each) for each in names.config_key(key)]
    if sum(_decoded_size(value) for value in data.values()) > _MAX_DATA:
        errors.append(too_long("data", _MAX_DATA))
    errors += [required(f"data[{key}]") for key in _REQUIRED_KEYS.get(kind or "", ()) if key not in data]
    if kind == "kubernetes.io/service-account-token":
        name = (obj["metadata"].get("annotations") or {}).get("kubernetes.io/service-account.name")
        if not name:
            errors.append(required("metadata.annotations[kubernetes.io/service-account.name]"))
    if kind == "kubernetes.io/basic-auth" and "username" not in data and "password" not in data:
        errors += [required("data[username]"), required("data[password]")]
    return errors


def secret_update(new: JsonObject, old: JsonObject) -> list[FieldError]:
    errors = values.unchanged(new.get("type"), old.get("type"), "type")
    return errors + _immutable(new, old, ("data",)) + secret(new)


def _immutable(new: JsonObject, old: JsonObject, keys: tuple[str, ...]) -> list[FieldError]:
    if not old.get("immutable"):
        return []
    errors = [] if new.get("immutable") else [forbidden("immutable", _IMMUTABLE)]
    return errors + [forbidden(key, _IMMUTABLE) for key in keys if (new.get(key) or {}) != (old.get(key) or {})]


def _decoded_size(text: JsonValue) -> int:
    try:
        return len(base64.b64decode(text))
    except (binascii.Error, ValueError):
        return 0


def namespace_status(new: JsonObject, _: JsonObject) -> list[FieldError]:
    phase, deleted = new["status"].get("phase"), new["metadata"].get("deletionTimestamp")
    if deleted and phase != "Terminating":
        why = "may only be 'Terminating' if `deletionTimestamp` is not empty"
        return [invalid_value("status.Phase", phase, why)]
    if not deleted and phase != "Active":
        return [invalid_value("status.Phase", phase, "may only be 'Active' if `deletionTimestamp` is empty")]
    return []


def lease(obj: JsonObject) -> list[FieldError]:
    spec = obj["spec"]
    errors: list[FieldError] = []
    duration = spec.get("leaseDurationSeconds")
    if duration is not None and duration <= 0:
        errors.append(invalid_value("spec.leaseDurationSeconds", duration, "must be greater than 0"))
    transitions = spec.get("leaseTransitions")
    if transitions is not None and transitions < 0:
        errors.append(invalid_value("spec.leaseTransitions", transitions, "must be greater than or equal to 0"))
    return errors


def limit_range(obj: JsonObject) -> list[FieldError]:
    errors: list[FieldError] = []
    for index, item in enumerate(obj["spec"].get("limits") or ()):
        at = f"spec.limits[{index}]"
        if not item.get("type"):
            errors.append(required(f"{at}.type"))
        low, high = item.get("min") or {}, item.get("max") or {}
        asked, given = item.get("defaultRequest") or {}, item.get("default") or {}
        for name in sorted({*low, *high, *asked, *given}):
            pairs = (
                ("min", low, "min", "max", high),
                ("defaultRequest", low, "min", "default request", asked),
                ("defaultRequest", asked, "default request", "max", high),
                ("defaultRequest", asked, "default request", "default limit", given),
                ("default", given, "default", "max", high),
            )
            for field, small, small_name, large_name, large in pairs:
                if name in small and name in large and _greater(small[name], large[name]):
                    why = f"{small_name} value {small[name]} is greater than {large_name} value {large[name]}"
                    errors.append(invalid_value(f"{at}.{field}[{name}]", small[name], why))
    return errors


def _greater(left: str, right: str) -> bool:
    first, second = quantities.parse(left), quantities.parse(right)
    return first is not None and second is not None and first > second


def resource_quota(obj: JsonObject) -> list[FieldError]:
    errors: list[FieldError] = []
    for name, text in (obj["spec"].get("hard") or {}).items():
        amount = quantities.parse(text)
        if amount is not None and amount < 0:
            errors.append(invalid_value(f"spec.hard[{name}]", text, "must be greater than or equal to 0"))
    return errors


def priority_class(obj: JsonObject) -> list[FieldError]:
    name, value = obj["metadata"].get("name") or "", obj["value"]
    errors: list[FieldError] = []
    if name.startswith("system-"):
        if name not in ("system-cluster-critical", "system-node-critical"):
            why = "priority class names with 'system-' prefix are reserved for system use only. error: "
            errors.append(forbidden("metadata.name", f"{why}{name} is not a known system priority class"))
    elif value > _MAX_PRIORITY:
        why = "maximum allowed value of a user defined priority is 1000000000"
        errors.append(forbidden("value", why))
    policy = obj.get("preemptionPolicy")
    return errors + values.one_of(policy, "preemptionPolicy", ("Never", "PreemptLowerPriority"))


def priority_class_update(new: JsonObject, old: JsonObject) -> list[FieldError]:
    errors: list[FieldError] = []
    if new["value"] != old["value"]:
        errors.append(forbidden("value", "may not be changed in an update."))
    return errors + values.unchanged(new.get("preemptionPolicy"), old.get("preemptionPolicy"), "preemptionPolicy")
