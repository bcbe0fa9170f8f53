"""Which resources a member serves at the moment: the built-in ones and those that CRDs add."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kadm.sandbox import crd_schema
from kadm.sandbox.kinds.registry import BUILTIN_KINDS, ResourceKind
from kadm.sandbox.responses import qualified
from kadm.sandbox.schema import Schema, builtin


def resource_name(kind: ResourceKind) -> str:
    """The store's name for the resource of a kind: ``pods``, ``deployments.apps``; one for all versions."""
    return qualified(kind.plural, kind.storage_group)


class ServedKinds:
    """The served kinds by path and by resource. Custom ones come and go with their CRD."""

    def __init__(self) -> None:
        self._by_path: dict[tuple[str, str, str], ResourceKind] = {}
        self._stored: dict[str, ResourceKind] = {}
        self._custom: dict[str, tuple[ResourceKind, ...]] = {}
        self._schemas: dict[tuple[str, str, str], Schema] = {}
        self._rebuild()

    def at(self, group: str, version: str, plural: str) -> ResourceKind | None:
        """The kind served under this path, or None."""
        return self._by_path.get((group, version, plural))

    def of(self, resource: str) -> ResourceKind:
        """The storage version of a resource (``deployments.apps``). The resource must be served."""
        return self._stored[resource]

    def find(self, resource: str) -> ResourceKind | None:
        """The storage version of a resource, or None if it is not served."""
        return self._stored.get(resource)

    def all(self) -> Iterator[ResourceKind]:
        """Every served kind: built-in groups first, in discovery's order, then custom ones by name of their CRD."""
        yield from self._by_path.values()

    def stored(self) -> Iterator[tuple[str, ResourceKind]]:
        """Every resource that holds objects, with its storage version."""
        yield from self._stored.items()

    def schema(self, kind: ResourceKind) -> Schema:
        """The type of a served kind's objects."""
        path = (kind.group, kind.version, kind.plural)
        found = self._schemas.get(path)
        if found is None:
            if kind.custom is not None:
                found = crd_schema.from_crd(
                    kind.group,
                    kind.version,
                    kind.kind,
                    kind.custom.schema,
                    preserve_unknown_fields=kind.custom.preserve_unknown_fields,
                )
            else:
                found = builtin(kind.group, kind.version, kind.kind)
                assert found is not None, kind.gvk
            self._schemas[path] = found
        return found

    def groups(self) -> tuple[str, ...]:
        """The served groups in discovery's order, the core group ("") first."""
        return tuple(dict.fromkeys(kind.group for kind in self._by_path.values()))

    def versions(self, group: str) -> tuple[str, ...]:
        """The served versions of a group, the preferred one first; empty if the group is not served."""
        found = dict.fromkeys(kind.version for kind in self._by_path.values() if kind.group == group)
        return tuple(found) if not self.is_custom(group) else tuple(sorted(found, key=version_priority))

    def is_custom(self, group: str) -> bool:
        """Whether the group is served for CRDs only."""
        return any(kind.group == group for kinds in self._custom.values() for kind in kinds)

    def set_custom(self, crd: str, kinds: Iterable[ResourceKind]) -> None:
        """Serve what a CRD defines, in place of what it defined before; nothing if ``kinds`` is empty."""
        self._custom.pop(crd, None)
        if served := tuple(kinds):
            self._custom[crd] = served
        self._schemas.clear()
        self._rebuild()

    def _rebuild(self) -> None:
        custom = [kind for crd in sorted(self._custom) for kind in self._custom[crd]]
        self._by_path = {(kind.group, kind.version, kind.plural): kind for kind in (*BUILTIN_KINDS, *custom)}
        self._stored = {}
        for kind in self._by_path.values():
            if not kind.stored or "create" not in kind.verbs:
                continue
            name = resource_name(kind)
            if name not in self._stored or (kind.group, kind.version) == (kind.storage_group, kind.storage_version):
                self._stored[name] = kind


def version_priority(version: str) -> tuple[int, int, int, str]:
    """The sort key that puts the preferred version first: v2, v1, v1beta2, v1beta1, v1alpha1, others by name.

    Source: apimachinery pkg/version, CompareKubeAwareVersionStrings.
    """
    text = version[1:]
    for rank, stage in enumerate(("", "beta", "alpha")):
        major, found, minor = (text, "", "0") if not stage else text.partition(stage)
        if version.startswith("v") and major.isdigit() and minor.isdigit() and (not stage or found):
            return (rank, -int(major), -int(minor), "")
    return (3, 0, 0, version)
