"""When a workload leaves a lost member."""

from __future__ import annotations

from typing import Any

import pytest

from kadm.model.objects import ObjectKey
from kadm.watch.failover import Candidate, FailOver, Leaving, fail_over

WEB = ObjectKey("apps", "Deployment", "default", "web")
NOW = 1000.0


def a_candidate(**given: Any) -> Candidate:
    return Candidate(**{"key": WEB, "holders": ("eu", "us"), "after_s": 300.0, **given})


LEAVES = FailOver(leaving=(Leaving(key=WEB, member="eu"),))


@pytest.mark.parametrize(
    ("candidate", "lost", "members", "want"),
    [
        pytest.param(a_candidate(), {}, 3, FailOver(), id="nothing is lost"),
        pytest.param(a_candidate(), {"eu": 700.0}, 3, LEAVES, id="long enough"),
        pytest.param(a_candidate(), {"eu": 800.0}, 3, FailOver(look_again=1100.0), id="not long enough"),
        pytest.param(a_candidate(holders=("us",)), {"eu": 0.0}, 3, FailOver(), id="it is not there"),
        pytest.param(a_candidate(singleton=True), {"eu": 0.0}, 3, FailOver(), id="a singleton never leaves"),
        pytest.param(a_candidate(left=("eu",)), {"eu": 0.0}, 3, FailOver(), id="it has left already"),
        pytest.param(
            a_candidate(),
            {"eu": 0.0},
            2,
            FailOver(doubt="1 of 2 members do not answer: it may be this daemon that is cut off"),
            id="no majority answers",
        ),
    ],
)
def test_fail_over(candidate: Candidate, lost: dict[str, float], members: int, want: FailOver) -> None:
    assert fail_over([candidate], lost, members=members, now=NOW) == want
