"""The conditions of a Deployment over all its members."""

from __future__ import annotations

from typing import Any

import pytest

from kadm.model.objects import JsonObject
from kadm.status.rollout import rollout_conditions

EARLY, LATE = "2026-01-02T03:04:05Z", "2026-01-02T03:05:05Z"


def a_condition(kind: str, status: str = "True", reason: str = "", message: str = "", at: str = EARLY) -> JsonObject:
    well = {"Available": "MinimumReplicasAvailable", "Progressing": "NewReplicaSetAvailable"}
    reason = reason or well.get(kind, "")
    return {"type": kind, "status": status, "reason": reason, "message": message, "lastTransitionTime": at}


def a_live(*conditions: JsonObject) -> JsonObject:
    return {"kind": "Deployment", "status": {"conditions": list(conditions)}}


WELL = a_live(a_condition("Available"), a_condition("Progressing"))


@pytest.mark.parametrize(
    ("members", "want"),
    [
        pytest.param({"eu": a_live(), "us": a_live()}, {}, id="nobody says anything"),
        pytest.param(
            {"eu": WELL, "us": WELL},
            {"Available": ("True", "MinimumReplicasAvailable"), "Progressing": ("True", "NewReplicaSetAvailable")},
            id="all is well",
        ),
        pytest.param(
            {"eu": WELL, "us": a_live(a_condition("Progressing", reason="ReplicaSetUpdated"))},
            {"Available": ("Unknown", "Waiting"), "Progressing": ("True", "ReplicaSetUpdated")},
            id="one has just begun",
        ),
        pytest.param(
            {
                "eu": a_live(a_condition("Available"), a_condition("Progressing", reason="ReplicaSetUpdated")),
                "us": a_live(
                    a_condition("Available", "False", "MinimumReplicasUnavailable"),
                    a_condition("Progressing", "False", "ProgressDeadlineExceeded"),
                ),
            },
            {
                "Available": ("False", "MinimumReplicasUnavailable"),
                "Progressing": ("False", "ProgressDeadlineExceeded"),
            },
            id="as bad as the worst",
        ),
        pytest.param(
            {"eu": WELL, "us": a_live(*WELL["status"]["conditions"], a_condition("ReplicaFailure", reason="Quota"))},
            {
                "Available": ("True", "MinimumReplicasAvailable"),
                "Progressing": ("True", "NewReplicaSetAvailable"),
                "ReplicaFailure": ("True", "Quota"),
            },
            id="one cannot create pods",
        ),
    ],
)
def test_a_condition_is_as_bad_as_in_the_worst_member(members: Any, want: Any) -> None:
    found = {one["type"]: (one["status"], one["reason"]) for one in rollout_conditions(members)}
    assert found == want


def test_who_is_not_well_is_named_and_when_that_began() -> None:
    stuck = a_live(a_condition("Progressing", "False", "ProgressDeadlineExceeded", "it timed out", LATE))
    assert rollout_conditions({"us": stuck, "eu": a_live(a_condition("Progressing", at="2026-02-02T00:00:00Z"))}) == [
        {
            "type": "Progressing",
            "status": "False",
            "reason": "ProgressDeadlineExceeded",
            "message": "us: ProgressDeadlineExceeded: it timed out",
            "lastTransitionTime": LATE,
        }
    ]


def test_a_message_does_not_grow_with_the_fleet() -> None:
    stuck = a_live(a_condition("Progressing", "False", "ProgressDeadlineExceeded"))
    (found,) = rollout_conditions({f"m{number:03}": stuck for number in range(500)})
    assert found["message"].endswith("m009: ProgressDeadlineExceeded, and 490 more")
