"""LimitRanges: defaults for containers, and what is over a limit.

Source: the LimitRanger admission plugin. Ratios (``maxLimitRequestRatio``) are checked for containers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction

from kadm.model.objects import JsonObject
from kadm.model.quantity import format_quantity
from kadm.sandbox.kinds import quantities
from kadm.sandbox.responses import forbidden

_ANNOTATION = "kubernetes.io/limit-ranger"


def admit_pod(pod: JsonObject, ranges: Iterable[JsonObject]) -> None:
    """Fill in a new Pod's default requests and limits, then check them. Changes ``pod``. Raises ApiError 403."""
    items = [item for each in ranges for item in each["spec"].get("limits") or ()]
    if not items:
        return
    for item in items:
        if item["type"] == "Container":
            _set_defaults(pod, item)
    faults: list[str] = []
    for item in items:
        if item["type"] == "Container":
            for container in _containers(pod):
                resources = container["resources"]
                faults += _faults("Container", item, resources.get("requests") or {}, resources.get("limits") or {})
        elif item["type"] == "Pod":
            faults += _faults("Pod", item, _total(pod, "requests"), _total(pod, "limits"))
    if faults:
        metadata = pod["metadata"]
        why = faults[0] if len(faults) == 1 else f"[{', '.join(dict.fromkeys(faults))}]"
        raise forbidden("pods", "", metadata.get("name") or metadata.get("generateName") or "", why)


def admit_claim(claim: JsonObject, ranges: Iterable[JsonObject]) -> None:
    """Check a new claim. Raises ApiError 403."""
    faults: list[str] = []
    for each in ranges:
        for item in each["spec"].get("limits") or ():
            if item["type"] == "PersistentVolumeClaim":
                requests = (claim["spec"].get("resources") or {}).get("requests") or {}
                faults += _faults("PersistentVolumeClaim", item, requests, None)
    if faults:
        why = faults[0] if len(faults) == 1 else f"[{', '.join(dict.fromkeys(faults))}]"
        raise forbidden("persistentvolumeclaims", "", claim["metadata"].get("name") or "", why)


def _containers(pod: JsonObject) -> Iterator[JsonObject]:
    spec = pod["spec"]
    yield from spec.get("containers") or ()
    yield from spec.get("initContainers") or ()


def _set_defaults(pod: JsonObject, item: JsonObject) -> None:
    notes: list[str] = []
    for key, label in (("containers", "container"), ("initContainers", "init container")):
        for container in pod["spec"].get(key) or ():
            for field, source in (("requests", "defaultRequest"), ("limits", "default")):
                held = container["resources"].get(field) or {}
                missing = {name: value for name, value in (item.get(source) or {}).items() if name not in held}
                if missing:
                    container["resources"][field] = {**held, **missing}
                    kind = field.removesuffix("s")
                    notes.append(f"{', '.join(sorted(missing))} {kind} for {label} {container['name']}")
    if notes:
        annotations = {**(pod["metadata"].get("annotations") or {})}
        annotations[_ANNOTATION] = f"LimitRanger plugin set: {'; '.join(notes)}"
        pod["metadata"]["annotations"] = annotations


def _faults(
    scope: str, item: JsonObject, requests: Mapping[str, str], limits: Mapping[str, str] | None
) -> Iterator[str]:
    """What is wrong, as texts. ``limits`` is None where only requests exist (claims)."""
    for name, bound in sorted((item.get("min") or {}).items()):
        request = requests.get(name)
        if request is None:
            yield f"minimum {name} usage per {scope} is {bound}.  No request is specified"
        elif _value(request) < _value(bound):
            yield f"minimum {name} usage per {scope} is {bound}, but request is {request}"
        elif limits and name in limits and _value(limits[name]) < _value(bound):
            yield f"minimum {name} usage per {scope} is {bound}, but limit is {limits[name]}"
    for name, bound in sorted((item.get("max") or {}).items()):
        used = requests.get(name) if limits is None else limits.get(name)
        word = "request" if limits is None else "limit"
        if used is None:
            yield f"maximum {name} usage per {scope} is {bound}.  No {word} is specified"
        elif _value(used) > _value(bound):
            yield f"maximum {name} usage per {scope} is {bound}, but {word} is {used}"
    for name, ratio in sorted((item.get("maxLimitRequestRatio") or {}).items()):
        request, limit = requests.get(name), (limits or {}).get(name)
        if request is None or limit is None or not _value(request):
            why = "no request is specified or request is 0"
            yield f"{name} max limit to request ratio per {scope} is {ratio}, but {why}"
        elif _value(limit) / _value(request) > _value(ratio):
            actual = float(_value(limit) / _value(request))
            yield f"{name} max limit to request ratio per {scope} is {ratio}, but provided ratio is {actual:f}"


def _total(pod: JsonObject, field: str) -> dict[str, str]:
    """What a pod asks for in all: the sum of its containers, or the largest init container where that is more."""
    total: dict[str, Fraction] = {}
    for container in pod["spec"].get("containers") or ():
        for name, text in (container["resources"].get(field) or {}).items():
            total[name] = total.get(name, Fraction(0)) + _value(text)
    for container in pod["spec"].get("initContainers") or ():
        for name, text in (container["resources"].get(field) or {}).items():
            total[name] = max(total.get(name, Fraction(0)), _value(text))
    return {name: format_quantity(value) for name, value in total.items()}


def _value(text: str) -> Fraction:
    return quantities.parse(text) or Fraction(0)
