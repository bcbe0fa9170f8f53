"""The runner itself: it sees a wrong case and a wrong answer, and no deviation hides one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.vectors.__main__ import main
from tests.vectors.case import Case, VectorsError, cases_of, differences, read_document
from tests.vectors.deviations import ROWS, claimed_by
from tests.vectors.mutants import mutants
from tests.vectors.running import run_case, run_file, yaml_differences
from tests.vectors.suites import SUITES
from tests.vectors.test_vectors import EXHAUSTIVE, EXTRACT, suite_files

PER_CASE = 40 if EXHAUSTIVE else 6


def extracted(suite: str) -> tuple[Case, ...]:
    return cases_of(read_document(EXTRACT / f"{suite}.json"))


@pytest.mark.parametrize("suite", SUITES)
def test_mutated_cases_fail(suite: str) -> None:
    """Whatever is changed in what a case expects, the run shows it."""
    swallowed = [
        f"{case.id}: {what}"
        for case in extracted(suite)
        for what, mutant in mutants(case, seed=suite, at_most=PER_CASE)
        if not run_case(SUITES[suite], mutant).failed
    ]
    assert swallowed == []


@pytest.mark.parametrize("file", [pytest.param(file, id=f"{file.parent.name}/{file.stem}") for file in suite_files()])
def test_mutated_cases_are_not_claimed(file: Path) -> None:
    suite, at_most = SUITES[file.stem], PER_CASE if file.parent == EXTRACT or EXHAUSTIVE else 2
    swallowed = [
        f"{case.id}: {what}"
        for case in cases_of(read_document(file))
        if run_case(suite, case).claims
        for what, mutant in mutants(case, seed="claimed", at_most=at_most)
        if run_case(suite, mutant).claims
    ]
    assert swallowed == []


@pytest.mark.parametrize("suite", SUITES)
def test_wrong_answers_are_not_claimed(suite: str) -> None:
    """An answer that is neither KubeAdmiral's nor kadm's is no deviation."""
    tools = SUITES[suite]
    claimed = []
    for case in extracted(suite):
        wanted = tools.case(case)
        right = Case(case.id, case.input, dict(tools.normal(tools.answer(case.input))))
        for what, wrong in mutants(right, seed=suite, at_most=PER_CASE):
            if any(True for _ in differences(wanted, wrong.expect)) and claimed_by(
                wanted, wrong.expect, tools.reference
            ):
                claimed.append(f"{case.id}: {what}")
    assert claimed == []


def a_file(folder: Path, document: Mapping[str, object]) -> str:
    file = folder / "f.json"
    file.write_text(json.dumps(document), encoding="utf-8")
    return str(file)


PLANNED: Mapping[str, object] = {
    "id": "one",
    "input": {"clusters": {"a": {"weight": 1}}, "total": 2},
    "expect": {"plan": {"a": 2}, "overflow": {}},
}
HEAD: Mapping[str, object] = {"format": "kadm-vectors/1", "suite": "planner"}


def test_a_run_prints_differences_and_counts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wrong = {**PLANNED, "id": "two", "expect": {"plan": {"a": 3}, "overflow": {}}}
    file = a_file(tmp_path, {**HEAD, "cases": [PLANNED, wrong]})
    assert main([file]) == 1
    assert capsys.readouterr().out == 'f.json: two: plan: expected {"a":3}, got {"a":2}\n1 passed, 1 failed\n'


def test_a_run_counts_deviations(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = {
        "clusters": {"a": {"max": 3}},
        "available": ["a"],
        "total": 10,
        "current": {"a": 5},
        "avoidDisruption": True,
    }
    case = {"id": "B7", "input": given, "expect": {"plan": {"a": 10}, "overflow": {}}}
    assert main([a_file(tmp_path, {**HEAD, "suite": "binpack", "cases": [case]})]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition(" (")[0] for line in lines] == [
        "deviation design 6: 1",
        "deviation spec 3: 1",
        "1 passed, 0 failed",
    ]


@pytest.mark.parametrize(
    ("expect", "vary", "passes"),
    [
        pytest.param({"plan": {"a": 2}, "overflow": {}}, {}, True, id="equal"),
        pytest.param({"plan": {"a": 2}}, {}, False, id="a key too many"),
        pytest.param({"plan": {"a": 2}, "overflow": {}, "more": 1}, {}, False, id="a key is missing"),
        pytest.param({"plan": {"a": True}, "overflow": {}}, {}, False, id="another value"),
        pytest.param({"overflow": {}}, {"plan": [{"a": 1}, {"a": 2}]}, True, id="one of the alternatives"),
        pytest.param({"overflow": {}}, {"plan": [{"a": 1}, {"a": 3}]}, False, id="none of the alternatives"),
    ],
)
def test_comparison(expect: Mapping[str, object], vary: Mapping[str, list[object]], passes: bool) -> None:
    given = {"clusters": {"a": {"weight": 1}}, "total": 2}
    assert run_case(SUITES["planner"], Case("x", given, expect, vary)).passed == passes


@pytest.mark.parametrize(
    ("text", "what"),
    [
        pytest.param("{", "f.json", id="no JSON"),
        pytest.param("{}", "names no format", id="no format"),
        pytest.param('{"format": "kadm-vectors/2"}', "kadm-vectors/2 is not known", id="another format"),
        pytest.param('{"format": "kadm-vectors/1", "suite": "x"}', "suite 'x' is not known", id="another suite"),
        pytest.param(
            json.dumps({**HEAD, "cases": [PLANNED, PLANNED]}), "no id of its own: 'one'", id="an id stands twice"
        ),
        pytest.param(json.dumps({**HEAD, "cases": [{"id": "one"}]}), "case one has no input", id="no input"),
    ],
)
def test_files_that_cannot_be_run(text: str, what: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "f.json"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(VectorsError, match=what):
        run_file(file)
    assert main([str(file)]) == 2
    assert what in capsys.readouterr().err


def test_a_case_that_raises_does_not_end_the_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    broken = {**PLANNED, "id": "broken", "input": {"clusters": {"a": {"weight": "1"}}, "total": 2}}
    assert main([a_file(tmp_path, {**HEAD, "cases": [broken, PLANNED]})]) == 1
    first, last = capsys.readouterr().out.splitlines()
    assert first.startswith("f.json: broken: answer: expected no exception, got TypeError")
    assert last == "1 passed, 1 failed"


def test_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    assert "usage" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "expect", "passes"),
    [
        pytest.param("a: y\n", {"a": True}, True, id="as kubectl"),
        pytest.param("a: y\n", {"a": "y"}, False, id="not as kubectl"),
        pytest.param("a: [\n", {"error": True}, True, id="both refuse"),
        pytest.param("a: 1\n", {"error": True}, False, id="kubectl refuses"),
        pytest.param("a: 1\n'a': 2\n", {"a": 2}, True, id="a key stands twice"),
        pytest.param("a: 1\n'a': 2\n", {"a": 3}, False, id="a key stands twice, and the rest is wrong"),
    ],
)
def test_yaml(text: str, expect: Mapping[str, object], passes: bool) -> None:
    whole = f"apiVersion: v1\nkind: Foo\nmetadata: {{name: x}}\n{text}"
    found = list(yaml_differences({"id": "x", "yaml": whole, "expect": expect}))
    assert (found == []) == passes


def test_rows_have_names_of_their_own() -> None:
    assert len({row.id for row in ROWS}) == len(ROWS)
