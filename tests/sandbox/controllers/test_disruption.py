"""The status of a PodDisruptionBudget."""

from __future__ import annotations

from typing import Any

import pytest

from kadm.sandbox.controllers.disruption import status
from tests.sandbox.controllers.builders import NOW, a_pod

PODS = [a_pod(f"p{number}", phase="Running", ready=number != 3) for number in range(4)]


@pytest.mark.parametrize(
    ("spec", "want"),
    [
        pytest.param({"minAvailable": 2}, (1, 3, 2, 4, "SufficientPods"), id="a number"),
        pytest.param({"minAvailable": 3}, (0, 3, 3, 4, "InsufficientPods"), id="no more"),
        pytest.param({"minAvailable": "50%"}, (1, 3, 2, 4, "SufficientPods"), id="a share"),
        pytest.param({"maxUnavailable": 1}, (0, 3, 3, 4, "InsufficientPods"), id="as many are missing already"),
        pytest.param({"maxUnavailable": "50%"}, (1, 3, 2, 4, "SufficientPods"), id="a share may be missing"),
    ],
)
def test_status(spec: dict[str, Any], want: tuple[int, int, int, int, str]) -> None:
    made = status({"metadata": {"generation": 1}, "spec": spec}, PODS, 4, NOW)
    fields = ("disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods")
    assert (*(made[field] for field in fields), made["conditions"][0]["reason"]) == want
