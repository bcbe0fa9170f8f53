"""All exit codes, and what leads to them."""

from __future__ import annotations

from typing import Any

import pytest

from kadm.cli.command_line import EPILOG
from kadm.cli.exit_code import MEANINGS, ExitCode, applied_code, exit_code
from kadm.errors import Problem
from kadm.model.objects import ObjectKey
from kadm.model.plan import Change, Held, Plan, Unplaced
from kadm.model.report import ChangeResult, Report, Result

ERROR = Problem(what="it broke")
LACKING = Problem(what="it could not be read", partial=True)
WARNING = Problem(what="it creaks", severity="warning")


@pytest.mark.parametrize(
    ("happened", "want"),
    [
        pytest.param({}, ExitCode.FINE, id="nothing happened"),
        pytest.param({"problems": [WARNING]}, ExitCode.FINE, id="a warning is no error"),
        pytest.param({"changes": True}, ExitCode.CHANGES, id="changes, where they are asked for"),
        pytest.param({"partial": True}, ExitCode.PARTIAL, id="a member was not read"),
        pytest.param({"partial": True, "changes": True}, ExitCode.PARTIAL, id="partial wins over changes"),
        pytest.param({"problems": [WARNING, ERROR]}, ExitCode.ERROR, id="an error among warnings"),
        pytest.param({"problems": [LACKING], "changes": True}, ExitCode.PARTIAL, id="a part of a member was not read"),
        pytest.param({"problems": [LACKING, ERROR]}, ExitCode.ERROR, id="an error wins over what is missing"),
        pytest.param({"failed": True}, ExitCode.ERROR, id="something held or failed"),
        pytest.param(
            {"failed": True, "partial": True, "changes": True}, ExitCode.ERROR, id="an error wins over all others"
        ),
    ],
)
def test_exit_code(happened: dict[str, Any], want: ExitCode) -> None:
    assert exit_code(**happened) is want


KEY = ObjectKey("", "ConfigMap", "shop", "c")
CHANGE = Change(cluster="eu", key=KEY, version="v1", action="update")


def result(what: Result, problem: Problem | None = None) -> ChangeResult:
    return ChangeResult(change=CHANGE, result=what, problem=problem)


@pytest.mark.parametrize(
    ("plan", "report", "want"),
    [
        pytest.param({}, {"results": (result("done"),)}, ExitCode.FINE, id="done"),
        pytest.param({}, {"results": (result("done"), result("failed", ERROR))}, ExitCode.ERROR, id="one is refused"),
        pytest.param({}, {"results": (result("not ready", ERROR),)}, ExitCode.ERROR, id="one is not ready"),
        pytest.param({}, {"results": (result("failed", LACKING),)}, ExitCode.PARTIAL, id="the member did not take it"),
        pytest.param(
            {},
            {"results": (result("failed", LACKING), result("failed", ERROR))},
            ExitCode.ERROR,
            id="it did not take one, and refused another",
        ),
        pytest.param(
            {}, {"results": (result("skipped", ERROR),), "unread": (ERROR,)}, ExitCode.PARTIAL, id="a member was lost"
        ),
        pytest.param({"problems": (LACKING,)}, {}, ExitCode.PARTIAL, id="a kind was not read"),
        pytest.param({}, {"results": (result("held", ERROR),)}, ExitCode.ERROR, id="it waits for something"),
        pytest.param(
            {"problems": (LACKING,)},
            {"results": (result("held", ERROR),)},
            ExitCode.PARTIAL,
            id="it waits, and a kind was not read",
        ),
        pytest.param({}, {"results": (result("paused"),)}, ExitCode.PARTIAL, id="a wave waits for a person"),
        pytest.param(
            {}, {"held": (Held(change=CHANGE, why="", flag=""),), "unread": (ERROR,)}, ExitCode.ERROR, id="held back"
        ),
        pytest.param(
            {"unplaced": (Unplaced(key=KEY, replicas=2, why=""),)}, {}, ExitCode.ERROR, id="replicas fit nowhere"
        ),
    ],
)
def test_the_exit_code_of_an_apply(plan: dict[str, Any], report: dict[str, Any], want: ExitCode) -> None:
    assert applied_code(Plan(fleet="shop", commit="", **plan), Report(**report)) is want


def test_the_numbers_that_scripts_rely_on() -> None:
    assert {code.name: int(code) for code in ExitCode} == {
        "FINE": 0,
        "ERROR": 1,
        "CHANGES": 2,
        "STALE": 3,
        "PARTIAL": 4,
    }


def test_help_documents_every_exit_code() -> None:
    assert set(MEANINGS) == set(ExitCode)
    assert all(f"{code:d} {meaning}" in EPILOG for code, meaning in MEANINGS.items())
