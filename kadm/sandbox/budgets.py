"""What PodDisruptionBudgets say to an eviction. Source: the eviction storage of the Kubernetes 1.36 pod registry."""

from __future__ import annotations

from collections.abc import Iterable

from kadm.sandbox.label_selectors import selects
from kadm.sandbox.responses import ApiError
from kadm.sandbox.store import Object

BUDGETS = "poddisruptionbudgets.policy"

_UNCOUNTED_PHASES = ("Succeeded", "Failed", "Pending")
"""A pod in one of these serves nobody: its eviction disrupts nothing."""


def with_disruption(pod: Object, budgets: Iterable[Object], now: str) -> Object | None:
    """The budget that covers the pod, with one disruption used up at ``now``; None if none covers it.

    ``budgets`` are those of the pod's namespace. Raises ApiError 429 where the budget has no disruption left.
    """
    if pod.get("status", {}).get("phase") in _UNCOUNTED_PHASES:
        return None
    labels = pod["metadata"].get("labels") or {}
    covering = [budget for budget in budgets if selects(budget["spec"].get("selector"), labels)]
    if not covering:
        return None
    if len(covering) > 1:
        message = (
            "Internal error occurred: This pod has more than one PodDisruptionBudget, "
            "which the eviction subresource does not support."
        )
        raise ApiError(500, "InternalError", message)
    budget = covering[0]
    status = budget.get("status", {})
    allowed = status.get("disruptionsAllowed", 0)
    if allowed <= 0:
        raise _refused(budget["metadata"]["name"], status)
    disrupted = {**(status.get("disruptedPods") or {}), pod["metadata"]["name"]: now}
    return {**budget, "status": {**status, "disruptionsAllowed": allowed - 1, "disruptedPods": disrupted}}


def _refused(name: str, status: Object) -> ApiError:
    needed, healthy = status.get("desiredHealthy", 0), status.get("currentHealthy", 0)
    why = f"The disruption budget {name} needs {needed} healthy pods and has {healthy} currently"
    return ApiError(
        429,
        "TooManyRequests",
        "Cannot evict pod as it would violate the pod's disruption budget.",
        {"causes": [{"reason": "DisruptionBudget", "message": why}]},
    )
