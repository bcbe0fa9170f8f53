"""What happens to an object on its way into the store: defaults, server-set fields, admission, validation.

A write goes: ``defaults`` (the body as the server decodes it) → managedFields (not here) → ``create`` or ``update``,
which run admission, set what the server sets, validate, and allocate. So what ``create`` and ``update`` change
belongs to no field manager, as in a real API server.

No function changes an object that it was given; each returns a new one, or the same where nothing changes.
Refusals are raised as ``ApiError``.
"""

from __future__ import annotations

import base64
from collections.abc import Callable
from dataclasses import dataclass

from kadm.model.objects import JsonObject
from kadm.sandbox.decoding import decode, zero
from kadm.sandbox.kinds import admission, allocation, conversion, custom_objects, preparation, quotas
from kadm.sandbox.kinds.admission import Reader
from kadm.sandbox.kinds.allocation import DEFAULT_RANGES, ServiceRanges
from kadm.sandbox.kinds.defaults import set_defaults
from kadm.sandbox.kinds.field_errors import FieldError, invalid
from kadm.sandbox.kinds.registry import ResourceKind
from kadm.sandbox.kinds.validation import validate_create, validate_update
from kadm.sandbox.names import generated_name, new_suffix, new_uid
from kadm.sandbox.schema import Schema, builtin

