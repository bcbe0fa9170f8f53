"""Faults of HorizontalPodAutoscalers and PodDisruptionBudgets."""

from __future__ import annotations

from kadm.model.objects import JsonObject
from kadm.sandbox.kinds.field_errors import FieldError, forbidden, invalid_value, required
from kadm.sandbox.kinds.validation import values

_METRIC_FIELDS = {
    "ContainerResource": "containerResource",
    "External": "external",
    "Object": "object",
    "Pods": "pods",
    "Resource": "resource",
}
"""Type of a metric → the field that describes it."""


def autoscaler(obj: JsonObject) -> list[FieldError]:
    spec = obj["spec"]
    low, high = spec.get("minReplicas"), spec.get("maxReplicas", 0)
    errors: list[FieldError] = []
    if low is not None and low < 1:
        errors.append(invalid_value("spec.minReplicas", low, "must be greater than or equal to 1"))
    if high < 1:
        errors.append(required("spec.maxReplicas", "must be set and greater than 0"))
    elif low is not None and high < low:
        errors.append(invalid_value("spec.maxReplicas", high, "must be greater than or equal to `minReplicas`"))
    target = spec["scaleTargetRef"]
    errors += [required(f"spec.scaleTargetRef.{key}") for key in ("kind", "name") if not target.get(key)]
    if not target.get("apiVersion"):
        errors.append(invalid_value("spec.scaleTargetRef.apiVersion", "", "apiVersion must specify API group"))
    metrics = spec.get("metrics") or ()
    for index, metric in enumerate(metrics):
        errors += _metric(metric, f"spec.metrics[{index}]")
    if low == 0 and not any(metric.get("type") in ("External", "Object") for metric in metrics):
        why = "must specify at least one Object or External metric to support scaling to zero replicas"
        errors.append(forbidden("spec.metrics", why))
    return errors


def _metric(metric: JsonObject, field: str) -> list[FieldError]:
    kind = metric.get("type") or ""
    if not kind:
        return [required(f"{field}.type", "must specify a metric source type")]
    errors = values.one_of(kind, f"{field}.type", _METRIC_FIELDS)
    own = _METRIC_FIELDS.get(kind)
    if own is None:
        return errors
    if metric.get(own) is None:
        errors.append(required(f"{field}.{own}", "must populate information for the given metric source"))
        return errors
    source = metric[own]
    if own == "resource":
        if not source.get("name"):
            errors.append(required(f"{field}.{own}.name", "must specify a resource name"))
        target = source.get("target") or {}
        if not target.get("type"):
            errors.append(required(f"{field}.{own}.target.type", "must specify a metric target type"))
        elif target.get("averageUtilization") is None and target.get("averageValue") is None:
            why = "must set either a target raw value or a target utilization"
            errors.append(required(f"{field}.{own}.target.averageUtilization", why))
    return errors


def disruption_budget(obj: JsonObject) -> list[FieldError]:
    spec = obj["spec"]
    errors: list[FieldError] = []
    if spec.get("minAvailable") is not None and spec.get("maxUnavailable") is not None:
        why = "minAvailable and maxUnavailable cannot be both set"
        errors.append(invalid_value("spec", {key: spec[key] for key in sorted(spec)}, why))
    for key in ("minAvailable", "maxUnavailable"):
        errors += values.count_or_percent(spec.get(key), f"spec.{key}", at_most_all=True)
    errors += values.selector(spec.get("selector"), "spec.selector")
    policy = spec.get("unhealthyPodEvictionPolicy")
    if policy is not None:
        errors += values.one_of(policy, "spec.unhealthyPodEvictionPolicy", ("AlwaysAllow", "IfHealthyBudget"))
    return errors
