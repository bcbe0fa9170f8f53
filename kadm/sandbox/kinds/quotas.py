"""What a ResourceQuota refuses: a new object that would exceed it.

Source: the ResourceQuota admission plugin. Use is counted from the objects themselves, not taken from the quota's
status. Quotas with scopes refuse nothing here, and an update is never refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Protocol

from kadm.model.objects import JsonObject
from kadm.model.quantity import format_quantity
from kadm.sandbox.kinds import quantities
from kadm.sandbox.kinds.registry import ResourceKind
from kadm.sandbox.responses import forbidden

_COUNTED_BY_NAME = (
    "configmaps",
    "persistentvolumeclaims",
    "pods",
    "replicationcontrollers",
    "resourcequotas",
    "secrets",
    "services",
)
_FINISHED = ("Failed", "Succeeded")
_COMPUTE = ("cpu", "memory", "ephemeral-storage")


class Lister(Protocol):
    """Lists the objects that are there already."""

    def list(self, resource: str, namespace: str | None = None) -> list[JsonObject]:
        """The objects of a resource (``deployments.apps``) in one namespace."""


def admit(kind: ResourceKind, obj: JsonObject, lister: Lister) -> None:
    """Refuse a new object that exceeds a quota of its namespace. Raises ApiError 403."""
    if not kind.namespaced:
        return
    namespace = obj["metadata"]["namespace"]
    for quota in lister.list("resourcequotas", namespace):
        spec = quota["spec"]
        if spec.get("scopes") or spec.get("scopeSelector"):
            continue
        exceeded: list[tuple[str, str, str, str]] = []
        missing: list[str] = []
        for limit, hard in sorted((spec.get("hard") or {}).items()):
            measure = _measure(kind, limit)
            if measure is None:
                continue
            asked = measure(obj)
            if asked is None:
                missing.append(limit)
                continue
            present = [each for each in lister.list(kind.group_resource, namespace) if _counts(kind, each)]
            used = sum((measure(each) or Fraction(0) for each in present), Fraction(0))
            if asked and used + asked > (quantities.parse(hard) or 0):
                exceeded.append((limit, _shown(limit, asked), _shown(limit, used), hard))
        name = quota["metadata"]["name"]
        if missing:
            raise _refused(kind, obj, f"failed quota: {name}: must specify {_missing_text(obj, missing)}")
        if exceeded:
            asked_text, used_text, hard_text = (
                ",".join(f"{row[0]}={row[column]}" for row in exceeded) for column in (1, 2, 3)
            )
            why = f"exceeded quota: {name}, requested: {asked_text}, used: {used_text}, limited: {hard_text}"
            raise _refused(kind, obj, why)


def _refused(kind: ResourceKind, obj: JsonObject, why: str) -> Exception:
    return forbidden(kind.plural, kind.group, obj["metadata"]["name"], why)


def _counts(kind: ResourceKind, obj: JsonObject) -> bool:
    """Whether an object counts: a Pod that has finished does not."""
    return not (kind.group_resource == "pods" and (obj.get("status") or {}).get("phase") in _FINISHED)


def _measure(kind: ResourceKind, limit: str) -> Callable[[JsonObject], Fraction | None] | None:
    """How much of a limit one object of this kind takes; None where the limit is not about the kind.

    The measure itself answers None where the object must say how much, and does not.
    """
    resource = kind.group_resource
    if limit == f"count/{resource}" or (limit == resource and resource in _COUNTED_BY_NAME):
        return lambda _: Fraction(1)
    if resource == "services" and limit == "services.nodeports":
        return _service_ports
    if resource == "services" and limit == "services.loadbalancers":
        return lambda service: Fraction(service["spec"].get("type") == "LoadBalancer")
    if resource == "persistentvolumeclaims" and limit == "requests.storage":
        return _claimed
    if resource == "pods":
        field, _, name = limit.rpartition(".")
        if name in _COMPUTE and field in ("", "requests", "limits"):
            return lambda pod: _pod_total(pod, field or "requests", name)
    return None


def _service_ports(service: JsonObject) -> Fraction:
    return Fraction(sum(1 for port in service["spec"].get("ports") or () if port.get("nodePort")))


def _claimed(claim: JsonObject) -> Fraction:
    requests = (claim["spec"].get("resources") or {}).get("requests") or {}
    return quantities.parse(requests.get("storage", "0")) or Fraction(0)


def _pod_total(pod: JsonObject, field: str, name: str) -> Fraction | None:
    """What a pod asks for in all; None if a container does not say."""
    spec = pod["spec"]
    running = _amounts(spec.get("containers") or (), field, name)
    starting = _amounts(spec.get("initContainers") or (), field, name)
    if running is None or starting is None:
        return None
    return max(sum(running, Fraction(0)), max(starting, default=Fraction(0)))


def _amounts(containers: Iterable[JsonObject], field: str, name: str) -> list[Fraction] | None:
    amounts = []
    for container in containers:
        text = ((container.get("resources") or {}).get(field) or {}).get(name)
        amount = None if text is None else quantities.parse(text)
        if amount is None:
            return None
        amounts.append(amount)
    return amounts


def _missing_text(pod: JsonObject, limits: Iterable[str]) -> str:
    parts = []
    for limit in limits:
        field, _, name = limit.rpartition(".")
        silent = [
            container["name"]
            for key in ("containers", "initContainers")
            for container in pod["spec"].get(key) or ()
            if name not in (container["resources"].get(field or "requests") or {})
        ]
        parts.append(f"{limit} for: {','.join(silent)}")
    return "; ".join(parts)


def _shown(limit: str, amount: Fraction) -> str:
    binary = limit.endswith(("memory", "storage"))
    return format_quantity(amount, "BinarySI" if binary else "DecimalSI")
