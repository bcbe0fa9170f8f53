"""One line for what is the same in several members."""

from __future__ import annotations

import pytest

from kadm.cli.merging import merged
from kadm.errors import Location, Problem

MANY = [f"m{number:02}" for number in range(14)]


def refused(member: str, what: str = "refused") -> Problem:
    return Problem(what=what, where=Location("web.yaml", 4, 1), member=member, object="Deployment web")


@pytest.mark.parametrize(
    ("problems", "want"),
    [
        pytest.param([], [], id="none"),
        pytest.param([refused("eu")], ["web.yaml:4:1 in eu: refused"], id="one"),
        pytest.param(
            [refused("eu"), refused("us"), refused("eu")], ["web.yaml:4:1 in eu, us: refused"], id="the same in two"
        ),
        pytest.param(
            [refused("eu"), refused("us", "not there"), refused("asia")],
            ["web.yaml:4:1 in eu, asia: refused", "web.yaml:4:1 in us: not there"],
            id="others stay apart, in the order of the first",
        ),
        pytest.param(
            [refused(name) for name in MANY],
            [f"web.yaml:4:1 in {', '.join(MANY[:12])} and 2 more: refused"],
            id="in many",
        ),
        pytest.param(
            [Problem(what="a"), Problem(what="a"), Problem(what="b")], ["a", "b"], id="those of no member, each once"
        ),
    ],
)
def test_merged(problems: list[Problem], want: list[str]) -> None:
    assert [str(problem) for problem in merged(problems)] == want
