"""Types that members will serve once this run's definitions are applied there.

A CustomResourceDefinition is applied, and waited for, before what it defines: so its type counts as served from the
moment that it is decided where the definition goes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kadm.model.decision import Decision
from kadm.model.objects import GroupVersionKind, JsonObject, ObjectKey, at
from kadm.model.repository import Manifest


def defines_types(manifest: Manifest) -> bool:
    """Whether it is a CustomResourceDefinition."""
    return (manifest.key.group, manifest.key.kind) == ("apiextensions.k8s.io", "CustomResourceDefinition")


def promised_types(
    definitions: Iterable[Manifest], decisions: Mapping[ObjectKey, Decision]
) -> dict[str, frozenset[GroupVersionKind]]:
    """Member → types that it will serve, because their definitions go there."""
    found: dict[str, set[GroupVersionKind]] = {}
    for manifest in definitions:
        defined = _defined(manifest.object)
        for name in decisions[manifest.key].placement:
            found.setdefault(name, set()).update(defined)
    return {name: frozenset(types) for name, types in found.items()}


def _defined(definition: JsonObject) -> set[GroupVersionKind]:
    """The types that a CustomResourceDefinition makes served."""
    group, kind = at(definition, ("spec", "group")), at(definition, ("spec", "names", "kind"))
    versions = at(definition, ("spec", "versions")) or []
    return {
        GroupVersionKind(str(group), str(version.get("name")), str(kind))
        for version in versions
        if isinstance(version, dict) and version.get("served") is True
    }
