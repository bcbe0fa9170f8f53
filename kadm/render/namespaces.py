"""Namespaces go where something in them goes (design, section 12, row 18)."""

from __future__ import annotations

from dataclasses import dataclass, field

from kadm.model.desired import DesiredObject
from kadm.model.objects import ObjectKey
from kadm.model.repository import RECORD_NAMESPACE
from kadm.render.digest import digest_of

BUILT_IN = frozenset({"default", "kube-node-lease", "kube-public", "kube-system"})
"""Every cluster has them; kadm neither makes nor changes them."""


def namespace_key(name: str) -> ObjectKey:
    """The key of the Namespace of this name."""
    return ObjectKey("", "Namespace", "", name)


def is_left_alone(name: str) -> bool:
    """Whether kadm never sends this Namespace, even if a manifest holds it."""
    return name in BUILT_IN or name == RECORD_NAMESPACE


def comes_bare(name: str) -> bool:
    """Whether kadm makes this Namespace where no manifest holds it; ``kube-*`` must be there already."""
    return not is_left_alone(name) and not name.startswith("kube-")


def bare_namespace(name: str, because: str) -> DesiredObject:
    """A Namespace that no manifest holds."""
    obj = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
    return DesiredObject(key=namespace_key(name), version="v1", object=obj, digest=digest_of(obj), because=because)


@dataclass
class Contents:
    """What one member holds, by namespace: the first key in it, and how many there are."""

    first: dict[str, ObjectKey] = field(default_factory=dict)
    count: dict[str, int] = field(default_factory=dict)

    def add(self, key: ObjectKey) -> None:
        """Count an object; cluster-scoped ones are in no namespace."""
        if not key.namespace:
            return
        before = self.first.get(key.namespace)
        if before is None or key < before:
            self.first[key.namespace] = key
        self.count[key.namespace] = self.count.get(key.namespace, 0) + 1

    def because(self, namespace: str) -> str:
        """Why the namespace is needed, in words."""
        return f"needed by {named(self.first[namespace], self.count[namespace])}"


def named(first: ObjectKey, count: int) -> str:
    """``first``, and how many there are beside it."""
    return f"{first} and {count - 1} more" if count > 1 else str(first)
