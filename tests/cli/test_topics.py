"""The long texts of ``kadm help``: they agree with what the code knows, and fit a terminal."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import pytest
import typer

from kadm.cli.command_line import app
from kadm.cli.exit_code import MEANINGS
from kadm.cli.help_topic import text, topics
from kadm.cli.main import main
from kadm.model.override import Overriders
from kadm.model.policy import PropagationPolicySpec, RescheduleWhen
from kadm.repo.json_schemas import json_schemas
from kadm.schedule.policy_annotations import PLACEMENT_ANNOTATIONS, PREFIX
from kadm.schedule.registry import PLUGINS

COMMAND: Any = typer.main.get_command(app)
OPTIONS = {
    option
    for command in (COMMAND, *COMMAND.commands.values())
    for parameter in command.params
    for option in parameter.opts
}


def test_the_topics() -> None:
    assert topics() == [
        "exit-codes",
        "guards",
        "migration",
        "overrides",
        "placement",
        "policies",
        "records",
        "repository",
        "secrets",
    ]


@pytest.mark.parametrize("topic", topics())
def test_a_text_fits_and_has_a_title(topic: str) -> None:
    title, empty, *lines = text(topic).splitlines()
    assert ([line for line in (title, *lines) if len(line) > 90 or line != line.rstrip()], empty) == ([], "")
    assert re.fullmatch(r"[A-Z][a-z ]+: .+", title)


@pytest.mark.parametrize("topic", topics())
def test_every_flag_in_a_text_is_one(topic: str) -> None:
    named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", text(topic)))
    assert named - OPTIONS - {"--help"} == set()


@pytest.mark.parametrize("topic", topics())
def test_every_command_in_a_text_is_one(topic: str) -> None:
    named = set(re.findall(r"\bkadm ([a-z]+) (?:[A-Z]+\b|DIR|--)", text(topic)))
    assert named - set(COMMAND.commands) == set()


def test_exit_codes() -> None:
    told = re.findall(r"^  (\d)  (.*)$", text("exit-codes"), re.MULTILINE)
    assert told == [(str(int(code)), meaning) for code, meaning in MEANINGS.items()]


def _missing(topic: str, words: Iterable[str]) -> list[str]:
    return [word for word in words if not re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", text(topic))]


def test_kinds() -> None:
    kinds = [schema["title"] for name, schema in json_schemas().items() if name not in ("kadm.json", "fleet.json")]
    assert _missing("policies", kinds) == []


def test_plugins() -> None:
    told = re.findall(r"^  ([A-Z][A-Za-z]+)  ", text("placement"), re.MULTILINE)
    assert sorted(set(told)) == sorted(PLUGINS)


def test_fields() -> None:
    assert _missing("policies", _fields(PropagationPolicySpec)) == []
    assert _missing("placement", _fields(RescheduleWhen)) == []
    assert re.findall(r"^  ([a-z]+) {2,}", text("overrides").partition("Operators")[0], re.MULTILINE) == _fields(
        Overriders
    )


def _fields(of: Any) -> list[str]:
    return list(of.__struct_encode_fields__)


def test_annotations() -> None:
    assert _missing("placement", [name.removeprefix(PREFIX) for name in PLACEMENT_ANNOTATIONS]) == []


def test_flags_that_lift_guards() -> None:
    flags = [option for option in OPTIONS if option.startswith(("--allow-", "--adopt", "--take-", "--delete-"))]
    assert _missing("guards", sorted(flags)) == []


@pytest.mark.parametrize(
    ("arguments", "code", "out", "err"),
    [
        pytest.param(["help"], 0, "kadm help TOPIC tells more about:\n", "", id="the topics"),
        pytest.param(["help", "secrets"], 0, "Secrets: what is never shown", "", id="a topic"),
        pytest.param(["help", "plan"], 0, "Usage: kadm plan ", "", id="a command"),
        pytest.param(["help", "nothing"], 1, "", "error: there is no help on nothing (topics are: ", id="nothing"),
    ],
)
def test_the_command(arguments: list[str], code: int, out: str, err: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == code
    told = capsys.readouterr()
    assert (told.out[: len(out)], told.err[: len(err)]) == (out, err)
