"""What makes a saved plan stale, and what does not."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from kadm.errors import Problem
from kadm.execute.staleness import differences
from kadm.model.objects import ObjectKey
from kadm.model.plan import FieldChange, Move, PlannedPlacement, PlannedWave, Summary
from kadm.model.saved import SavedChange, SavedChoices, SavedPlan

WEB = ObjectKey("apps", "Deployment", "shop", "web")


def a_change(**fields: Any) -> SavedChange:
    given = {"cluster": "eu", "key": WEB, "version": "v1", "action": "update", "uid": "u", "desired": "d", "live": "l"}
    return SavedChange(**{**given, **fields})


def a_plan(*changes: SavedChange, **fields: Any) -> SavedPlan:
    given: dict[str, Any] = {
        "kadm": "1",
        "fleet": "shop",
        "commit": "c1",
        "saved": "2026-01-01T00:00:00Z",
        "choices": SavedChoices(),
        "members": ("eu", "us"),
        "summary": Summary(),
        "records": {"eu": "r", "us": ""},
    }
    empty = dict.fromkeys(("held", "placements", "moves", "waves", "unread", "unplaced", "frozen", "problems"), ())
    return SavedPlan(**{**given, **empty, "changes": changes, **fields})


SAVED = a_plan(a_change(fields=(FieldChange(path="spec.replicas", before=1, after=3),)))


@pytest.mark.parametrize(
    ("now", "want"),
    [
        pytest.param(SAVED, [], id="the same"),
        pytest.param(
            msgspec.structs.replace(SAVED, commit="c2", saved="later", kadm="2"), [], id="another commit, a later time"
        ),
        pytest.param(a_plan(), ["eu Deployment.apps shop/web: there is nothing to update any more"], id="done"),
        pytest.param(
            a_plan(*SAVED.changes, a_change(cluster="us", action="create")),
            ["us Deployment.apps shop/web: the plan has nothing here, and now there is something to create"],
            id="more to do",
        ),
        pytest.param(
            a_plan(a_change(action="delete")),
            ["eu Deployment.apps shop/web: the plan would update it, now there is something to delete"],
            id="something else to do",
        ),
        pytest.param(
            a_plan(a_change(desired="d2", live="l2")),
            ["eu Deployment.apps shop/web: the repository wants something else now"],
            id="git changed",
        ),
        pytest.param(
            a_plan(a_change(live="l2", fields=(FieldChange(path="spec.replicas", before=2, after=3),))),
            ["eu Deployment.apps shop/web: it changed in the member: spec.replicas"],
            id="drift, and where",
        ),
        pytest.param(
            a_plan(a_change(uid="u2", live="l2")),
            ["eu Deployment.apps shop/web: it was deleted and created again meanwhile"],
            id="another object of the same name",
        ),
        pytest.param(
            a_plan(a_change(fields=(FieldChange(path="spec.replicas", before=1, after=4),))),
            ["eu Deployment.apps shop/web: an apply would give something else: spec.replicas"],
            id="a webhook makes something else of it",
        ),
        pytest.param(
            a_plan(*SAVED.changes, records={"eu": "r2", "us": ""}),
            ["eu: what the scheduler recorded is another: another run of kadm was at work here"],
            id="another run",
        ),
        pytest.param(
            a_plan(*SAVED.changes, unread=(Problem(what="no connection", member="us"),)),
            ["us: it could be read when the plan was made, and cannot be now: no connection"],
            id="a member was lost",
        ),
        pytest.param(
            a_plan(*SAVED.changes, members=("asia", "eu")),
            [
                "asia: it is a member now, and was none when the plan was made",
                "us: it was a member when the plan was made, and is none now",
            ],
            id="other members",
        ),
        pytest.param(
            a_plan(*SAVED.changes, placements=(PlannedPlacement(key=WEB, clusters={"eu": 2, "us": 1}),)),
            ["Deployment.apps shop/web: it was to go to no member, now to eu (2), us (1)"],
            id="placed elsewhere",
        ),
        pytest.param(
            a_plan(
                *SAVED.changes,
                moves=(Move(key=WEB, leaves={"eu": 1}, arrives={"us": 1}),),
                waves=(PlannedWave(name="w", members=("eu",)),),
            ),
            ["other replicas move between members now", "the waves of kadm.yaml are others now"],
            id="other moves and waves",
        ),
    ],
)
def test_differences(now: SavedPlan, want: list[str]) -> None:
    assert [str(problem) for problem in differences(SAVED, now)] == want


def test_a_file_gives_the_plan_again() -> None:
    assert msgspec.json.decode(msgspec.json.encode(SAVED), type=SavedPlan) == SAVED
