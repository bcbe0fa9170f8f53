"""Types that members will serve once this run's definitions are applied there.

A CustomResourceDefinition is applied, and waited for, before what it defines: so its type counts as served from the
moment that it is decided where the definition goes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kadm.model.decision import Decision
from kadm.model.definitions import defined_types
from kadm.model.objects import GroupVersionKind, ObjectKey
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
        defined = defined_types(manifest.object)
        for name in decisions[manifest.key].placement:
            found.setdefault(name, set()).update(defined)
    return {name: frozenset(types) for name, types in found.items()}
