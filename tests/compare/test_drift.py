"""Which changes undo what somebody did in a member."""

from __future__ import annotations

import pytest

from kadm.compare.drift import CORRECTS, REPORTED, is_drift, without_drift
from kadm.compare.findings import MemberComparison
from kadm.model.objects import ObjectKey
from kadm.model.plan import Action, Change, FieldChange
from kadm.model.record import RecordedObject

KEY = ObjectKey("", "ConfigMap", "a", "c")
RECORDED = {KEY: RecordedObject(version="v1", kind="ConfigMap", namespace="a", name="c", uid="u")}
INTENDED = {KEY: RecordedObject(version="v1", kind="ConfigMap", namespace="a", name="c")}
BY_OTHERS = FieldChange(path="data.v", manager="kubectl-edit")
BY_GIT = FieldChange(path="data.w")


def a_change(action: Action = "update", *fields: FieldChange) -> Change:
    return Change(cluster="eu", key=KEY, version="v1", action=action, fields=fields)


@pytest.mark.parametrize(
    ("change", "recorded", "want"),
    [
        pytest.param(a_change("update", BY_OTHERS), RECORDED, True, id="others set it"),
        pytest.param(a_change("update", BY_OTHERS, BY_GIT), RECORDED, False, id="git changes something, too"),
        pytest.param(a_change("update", BY_GIT), RECORDED, False, id="git changes it"),
        pytest.param(a_change("update"), RECORDED, False, id="nothing is set"),
        pytest.param(a_change("create"), RECORDED, True, id="somebody deleted it"),
        pytest.param(a_change("create"), INTENDED, False, id="it was never made"),
        pytest.param(a_change("create"), {}, False, id="it is new"),
        pytest.param(a_change("delete"), RECORDED, False, id="it left git"),
    ],
)
def test_is_drift(change: Change, recorded: dict[ObjectKey, RecordedObject], want: bool) -> None:
    assert is_drift(change, recorded) is want


def test_drift_is_held_unless_it_moves() -> None:
    comparison = MemberComparison(member="eu", changes=(a_change("update", BY_OTHERS),))
    held = without_drift(comparison, RECORDED, moving=())
    assert [(one.why, one.flag) for one in held.held] == [(REPORTED, CORRECTS)]
    assert held.changes == ()
    assert without_drift(comparison, RECORDED, moving={KEY}) == comparison
