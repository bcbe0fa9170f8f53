"""What one pod of a workload asks for (scheduling spec 2.3)."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from kadm.errors import KadmError
from kadm.model.objects import JsonObject, ObjectKey, Path, at
from kadm.model.quantity import QuantityError, milli, parse_quantity, whole
from kadm.model.workload import workload_kind

CPU = "cpu"
MEMORY = "memory"
EPHEMERAL_STORAGE = "ephemeral-storage"
GPU = "nvidia.com/gpu"
"""The one scalar resource that KubeAdmiral keeps in a scheduling unit, where Katalyst's do not count."""
_KATALYST_DOMAIN = "resource.katalyst.kubewharf.io/"
RECLAIMED_CPU = _KATALYST_DOMAIN + "reclaimed_millicpu"
KATALYST = (RECLAIMED_CPU, _KATALYST_DOMAIN + "reclaimed_memory", _KATALYST_DOMAIN + "net_bandwidth")
"""What Katalyst offers: resources that pods asked for and do not use. They count where the fleet says so."""

Amounts = Mapping[str, int]
"""Resource → amount: cpu in milli, the rest in whole units."""

NOTHING: Amounts = {}


def pod_request(key: ObjectKey, obj: JsonObject) -> Amounts:
    """What one pod of ``obj`` asks for; empty for a kind that holds no pods. Unknown resources are dropped.

    Sum over containers (the limit where no request is given), at least the request of every init container, plus the
    pod's overhead. Raises KadmError with the path where a pod spec is missing or an amount is no quantity.
    """
    kind = workload_kind(key.group, key.kind)
    if kind is None or (kind.group, kind.kind) == ("apps", "ReplicaSet"):  # KubeAdmiral reads none from a ReplicaSet
        return NOTHING
    spec = at(obj, kind.pod_spec_path)
    if not isinstance(spec, dict):
        raise RequestError("it has no pod spec", kind.pod_spec_path)
    total: dict[str, Fraction] = {}
    for index, container in enumerate(_containers(spec, "containers", kind.pod_spec_path)):
        path = (*kind.pod_spec_path, "containers", index, "resources")
        limits = _amounts(at(container, ("resources", "limits")), (*path, "limits"))
        requests = _amounts(at(container, ("resources", "requests")), (*path, "requests"))
        for resource, amount in {**limits, **requests}.items():
            total[resource] = total.get(resource, Fraction(0)) + amount
    for index, container in enumerate(_containers(spec, "initContainers", kind.pod_spec_path)):
        path = (*kind.pod_spec_path, "initContainers", index, "resources", "requests")
        for resource, amount in _amounts(at(container, ("resources", "requests")), path).items():
            total[resource] = max(total.get(resource, amount), amount)
    for resource, amount in _amounts(spec.get("overhead"), (*kind.pod_spec_path, "overhead")).items():
        total[resource] = total.get(resource, Fraction(0)) + amount
    return {
        resource: milli(amount) if resource == CPU else whole(amount)
        for resource, amount in sorted(total.items())
        if _counts(resource)
    }


class RequestError(KadmError):
    """A pod's request cannot be read. ``path`` leads to the fault in the object."""

    def __init__(self, what: str, path: Path) -> None:
        super().__init__(what)
        self.path = path


def _containers(spec: JsonObject, field: str, pod_spec_path: Path) -> list[Any]:
    containers = spec.get(field) or []
    if not isinstance(containers, list):
        raise RequestError(f"{field} is no list", (*pod_spec_path, field))
    return containers


def _amounts(quantities: Any, path: Path) -> dict[str, Fraction]:
    if quantities is None:
        return {}
    if not isinstance(quantities, dict):
        raise RequestError("it is no map of quantities", path)
    found = {}
    for resource, text in quantities.items():
        try:
            found[resource] = parse_quantity(text)
        except (QuantityError, TypeError) as error:
            raise RequestError(f"{text!r} is no quantity", (*path, resource)) from error
    return found


def _counts(resource: str) -> bool:
    """Whether ``resource`` is one that the scheduler knows: cpu, memory, ephemeral storage, or a scalar."""
    if resource in (CPU, MEMORY, EPHEMERAL_STORAGE):
        return True
    domain, slash, _ = resource.partition("/")
    if not slash:
        return resource.startswith("hugepages-")
    native = domain.endswith("kubernetes.io")
    return native or not resource.startswith("requests.")
