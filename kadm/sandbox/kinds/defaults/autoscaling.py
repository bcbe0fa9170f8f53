"""Defaults of HorizontalPodAutoscalers."""

from __future__ import annotations

from kadm.model.objects import JsonObject

_PERIOD_S = 15
_TARGET_CPU_PERCENT = 80


def autoscaler(obj: JsonObject) -> None:
    spec = obj["spec"]
    spec.setdefault("minReplicas", 1)
    if not spec.get("metrics"):
        target = {"type": "Utilization", "averageUtilization": _TARGET_CPU_PERCENT}
        spec["metrics"] = [{"type": "Resource", "resource": {"name": "cpu", "target": target}}]
    behavior = spec.get("behavior")
    if behavior is None:
        return
    up = behavior.setdefault("scaleUp", {})
    up.setdefault("stabilizationWindowSeconds", 0)
    up.setdefault("selectPolicy", "Max")
    up.setdefault(
        "policies",
        [
            {"type": "Pods", "value": 4, "periodSeconds": _PERIOD_S},
            {"type": "Percent", "value": 100, "periodSeconds": _PERIOD_S},
        ],
    )
    down = behavior.setdefault("scaleDown", {})
    down.setdefault("selectPolicy", "Max")
    down.setdefault("policies", [{"type": "Percent", "value": 100, "periodSeconds": _PERIOD_S}])


def autoscaler_v1(obj: JsonObject) -> None:
    spec = obj["spec"]
    spec.setdefault("minReplicas", 1)
    annotated = "autoscaling.alpha.kubernetes.io/metrics" in (obj["metadata"].get("annotations") or {})
    if not annotated:
        spec.setdefault("targetCPUUtilizationPercentage", _TARGET_CPU_PERCENT)
