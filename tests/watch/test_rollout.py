"""Where a rollout stands still, by what the members' records say."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import pytest
from msgspec.structs import replace

from kadm.model.objects import ObjectKey
from kadm.model.observation import MemberState, Observation
from kadm.model.plan import Change, FieldChange, Plan, PlannedWave
from kadm.model.planned import Planned
from kadm.model.record import Record
from kadm.watch.rollout import Pause, behind, shown_by_records
from tests.execute.builders import a_planned

KEY = ObjectKey("", "ConfigMap", "shop", "a")
WAVES = (
    PlannedWave(name="canary", members=("a",), pause=True),
    PlannedWave(name="early", members=("b",), pause=True),
    PlannedWave(name="the rest", members=("c", "d")),
)
CANARY = Pause(commit="new", wave="canary", members=("b", "c"))


def an_update(member: str, *, manager: str = "") -> Change:
    field = FieldChange(path="data.k", before="x", after="y", manager=manager)
    return Change(cluster=member, key=KEY, version="v1", action="update", fields=(field,))


def planned(commits: Mapping[str, str], changes: Iterable[Change], *, commit: str = "new") -> Planned:
    """A plan of ``commit`` in members that hold these commits."""
    read = {
        name: MemberState(
            name=name, uid="m", version="v1", api_resources=(), record=Record(fleet="shop", member_uid="m", commit=held)
        )
        for name, held in commits.items()
    }
    plan = Plan(fleet="shop", commit=commit, members=tuple(commits), changes=tuple(changes), waves=WAVES)
    return a_planned(plan, Observation(read))


@pytest.mark.parametrize(
    ("held", "changed", "want"),
    [
        pytest.param("old old old old", "a b c", None, id="it has not begun"),
        pytest.param("new old old old", "a b c", None, id="the first wave is not through"),
        pytest.param("new old old old", "b c", CANARY, id="at the first pause"),
        pytest.param(
            "new new old old", "c d", Pause(commit="new", wave="early", members=("c", "d")), id="at the second pause"
        ),
        pytest.param("new new old old", "b c", CANARY, id="what moves left the second wave before its turn"),
        pytest.param("new new new new", "c", None, id="a person let it go on, and something else changed"),
        pytest.param("old old old old", "c", None, id="this commit changes nothing in the waves with a pause"),
        pytest.param("new new new old", "", None, id="nothing is left"),
    ],
)
def test_the_pause_shows_in_records(held: str, changed: str, want: Pause | None) -> None:
    commits = dict(zip("abcd", held.split(), strict=True))
    assert shown_by_records(planned(commits, map(an_update, changed.split()))) == want


def test_drift_is_no_rollout() -> None:
    commits = {"a": "new", "b": "old", "c": "old", "d": "old"}
    drift = [an_update("a", manager="kubectl"), an_update("c", manager="kubectl")]
    assert shown_by_records(planned(commits, drift)) is None
    assert shown_by_records(planned(commits, [*drift, an_update("b")])) == replace(CANARY, members=("b",))


def test_files_of_no_commit_tell_nothing() -> None:
    commits = dict.fromkeys("abcd", "")
    assert shown_by_records(planned(commits, [an_update("b")], commit="")) is None


def test_all_that_is_behind_waits_while_there_is_news() -> None:
    commits = {"a": "new", "b": "old", "c": "old", "d": "old"}
    drift, news, before = an_update("d", manager="kubectl"), an_update("b"), an_update("a")
    assert behind(planned(commits, [before, news, drift]), CANARY) == (news, drift)
    assert behind(planned(commits, [before, drift]), CANARY) == ()
    without = replace(CANARY, wave="the one that is not there any more")
    assert behind(planned(commits, [before, news, drift]), without) == ()