__all__ = ["Context", "Reader", "convert", "create", "defaults", "update", "validate_create", "validate_update"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """What a write needs to know beside its object. ``now`` is RFC 3339 in seconds; ``username`` who asks."""

    reader: Reader
    now: str
    username: str = "kubernetes-admin"
    services: ServiceRanges = DEFAULT_RANGES
    uid: Callable[[], str] = new_uid
    suffix: Callable[[], str] = new_suffix


def defaults(kind: ResourceKind, obj: JsonObject) -> JsonObject:
    """The object as the server decodes it: zero values dropped, quantities in canonical form, defaults filled in.

    For a custom kind: unknown fields pruned, the schema's defaults filled in. ``obj`` has the kind's apiVersion and
    kind. The result is a copy that the caller may change, but for values of no declared type. Raises DecodeError.
    """
    if kind.custom is not None:
        return custom_objects.decoded(
            kind.custom.schema, obj, preserve_unknown_fields=kind.custom.preserve_unknown_fields
        )
    decoded = decode(obj, _schema(kind)).object
    if kind.kind == "Secret" and not kind.group:
        _fold_string_data(decoded)
    set_defaults(decoded)
    if kind.kind == "NetworkPolicy":
        _keep_empty_rules(decoded, obj)
    return decoded


def _schema(kind: ResourceKind) -> Schema:
    """The type of a built-in kind."""
    found = builtin(kind.group, kind.version, kind.kind)
    assert found is not None, kind.gvk
    return found


def _fold_string_data(secret: JsonObject) -> None:
    """``stringData`` is written only: its values go into ``data``."""
    texts = secret.pop("stringData", None)
    if isinstance(texts, dict) and all(isinstance(text, str) for text in texts.values()):
        encoded = {key: base64.b64encode(text.encode()).decode("ascii") for key, text in texts.items()}
        secret["data"] = {**(secret.get("data") or {}), **encoded}


def _keep_empty_rules(policy: JsonObject, sent: JsonObject) -> None:
    """An empty rule list counts as a change of a stored policy, which cannot hold one; ``update`` drops it again."""
    for key in ("ingress", "egress"):
        if isinstance(sent.get("spec"), dict) and sent["spec"].get(key) == []:
            policy["spec"][key] = []


def create(kind: ResourceKind, obj: JsonObject, ctx: Context) -> JsonObject:
    """The object as it is stored: named, with uid, creationTimestamp and generation, status as at birth, addresses
    given.

    ``obj`` comes from ``defaults``; its namespace is set. Raises ApiError 403 or 422.
    """
    new = _copied(kind, obj)
    _admit_new(new, ctx)
    _set_system_metadata(kind, new, ctx)
    key = (kind.api_version, kind.kind)
    if kind.has_status and key not in preparation.KEEP_STATUS_AT_CREATE:
        if kind.custom is not None:
            new.pop("status", None)
        else:
            new["status"] = _copy_value(zero(_schema(kind))["status"])
    prepare = preparation.AT_CREATE.get(key)
    if prepare is not None:
        prepare(new)
    errors = validate_create(kind, new)
    if not errors and kind.kind == "Service" and not kind.group:
        new, errors = allocation.allocate(new, ctx.reader.list("services"), ctx.services)
    if errors:
        raise _refused(kind, new, errors)
    quotas.admit(kind, new, ctx.reader)
    return _without_empty_rules(kind, new)


def _copied(kind: ResourceKind, obj: JsonObject) -> JsonObject:
    """A copy deep enough to be changed: a built-in object is small, and a custom one changes at its top only."""
    if kind.custom is not None:
        return {**obj, "metadata": {**obj["metadata"]}}
    managed = obj["metadata"].get("managedFields")
    bare = {**obj, "metadata": {key: value for key, value in obj["metadata"].items() if key != "managedFields"}}
    copied = _copy(bare)
    if managed is not None:
        copied["metadata"]["managedFields"] = managed
    return copied


def _copy(obj: JsonObject) -> JsonObject:
    return {key: _copy_value(value) for key, value in obj.items()}


def _copy_value(value: object) -> object:
    if isinstance(value, dict):
        return {key: _copy_value(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_copy_value(item) for item in value]
    return value


def _admit_new(obj: JsonObject, ctx: Context) -> None:
    match (obj["apiVersion"], obj["kind"]):
        case ("v1", "Pod"):
            admission.pod(obj, ctx.reader, ctx.suffix)
        case ("v1", "PersistentVolumeClaim"):
            admission.persistent_volume_claim(obj, ctx.reader)
        case ("v1", "Node"):
            admission.node(obj)
        case ("certificates.k8s.io/v1", "CertificateSigningRequest"):
            obj["spec"]["username"] = ctx.username
        case _:
            pass


def _set_system_metadata(kind: ResourceKind, obj: JsonObject, ctx: Context) -> None:
    metadata = obj["metadata"]
    if not metadata.get("name") and metadata.get("generateName"):
        metadata["name"] = generated_name(metadata["generateName"], ctx.suffix())
    for key in ("resourceVersion", "selfLink", "deletionTimestamp", "deletionGracePeriodSeconds"):
        metadata.pop(key, None)
    metadata["uid"] = ctx.uid()
    metadata["creationTimestamp"] = ctx.now
    if kind.generation:
        metadata["generation"] = 1


_KEPT_METADATA = ("creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "generation", "selfLink")
"""What no update changes, whatever it says. A wrong uid is not passed over, it is a fault."""


def update(kind: ResourceKind, new: JsonObject, old: JsonObject, ctx: Context, *, subresource: str = "") -> JsonObject:
    """The object as it replaces ``old``: what this (sub)resource may not touch is kept from ``old``, generation
    counted.

    ``subresource`` is "" or "status", "scale", "finalize", …: a status write keeps all but status, an ordinary one
    keeps status where it is a subresource. ``new`` comes from ``defaults`` and carries the new managedFields. Raises
    ApiError 403 or 422.
    """
    updated = _copied(kind, new)
    _keep_metadata(updated, old)
    if subresource == "status":
        updated = _only_status(kind, updated, old)
    else:
        if kind.has_status:
            _take(updated, old, "status")
        if subresource == "resize":
            updated = preparation.resized(updated, old)
        elif subresource == "ephemeralcontainers":
            updated = preparation.with_ephemeral_containers(updated, old)
        elif subresource != "finalize":
            prepare = preparation.AT_UPDATE.get((kind.api_version, kind.kind))
            if prepare is not None:
                prepare(updated, old)
        if kind.generation and preparation.generation_moves(updated, old, has_status=kind.has_status):
            updated["metadata"]["generation"] = old["metadata"].get("generation", 0) + 1
    updated = _without_empty_rules(kind, updated)
    errors = validate_update(kind, updated, old, subresource=subresource)
    if not errors and kind.kind == "Service" and not kind.group and not subresource:
        own = old["metadata"]["uid"]
        others = [each for each in ctx.reader.list("services") if each["metadata"]["uid"] != own]
        updated, errors = allocation.allocate(updated, others, ctx.services)
    if errors:
        raise _refused(kind, updated, errors)
    return updated


def _keep_metadata(new: JsonObject, old: JsonObject) -> None:
    for key in _KEPT_METADATA:
        _take(new["metadata"], old["metadata"], key)
    if not new["metadata"].get("uid"):
        new["metadata"]["uid"] = old["metadata"]["uid"]


def _take(new: JsonObject, old: JsonObject, key: str) -> None:
    """Give ``new`` the value of ``old`` under ``key``, or none where ``old`` has none."""
    if key in old:
        new[key] = old[key]
    else:
        new.pop(key, None)


def _only_status(kind: ResourceKind, new: JsonObject, old: JsonObject) -> JsonObject:
    """``old`` with the status of ``new``. Of metadata a built-in kind takes what is sent, a custom one nothing."""
    kept = {key: value for key, value in old.items() if key != "status"}
    if kind.custom is not None:
        kept["metadata"] = {**old["metadata"]}
        _take(kept["metadata"], new["metadata"], "managedFields")
        _take(kept["metadata"], new["metadata"], "resourceVersion")
    else:
        kept["metadata"] = new["metadata"]
        if kind.kind == "Deployment":
            _take(kept["metadata"], old["metadata"], "labels")
    if "status" in new:
        kept["status"] = new["status"]
    return kept


def _without_empty_rules(kind: ResourceKind, obj: JsonObject) -> JsonObject:
    if kind.kind == "NetworkPolicy":
        for key in ("ingress", "egress"):
            if obj["spec"].get(key) == []:
                del obj["spec"][key]
    return obj


def _refused(kind: ResourceKind, obj: JsonObject, errors: list[FieldError]) -> Exception:
    return invalid(kind.group, kind.kind, obj["metadata"].get("name") or "", errors)


def convert(kind: ResourceKind, obj: JsonObject) -> JsonObject:
    """The object in the version of ``kind``: ``obj`` may be in any version that shares its storage."""
    return conversion.convert(kind, obj)
