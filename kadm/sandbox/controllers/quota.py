"""The status of ResourceQuotas: how much of what they limit is in use. Source: pkg/quota/v1 of Kubernetes 1.36.

Counted are objects (``count/RESOURCE.GROUP``, and the old names such as ``pods`` or ``services``) and what pods that
have not finished request. Scopes are left out: such a quota counts everything.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from kadm.model.quantity import QuantityError, format_quantity, parse_quantity
from kadm.sandbox.api import ApiServer, Event, Object
from kadm.sandbox.controllers.actions import Update, perform
from kadm.sandbox.controllers.loop import Key
from kadm.sandbox.controllers.placement import requests
from kadm.sandbox.controllers.pods import finished

RESOURCE = "resourcequotas"
OLD_NAMES = frozenset(
    {
        "configmaps",
        "persistentvolumeclaims",
        "replicationcontrollers",
        "resourcequotas",
        "secrets",
        "services",
    }
)
BINARY = ("memory", "storage")


def counted_resource(limit: str) -> str:
    """The resource whose objects a limit counts, "" if it counts no objects."""
    if limit.startswith("count/"):
        return limit.removeprefix("count/")
    return limit if limit in OLD_NAMES else ""


def used(limit: str, objects: Mapping[str, int], requested: Mapping[str, Fraction], pods: int) -> str:
    """The amount in use, as a quantity. ``requested`` is the sum over pods, as ``requests.cpu`` and so on."""
    if resource := counted_resource(limit):
        return str(objects.get(resource, 0))
    if limit == "pods":
        return str(pods)
    name = limit if limit.startswith(("requests.", "limits.")) else f"requests.{limit}"
    binary = any(word in limit for word in BINARY)
    return format_quantity(requested.get(name, Fraction(0)), "BinarySI" if binary else "DecimalSI")


@dataclass(frozen=True)
class Quotas:
    """The resource quota controller."""

    api: ApiServer

    def wakes(self, event: Event) -> Iterable[Key]:
        metadata = event.object["metadata"]
        if event.resource == RESOURCE:
            yield metadata["namespace"], metadata["name"]
        elif space := metadata.get("namespace"):
            for quota in self.api.list(RESOURCE, space):
                yield space, quota["metadata"]["name"]

    def sync(self, namespace: str, name: str) -> float | None:
        quota = self.api.find(RESOURCE, namespace, name)
        if quota is None:
            return None
        hard = quota["spec"].get("hard") or {}
        objects = {
            resource: len(self.api.store.list(resource, namespace))
            for limit in hard
            if (resource := counted_resource(limit))
        }
        pods = [pod for pod in self.api.list("pods", namespace) if not finished(pod)]
        requested = _requested(pods)
        status = {"hard": hard, "used": {limit: used(limit, objects, requested, len(pods)) for limit in hard}}
        if status != quota.get("status"):
            perform(self.api, [Update(RESOURCE, {**quota, "status": status}, "status")])
        return None


def _requested(pods: Iterable[Object]) -> dict[str, Fraction]:
    total: dict[str, Fraction] = {}
    for pod in pods:
        for name, amount in requests(pod).items():
            total[f"requests.{name}"] = total.get(f"requests.{name}", Fraction(0)) + amount
        for container in pod["spec"].get("containers") or ():
            for name, text in ((container.get("resources") or {}).get("limits") or {}).items():
                try:
                    amount = parse_quantity(text)
                except QuantityError:
                    continue
                total[f"limits.{name}"] = total.get(f"limits.{name}", Fraction(0)) + amount
    return total
