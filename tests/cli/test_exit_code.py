"""All exit codes, and what leads to them."""

from __future__ import annotations

from typing import Any

import pytest

from kadm.cli.command_line import EPILOG
from kadm.cli.exit_code import MEANINGS, ExitCode, exit_code
from kadm.errors import Problem

ERROR = Problem(what="it broke")
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
        pytest.param({"failed": True}, ExitCode.ERROR, id="something held or failed"),
        pytest.param(
            {"failed": True, "partial": True, "changes": True}, ExitCode.ERROR, id="an error wins over all others"
        ),
    ],
)
def test_exit_code(happened: dict[str, Any], want: ExitCode) -> None:
    assert exit_code(**happened) is want


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
