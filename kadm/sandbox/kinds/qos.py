"""The quality-of-service class of a pod. Source: the pod documentation, "Quality of Service classes"."""

from __future__ import annotations

from kadm.model.objects import JsonObject
from kadm.sandbox.kinds import quantities

_COUNTED = ("cpu", "memory")


def qos_class(spec: JsonObject) -> str:
    """``Guaranteed``, ``Burstable`` or ``BestEffort``."""
    containers = [*(spec.get("containers") or ()), *(spec.get("initContainers") or ())]
    asked, guaranteed = False, True
    for container in containers:
        resources = container.get("resources") or {}
        requests, limits = _counted(resources.get("requests")), _counted(resources.get("limits"))
        asked = asked or bool(requests or limits)
        guaranteed = (
            guaranteed
            and len(limits) == len(_COUNTED)
            and all(requests.get(name, limits[name]) == limits[name] for name in limits)
        )
    if not asked:
        return "BestEffort"
    return "Guaranteed" if guaranteed else "Burstable"


def _counted(resources: JsonObject | None) -> dict[str, object]:
    found = {name: quantities.parse(str(value)) for name, value in (resources or {}).items() if name in _COUNTED}
    return {name: value for name, value in found.items() if value}
