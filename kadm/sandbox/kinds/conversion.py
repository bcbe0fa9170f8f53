"""One object in another version of its resource.

Built-in resources with two versions are HorizontalPodAutoscaler (autoscaling/v2 and v1) and Event (core and
events.k8s.io). Custom resources convert by strategy None: only ``apiVersion`` changes. Conversion webhooks are not
called.
"""

from __future__ import annotations

import json
from collections.abc import Callable

from kadm.model.objects import JsonObject, JsonValue
from kadm.sandbox.kinds.registry import ResourceKind

_METRICS = "autoscaling.alpha.kubernetes.io/metrics"
_CURRENT_METRICS = "autoscaling.alpha.kubernetes.io/current-metrics"
_CONDITIONS = "autoscaling.alpha.kubernetes.io/conditions"
_BEHAVIOR = "autoscaling.alpha.kubernetes.io/behavior"


def convert(kind: ResourceKind, obj: JsonObject) -> JsonObject:
    """The object in the version of ``kind``; the same one where it is in that version already."""
    if obj["apiVersion"] == kind.api_version:
        return obj
    change = _CONVERSIONS.get((obj["apiVersion"], kind.api_version, kind.kind))
    converted = change(obj) if change else {**obj}
    return {**converted, "apiVersion": kind.api_version}


def _autoscaler_to_v1(obj: JsonObject) -> JsonObject:
    """The first CPU utilisation is a field of v1; what else v2 knows goes into annotations."""
    spec, status = {**(obj.get("spec") or {})}, {**(obj.get("status") or {})}
    annotations: dict[str, str] = {**(obj["metadata"].get("annotations") or {})}
    others = []
    for metric in spec.pop("metrics", None) or ():
        target = (metric.get("resource") or {}).get("target") or {}
        is_cpu = metric.get("type") == "Resource" and (metric.get("resource") or {}).get("name") == "cpu"
        if is_cpu and "averageUtilization" in target and "targetCPUUtilizationPercentage" not in spec:
            spec["targetCPUUtilizationPercentage"] = target["averageUtilization"]
        else:
            others.append(_metric_to_v1(metric))
    _annotate(annotations, _METRICS, others)
    _annotate(annotations, _BEHAVIOR, spec.pop("behavior", None))
    current = []
    for metric in status.pop("currentMetrics", None) or ():
        resource = metric.get("resource") or {}
        utilisation = (resource.get("current") or {}).get("averageUtilization")
        if resource.get("name") == "cpu" and utilisation is not None:
            status["currentCPUUtilizationPercentage"] = utilisation
        current.append(metric)
    _annotate(annotations, _CURRENT_METRICS, current)
    _annotate(annotations, _CONDITIONS, status.pop("conditions", None))
    status.setdefault("currentReplicas", 0)
    return {**obj, "metadata": _with_annotations(obj["metadata"], annotations), "spec": spec, "status": status}


def _autoscaler_to_v2(obj: JsonObject) -> JsonObject:
    spec, status = {**(obj.get("spec") or {})}, {**(obj.get("status") or {})}
    annotations: dict[str, str] = {**(obj["metadata"].get("annotations") or {})}
    metrics: list[JsonObject] = []
    percent = spec.pop("targetCPUUtilizationPercentage", None)
    if percent is not None:
        target = {"type": "Utilization", "averageUtilization": percent}
        metrics.append({"type": "Resource", "resource": {"name": "cpu", "target": target}})
    metrics += [_metric_to_v2(metric) for metric in _annotated(annotations, _METRICS) or ()]
    if metrics:
        spec["metrics"] = metrics
    behavior = _annotated(annotations, _BEHAVIOR)
    if behavior:
        spec["behavior"] = behavior
    status.pop("currentCPUUtilizationPercentage", None)
    status["currentMetrics"] = _annotated(annotations, _CURRENT_METRICS) or None
    conditions = _annotated(annotations, _CONDITIONS)
    if conditions:
        status["conditions"] = conditions
    if not status.get("currentReplicas"):
        status.pop("currentReplicas", None)
    return {**obj, "metadata": _with_annotations(obj["metadata"], annotations), "spec": spec, "status": status}


def _annotate(annotations: dict[str, str], key: str, value: JsonValue) -> None:
    if value:
        annotations[key] = json.dumps(value, separators=(",", ":"))


def _annotated(annotations: dict[str, str], key: str) -> JsonValue:
    """The value behind an annotation, which is taken out; None where there is none or it cannot be read."""
    text = annotations.pop(key, None)
    if text is None:
        return None
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return None


def _with_annotations(metadata: JsonObject, annotations: dict[str, str]) -> JsonObject:
    kept = {key: value for key, value in metadata.items() if key != "annotations"}
    return {**kept, "annotations": annotations} if annotations else kept


def _metric_to_v1(metric: JsonObject) -> JsonObject:
    """A metric of v2 as v1 keeps it in its annotation (the shape of autoscaling/v2beta1)."""
    source = {**(metric.get("resource") or {})}
    if metric.get("type") != "Resource" or "name" not in source:
        return metric
    target = source.pop("target", None) or {}
    flat: JsonObject = {"name": source["name"]}
    if "averageUtilization" in target:
        flat["targetAverageUtilization"] = target["averageUtilization"]
    if "averageValue" in target:
        flat["targetAverageValue"] = target["averageValue"]
    return {"type": "Resource", "resource": flat}


def _metric_to_v2(metric: JsonObject) -> JsonObject:
    source = metric.get("resource") or {}
    if metric["type"] != "Resource" or "target" in source:
        return metric
    target: JsonObject = {}
    if "targetAverageUtilization" in source:
        target = {"type": "Utilization", "averageUtilization": source["targetAverageUtilization"]}
    elif "targetAverageValue" in source:
        target = {"type": "AverageValue", "averageValue": source["targetAverageValue"]}
    return {"type": "Resource", "resource": {"name": source["name"], "target": target}}


_EVENT_FIELDS = {
    "involvedObject": "regarding",
    "message": "note",
    "source": "deprecatedSource",
    "firstTimestamp": "deprecatedFirstTimestamp",
    "lastTimestamp": "deprecatedLastTimestamp",
    "count": "deprecatedCount",
    "reportingComponent": "reportingController",
}
"""Field of a core Event → field of an events.k8s.io Event."""


def _renamed(obj: JsonObject, names: dict[str, str]) -> JsonObject:
    return {names.get(key, key): value for key, value in obj.items()}


def _event_to_events(obj: JsonObject) -> JsonObject:
    return _renamed(obj, _EVENT_FIELDS)


def _event_to_core(obj: JsonObject) -> JsonObject:
    return _renamed(obj, {new: old for old, new in _EVENT_FIELDS.items()})


_CONVERSIONS: dict[tuple[str, str, str], Callable[[JsonObject], JsonObject]] = {
    ("autoscaling/v2", "autoscaling/v1", "HorizontalPodAutoscaler"): _autoscaler_to_v1,
    ("autoscaling/v1", "autoscaling/v2", "HorizontalPodAutoscaler"): _autoscaler_to_v2,
    ("v1", "events.k8s.io/v1", "Event"): _event_to_events,
    ("events.k8s.io/v1", "v1", "Event"): _event_to_core,
}
"""(apiVersion of the object, apiVersion wanted, kind) → the object's fields in the wanted version."""
