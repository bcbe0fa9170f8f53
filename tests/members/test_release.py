"""Letting go: kadm's marks go, everything else stays."""

from __future__ import annotations

from typing import Any

import pytest

from kadm.members.release import release_operations
from kadm.model.applyset import PART_OF

KADM = {"manager": "kadm-shop", "operation": "Apply"}
STATUS = {"manager": "kube-controller-manager", "operation": "Update", "subresource": "status"}
OTHER_FLEET = {"manager": "kadm-blog", "operation": "Apply"}
LABEL = {"op": "remove", "path": "/metadata/labels/applyset.kubernetes.io~1part-of"}
SET = "applyset-shop-v1"
FENCE = {"op": "replace", "path": "/metadata/resourceVersion", "value": "7"}


def entries(*kept: dict[str, str]) -> dict[str, Any]:
    return {"op": "replace", "path": "/metadata/managedFields", "value": [*kept]}


@pytest.mark.parametrize(
    ("metadata", "want"),
    [
        pytest.param(
            {"labels": {PART_OF: SET, "app": "web"}, "managedFields": [KADM, STATUS]},
            [LABEL, entries(STATUS), FENCE],
            id="label and entry",
        ),
        pytest.param({"managedFields": [KADM]}, [entries({}), FENCE], id="the last entry: an empty list would keep it"),
        pytest.param({"labels": {PART_OF: SET}, "managedFields": [STATUS]}, [LABEL, FENCE], id="label only"),
        pytest.param(
            {"labels": {PART_OF: "applyset-other-v1"}, "managedFields": [KADM, OTHER_FLEET]},
            [entries(OTHER_FLEET), FENCE],
            id="another set has taken it over",
        ),
        pytest.param({"labels": None, "managedFields": [OTHER_FLEET, STATUS]}, [], id="nothing of ours"),
        pytest.param({}, [], id="no marks at all"),
    ],
)
def test_release_operations(metadata: dict[str, Any], want: list[dict[str, Any]]) -> None:
    assert release_operations({"metadata": {"resourceVersion": "7", **metadata}}, "kadm-shop", SET) == want
