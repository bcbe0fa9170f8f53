"""What a CustomResourceDefinition makes members serve."""

from __future__ import annotations

from kadm.model.objects import GroupVersionKind, JsonObject, at


def defined_types(definition: JsonObject) -> frozenset[GroupVersionKind]:
    """The types that a CustomResourceDefinition makes served."""
    group, kind = at(definition, ("spec", "group")), at(definition, ("spec", "names", "kind"))
    versions = at(definition, ("spec", "versions")) or []
    return frozenset(
        GroupVersionKind(str(group), str(version.get("name")), str(kind))
        for version in versions
        if isinstance(version, dict) and version.get("served") is True
    )
