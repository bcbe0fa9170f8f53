"""Native objects as plain JSON values, and what names them.

An object is the ``dict`` that its JSON is: no generated model classes stand on the hot path (design, section 13).
Objects that a stage hands on are never changed in place; whoever changes one copies the part that it changes.
"""

from __future__ import annotations

from typing import Any

import msgspec

JsonValue = Any
"""None, bool, int, float, str, list or dict of the same."""

JsonObject = dict[str, Any]
"""A decoded JSON object."""

Path = tuple[str | int, ...]
"""Where a value stands in an object: keys and list indexes from the root, e.g. ``("spec", "ports", 0, "port")``."""


class ObjectKey(msgspec.Struct, frozen=True, order=True):
    """Identity of an object in one member, in whatever version. ``namespace`` is empty for cluster scope."""

    group: str
    kind: str
    namespace: str
    name: str

    def __str__(self) -> str:
        kind = f"{self.kind}.{self.group}" if self.group else self.kind
        return f"{kind} {self.qualified_name}"

    @property
    def qualified_name(self) -> str:
        """``namespace/name``, or ``name`` for cluster scope. This is KubeAdmiral's key of a scheduling unit."""
        return f"{self.namespace}/{self.name}" if self.namespace else self.name


class GroupVersionKind(msgspec.Struct, frozen=True, order=True):
    """Group (empty for core), version and kind."""

    group: str
    version: str
    kind: str

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version

    def __str__(self) -> str:
        return f"{self.api_version} {self.kind}"


def gvk_of(obj: JsonObject) -> GroupVersionKind:
    """Group, version and kind as the object states them."""
    group, _, version = str(obj["apiVersion"]).rpartition("/")
    return GroupVersionKind(group, version, str(obj["kind"]))


def key_of(obj: JsonObject) -> ObjectKey:
    """Identity of an object that states all of it itself (a live one, or a rendered one)."""
    gvk = gvk_of(obj)
    metadata = obj["metadata"]
    return ObjectKey(gvk.group, gvk.kind, metadata.get("namespace") or "", metadata["name"])


def at(obj: JsonValue, path: Path) -> JsonValue:
    """The value at ``path``, or None where it is absent or null."""
    for step in path:
        if isinstance(obj, dict):
            obj = obj.get(str(step))
        elif isinstance(obj, list) and isinstance(step, int) and -len(obj) <= step < len(obj):
            obj = obj[step]
        else:
            return None
    return obj


def path_text(path: Path) -> str:
    """A path as people write it: ``spec.template.spec.containers[0].image``; keys with dots are quoted."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        elif step.startswith("[") and step.endswith("]"):  # an item of a keyed list, as compare names it
            text += step
        elif any(mark in step for mark in '.[]"'):
            text += f'["{step}"]'
        else:
            text += f".{step}" if text else step
    return text
