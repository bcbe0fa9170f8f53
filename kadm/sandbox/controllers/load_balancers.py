"""Addresses for Services of type LoadBalancer, as a cloud would give them; nothing listens there.

Source: the service controller of cloud-provider, Kubernetes 1.36.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from kadm.sandbox.api import ApiServer, Event, Object
from kadm.sandbox.controllers.actions import Update, perform
from kadm.sandbox.controllers.loop import Key
from kadm.sandbox.controllers.objects import being_deleted

MANAGER = "cloud-controller-manager"
FIRST, COUNT = (172, 19, 0, 1), 65_000


def wanted(service: Object, taken: set[str]) -> Object:
    """``status.loadBalancer`` of a Service: a free address if it is a load balancer, otherwise nothing."""
    spec = service["spec"]
    current: Object = service.get("status", {}).get("loadBalancer") or {}
    if spec.get("type") != "LoadBalancer":
        return {}
    if spec.get("loadBalancerClass"):
        return current  # somebody else's
    if current.get("ingress"):
        return current
    asked = spec.get("loadBalancerIP", "")
    free = asked or next(address for number in range(COUNT) if (address := _address(number)) not in taken)
    return {"ingress": [{"ip": free, "ipMode": "VIP"}]}


@dataclass(frozen=True)
class LoadBalancers:
    """Gives Services of type LoadBalancer an address, and takes it back when they change their type."""

    api: ApiServer

    def wakes(self, event: Event) -> Iterable[Key]:
        if event.resource == "services" and event.type != "DELETED":
            yield event.object["metadata"]["namespace"], event.object["metadata"]["name"]

    def sync(self, namespace: str, name: str) -> float | None:
        service = self.api.find("services", namespace, name)
        if service is None or being_deleted(service):
            return None
        status = service.get("status", {})
        fresh = wanted(service, self._taken())
        if fresh != (status.get("loadBalancer") or {}):
            changed = {**service, "status": {**status, "loadBalancer": fresh}}
            perform(self.api, [Update("services", changed, "status")], MANAGER)
        return None

    def _taken(self) -> set[str]:
        return {
            entry["ip"]
            for service in self.api.list("services")
            for entry in (service.get("status", {}).get("loadBalancer") or {}).get("ingress") or ()
            if entry.get("ip")
        }


def _address(number: int) -> str:
    first, second, third, fourth = FIRST
    return f"{first}.{second}.{third + number // 250}.{fourth + number % 250}"
