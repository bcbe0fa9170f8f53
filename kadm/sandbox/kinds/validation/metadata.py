"""Faults in the metadata of objects."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kadm.model.objects import JsonObject
from kadm.sandbox.kinds.field_errors import FieldError, forbidden, invalid_value, required, too_long
from kadm.sandbox.kinds.validation import names

_MAX_ANNOTATIONS = 256 * 1024
_STANDARD_FINALIZERS = ("foregroundDeletion", "kubernetes", "orphan")


def new_metadata(metadata: JsonObject, *, namespaced: bool, name_rule: names.NameRule) -> list[FieldError]:
    """The faults of a new object's metadata."""
    errors: list[FieldError] = []
    base = metadata.get("generateName")
    if base:
        masked = f"{base[:-1]}a" if base.endswith("-") else base  # a suffix follows, so the last dash may stay
        errors += [invalid_value("metadata.generateName", base, fault) for fault in name_rule(masked)]
    name = metadata.get("name")
    if not name:
        errors.append(required("metadata.name", "name or generateName is required"))
    else:
        errors += [invalid_value("metadata.name", name, fault) for fault in name_rule(name)]
    if namespaced and not metadata.get("namespace"):
        errors.append(required("metadata.namespace"))
    elif not namespaced and metadata.get("namespace"):
        errors.append(forbidden("metadata.namespace", "not allowed on this type"))
    return errors + common(metadata)


def changed_metadata(new: JsonObject, old: JsonObject) -> list[FieldError]:
    """The faults of an existing object's new metadata, each of them twice.

    A real server looks twice: once for all kinds, once for the kind itself. Its causes tell each fault twice.
    """
    errors: list[FieldError] = []
    if new.get("uid") != old.get("uid"):
        errors.append(invalid_value("metadata.uid", new.get("uid"), "field is immutable"))
    if old.get("deletionTimestamp"):
        held = old.get("finalizers") or ()
        added = [each for each in new.get("finalizers") or () if each not in held]
        if added:
            listed = ", ".join(f'"{each}"' for each in sorted(added))
            why = "no new finalizers can be added if the object is being deleted, found new finalizers"
            errors.append(forbidden("metadata.finalizers", f"{why} []string{{{listed}}}"))
    errors += common(new)
    return errors + errors


def common(metadata: JsonObject) -> list[FieldError]:
    """The faults that do not depend on the object's name."""
    errors = label_map(metadata.get("labels") or {}, "metadata.labels")
    errors += annotation_map(metadata.get("annotations") or {}, "metadata.annotations")
    errors += _owners(metadata.get("ownerReferences") or ())
    for index, finalizer in enumerate(metadata.get("finalizers") or ()):
        errors += finalizer_name(finalizer, f"metadata.finalizers[{index}]")
    return errors


def label_map(held: Mapping[str, str], field: str) -> list[FieldError]:
    """The faults of labels, or of a map selector."""
    errors: list[FieldError] = []
    for key, value in held.items():
        errors += [invalid_value(field, key, fault) for fault in names.qualified_name(key)]
        errors += [invalid_value(field, value, fault) for fault in names.label_value(value)]
    return errors


def annotation_map(held: Mapping[str, str], field: str) -> list[FieldError]:
    """The faults of annotations."""
    errors = [invalid_value(field, key, fault) for key in held for fault in names.qualified_name(key.lower())]
    size = sum(len(key.encode()) + len(str(value).encode()) for key, value in held.items())
    if size > _MAX_ANNOTATIONS:
        errors.append(too_long(field, _MAX_ANNOTATIONS))
    return errors


def finalizer_name(name: str, field: str) -> list[FieldError]:
    """The faults of one finalizer."""
    errors = [invalid_value(field, name, fault) for fault in names.qualified_name(name)]
    if not errors and "/" not in name and name not in _STANDARD_FINALIZERS:
        why = "name is neither a standard finalizer name nor is it fully qualified"
        errors.append(invalid_value(field, name, why))
    return errors


def _owners(owners: Iterable[JsonObject]) -> list[FieldError]:
    errors: list[FieldError] = []
    controllers = []
    for index, owner in enumerate(owners):
        field = f"metadata.ownerReferences[{index}]"
        version = (owner.get("apiVersion") or "").rpartition("/")[2]
        if not version:
            errors.append(
                invalid_value(f"{field}.apiVersion", owner.get("apiVersion", ""), "version must not be empty")
            )
        errors += [
            invalid_value(f"{field}.{key}", owner.get(key, ""), "must not be empty")
            for key in ("kind", "name", "uid")
            if not owner.get(key)
        ]
        if owner.get("controller"):
            controllers.append(owner)
    if len(controllers) > 1:
        first, second = controllers[0]["kind"], controllers[1]["kind"]
        why = f'Only one reference can have Controller set to true. Found "true" in references for {first} and {second}'
        errors.append(invalid_value("metadata.ownerReferences", list(owners), why))
    return errors
