"""Objects and a reader for the tests of kinds."""

from __future__ import annotations

import copy
import itertools
from typing import Any

from kadm.model.objects import JsonObject
from kadm.sandbox.kinds import strategy
from kadm.sandbox.kinds.registry import BUILTIN_KINDS, ResourceKind

NOW = "2026-01-02T03:04:05Z"
_KINDS = {(kind.api_version, kind.kind): kind for kind in BUILTIN_KINDS}


class Objects:
    """A reader over a few objects, by resource."""

    def __init__(self, held: dict[str, list[JsonObject]] | None = None) -> None:
        self._held = held or {}

    def find(self, resource: str, namespace: str, name: str) -> JsonObject | None:
        return next((each for each in self.list(resource, namespace or None) if each["metadata"]["name"] == name), None)

    def list(self, resource: str, namespace: str | None = None) -> list[JsonObject]:
        held = self._held.get(resource, [])
        return [each for each in held if namespace in (None, each["metadata"].get("namespace"))]


def service_account(name: str = "default", **fields: Any) -> JsonObject:
    return {"metadata": {"name": name, "namespace": "shop"}, **fields}


def a_context(**held: list[JsonObject]) -> strategy.Context:
    """A context whose uids and suffixes are counted: uid-1, uid-2, …; the default ServiceAccount is there."""
    numbers, suffixes = itertools.count(1), itertools.count(1)
    objects = {"serviceaccounts": [service_account()], **held}
    return strategy.Context(
        reader=Objects(objects),
        now=NOW,
        uid=lambda: f"uid-{next(numbers)}",
        suffix=lambda: f"sufx{next(suffixes)}",
    )


def kind_of(obj: JsonObject) -> ResourceKind:
    return _KINDS[(obj["apiVersion"], obj["kind"])]


def an_object(api_version: str, kind: str, name: str = "x", **fields: Any) -> JsonObject:
    """An object of a built-in kind, in namespace ``shop`` where the kind has one."""
    obj: JsonObject = {"apiVersion": api_version, "kind": kind, "metadata": {"name": name}, **fields}
    if kind_of(obj).namespaced:
        obj["metadata"]["namespace"] = "shop"
    return obj


def a_template(**fields: Any) -> JsonObject:
    return {"metadata": {"labels": {"app": "x"}}, "spec": {"containers": [{"name": "c", "image": "i:1"}], **fields}}


def a_workload(kind: str, **fields: Any) -> JsonObject:
    """A workload of group apps whose selector fits its template."""
    spec = {"selector": {"matchLabels": {"app": "x"}}, "template": a_template(), **fields}
    return an_object("apps/v1", kind, spec=spec)


def decoded(obj: JsonObject) -> JsonObject:
    return strategy.defaults(kind_of(obj), obj)


def created(obj: JsonObject, ctx: strategy.Context | None = None) -> JsonObject:
    return strategy.create(kind_of(obj), decoded(obj), ctx or a_context())


def updated(
    new: JsonObject, old: JsonObject, ctx: strategy.Context | None = None, *, subresource: str = ""
) -> JsonObject:
    return strategy.update(kind_of(new), decoded(new), old, ctx or a_context(), subresource=subresource)


def changed(obj: JsonObject, *path: str | int, to: Any) -> JsonObject:
    """A copy of ``obj`` with another value at ``path``; None removes it."""
    copied = copy.deepcopy(obj)
    *parents, last = path
    holder: Any = copied
    for step in parents:
        holder = holder.setdefault(step, {}) if isinstance(step, str) else holder[step]
    if to is None:
        del holder[last]
    else:
        holder[last] = to
    return copied
