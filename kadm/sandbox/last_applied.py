"""The annotation in which client-side ``kubectl apply`` keeps what it applied, as server-side apply minds it.

When ``kubectl`` changes from client-side to server-side apply, the fields of that annotation are its own: they raise no
conflict, and the annotation is kept up to date. Other managers do not look at it.

Source of the rules: apimachinery, pkg/util/managedfields (last-applied manager and updater).
"""

from __future__ import annotations

import json
from typing import Any

from kadm.sandbox import field_sets, typed
from kadm.sandbox.field_sets import LEAF, FieldSet
from kadm.sandbox.schema import Schema

Object = dict[str, Any]

MANAGER = "kubectl"
ANNOTATION = "kubectl.kubernetes.io/last-applied-configuration"


def owned_by_client_side_apply(live: Object, schema: Schema) -> FieldSet:
    """The fields of the annotation that still have its values; none without such an annotation of this version."""
    text = _annotation(live)
    if not text:
        return LEAF
    try:
        applied = json.loads(text)
    except json.JSONDecodeError:
        return LEAF
    if not isinstance(applied, dict) or applied.get("apiVersion") != schema.api_version:
        return LEAF
    if typed.faults(applied, schema.root):
        return LEAF
    difference = typed.compare(applied, live, schema.root)
    fields = field_sets.difference(typed.field_set(applied, schema.root), difference.changed)
    return field_sets.difference(fields, difference.removed)


def refreshed(obj: Object, applied: Object) -> Object:
    """``obj`` with the annotation, if it has one, saying what was applied now."""
    if not _annotation(obj):
        return obj
    metadata = dict(applied.get("metadata") or {})
    if "annotations" in metadata:
        metadata["annotations"] = {
            name: value for name, value in (metadata["annotations"] or {}).items() if name != ANNOTATION
        }
    text = json.dumps({**applied, "metadata": metadata}, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    annotations = {**obj["metadata"]["annotations"], ANNOTATION: text + "\n"}
    return {**obj, "metadata": {**obj["metadata"], "annotations": annotations}}


def _annotation(obj: Object) -> str:
    annotations = obj.get("metadata", {}).get("annotations")
    found = annotations.get(ANNOTATION) if isinstance(annotations, dict) else None
    return found if isinstance(found, str) else ""
