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
from kadm.watch.serving import DEFAULT_LISTEN, documents
from kadm.watch.serving.access import SHORTEST_TOKEN
from kadm.watch.serving.metrics import METRICS

COMMAND: Any = typer.main.get_command(app)
OPTIONS = {
    option
    for command in (COMMAND, *COMMAND.commands.values())
    for parameter in command.params
    for option in parameter.opts
}


def test_the_topics() -> None:
    assert topics() == [
        "daemon",
        "exit-codes",
        "guards",
        "metrics",
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


def test_metrics() -> None:
    told = re.findall(r"^  (\w+)(?:\{(.*)\})?\n((?:      .*\n)+)", text("metrics"), re.MULTILINE)
    assert [(name, labels, " ".join(words.split())) for name, labels, words in told] == [
        (one.exposed, ", ".join(one.labels), one.help) for one in METRICS
    ]


def test_metrics_that_tell_what_is_ill() -> None:
    rows = text("daemon").partition(" metric (kadm_…)\n")[2].partition("\n\n")[0].splitlines()
    named = {row[61:] for row in rows if row[61:]}
    assert len(named) > 8
    assert {f"kadm_{name}" for name in named} - {one.name for one in METRICS} == set()


def test_what_the_daemon_serves_and_keeps() -> None:
    told = text("daemon")
    assert _missing("daemon", re.findall(r"/api/v1/(\w+)", documents.__doc__ or "")) == []
    assert (DEFAULT_LISTEN in told, f"{SHORTEST_TOKEN} characters" in told) == (True, True)


def test_options_of_the_daemon() -> None:
    options = {option for parameter in COMMAND.commands["watch"].params for option in parameter.opts}
    assert _missing("daemon", sorted(options - {"-C", "--directory", "--output", "--parallel"})) == []


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
