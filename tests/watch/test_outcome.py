"""What a plan means to whoever looks at the daemon."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from kadm.errors import Location, Problem
from kadm.model.objects import ObjectKey
from kadm.model.plan import Plan
from kadm.model.planned import Planned
from kadm.watch.outcome import held_views, untold
from kadm.watch.state import HeldView
from tests.execute.builders import a_planned

KEY = ObjectKey("", "ConfigMap", "shop", "a")
REFUSED = Problem(
    what="the object is invalid (422 Invalid)",
    where=Location("manifests/a.yaml", 3, 1),
    member="eu",
    object=str(KEY),
    why="Too long",
)
UNREAD = Problem(what="autoscalers could not be read", severity="warning", member="eu")
NO_COUNT = Problem(what="Divide needs a replica count", object=str(KEY), hint="use Duplicate")


def planned(frozen: Mapping[str, str], *problems: Problem) -> Planned:
    """A plan with frozen ConfigMaps, member → why, and these problems."""
    return a_planned(
        Plan(fleet="shop", commit="c", frozen={member: {KEY: why} for member, why in frozen.items()}, problems=problems)
    )


@pytest.mark.parametrize(
    ("why", "problems", "want"),
    [
        pytest.param(
            "the member refuses it",
            [REFUSED],
            (
                "the member refuses it: the object is invalid (422 Invalid): Too long (manifests/a.yaml:3:1)",
                "mend what it needs",
            ),
            id="what the member said, and where the fault is",
        ),
        pytest.param(
            NO_COUNT.what,
            [NO_COUNT],
            (NO_COUNT.what, "use Duplicate"),
            id="what releases it, and no reason twice",
        ),
        pytest.param(
            "its Secret is missing", [UNREAD], ("its Secret is missing", "mend what it needs"), id="no problem"
        ),
    ],
)
def test_why_an_object_is_frozen(why: str, problems: list[Problem], want: tuple[str, str]) -> None:
    (found,) = held_views(planned({"eu": why}, *problems))
    assert (found.why, found.release) == want


@pytest.mark.parametrize(
    ("problems", "want"),
    [
        pytest.param([REFUSED], (), id="told by what is held back"),
        pytest.param([NO_COUNT], (), id="told by what is held back in some member"),
        pytest.param([UNREAD, UNREAD], (UNREAD,), id="of no object, once"),
    ],
)
def test_problems_that_nothing_else_tells(problems: list[Problem], want: tuple[Problem, ...]) -> None:
    found = planned({"eu": "the member refuses it"}, *problems)
    assert untold(found, held_views(found)) == want


def test_a_problem_of_an_object_that_is_nowhere_is_told() -> None:
    nothing: tuple[HeldView, ...] = ()
    assert untold(planned({}, NO_COUNT), nothing) == (NO_COUNT,)
