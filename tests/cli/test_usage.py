"""Wrong usage: exit code 1, one line that says what is wrong and where help is, no traceback."""

from __future__ import annotations

from pathlib import Path

import pytest

from kadm.cli.main import main


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        pytest.param("nonsense", "error: No such command 'nonsense' (kadm --help shows how it is used)", id="command"),
        pytest.param(
            "plan --nonsense",
            "error: No such option: --nonsense (kadm plan --help shows how it is used)",
            id="option",
        ),
        pytest.param("join", "error: Missing argument 'NAME' (kadm join --help shows how it is used)", id="argument"),
        pytest.param(
            "--color blue plan",
            "error: Invalid value for --color: it is one of auto, always, never (kadm --help shows how it is used)",
            id="colour",
        ),
        pytest.param(
            "unjoin eu --release --delete", "error: --release and --delete exclude each other", id="contradiction"
        ),
        pytest.param(
            "-C {there}/none plan",
            "error: {there}/none is no directory (name the directory that holds kadm.yaml)",
            id="no directory",
        ),
        pytest.param(
            "init --name Shop {there}",
            "error: 'Shop' cannot name a fleet: it is lower-case letters, digits and dashes, at most 63 "
            "(kadm init DIR --name NAME)",
            id="a name",
        ),
        pytest.param(
            "sandbox fault member1 503 --dir {there}",
            "error: no sandbox runs in {there} (start one: kadm sandbox up)",
            id="no sandbox",
        ),
        pytest.param(
            "demo --dir {there}",
            "error: {there} is not empty (name a directory that is not there yet with --dir)",
            id="a directory in use",
        ),
    ],
)
def test_usage_error(typed: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").touch()
    code = main(typed.replace("{there}", str(tmp_path)).split())
    assert (code, *capsys.readouterr()) == (1, "", said.replace("{there}", str(tmp_path)) + "\n")


@pytest.mark.parametrize(
    ("typed", "begins"),
    [
        pytest.param("plan -o xml", "error: Invalid value for '-o' / '--output': 'xml' is not one of", id="format"),
        pytest.param(
            "plan --request-timeout soon",
            "error: Invalid value for '--request-timeout': 'soon' is no duration; for example 30s, 5m",
            id="no duration",
        ),
        pytest.param(
            "apply --timeout inf", "error: Invalid value for '--timeout': 'inf' is no duration; ", id="for ever"
        ),
        pytest.param(
            "apply --timeout -1s",
            "error: Invalid value for '--timeout': -1s is too short; at least 0s (",
            id="less than no time",
        ),
        pytest.param(
            "watch --interval 0.5",
            "error: Invalid value for '--interval': 0.5 is too short; at least 1s (",
            id="too short a time",
        ),
        pytest.param("plan --parallel many", "error: Invalid value for '--parallel': ", id="no number"),
        pytest.param("plan --parallel 0", "error: Invalid value for '--parallel': ", id="too small a number"),
    ],
)
def test_a_wrong_value_is_told_on_one_line(typed: str, begins: str, capsys: pytest.CaptureFixture[str]) -> None:
    code = main(typed.split())
    out, err = capsys.readouterr()
    assert (code, out, err[: len(begins)], err.count("\n")) == (1, "", begins, 1)


@pytest.mark.parametrize("typed", ["", "-v", "sandbox"])
def test_a_group_without_command_shows_its_help_as_an_error(typed: str, capsys: pytest.CaptureFixture[str]) -> None:
    code = main(typed.split())
    out, err = capsys.readouterr()
    assert (code, out, err.startswith("Usage: kadm"), "\nCommands:\n" in err) == (1, "", True, True)


def test_a_directory_that_cannot_be_made_is_no_bug(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").touch()
    code = main(["init", str(tmp_path / "file" / "fleet")])
    assert (code, *capsys.readouterr()) == (1, "", f"error: {tmp_path}/file/fleet cannot be used: Not a directory\n")
