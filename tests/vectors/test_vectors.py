"""All files of vectors pass: the extract that is committed, and the shared ones where KADM_TEST_DATA names them.

Conversations with a server are sampled, always the same ones, unless KADM_EXHAUSTIVE=1.
"""

from __future__ import annotations

import asyncio
import copy
import os
import random
from pathlib import Path

import pytest

from tests.sandbox.conversations import CONTROLLERS, load, play_all
from tests.vectors.case import Json, cases_of, possible, read_document
from tests.vectors.deviations import ALL
from tests.vectors.running import AT_ONCE, played, run_file
from tests.vectors.suites import SUITES

EXTRACT = Path(__file__).parent / "extract"
SAMPLE = 25
EXHAUSTIVE = os.environ.get("KADM_EXHAUSTIVE") == "1"


def files() -> list[Path]:
    """Every file of behaviour vectors that there is."""
    named = os.environ.get("KADM_TEST_DATA")
    shared = sorted((Path(named) / "vectors").glob("*.json")) if named else []
    return [*sorted(EXTRACT.glob("*.json")), *(file for file in shared if file.stem in SUITES or file.stem == "yaml")]


def suite_files() -> list[Path]:
    return [file for file in files() if file.stem in SUITES]


@pytest.mark.parametrize("file", [pytest.param(file, id=f"{file.parent.name}/{file.stem}") for file in files()])
def test_file(file: Path) -> None:
    outcome = run_file(file)
    assert [str(difference) for difference in outcome.differences] == []
    assert outcome.passed > 10


@pytest.mark.parametrize("file", [pytest.param(file, id=f"{file.parent.name}/{file.stem}") for file in suite_files()])
def test_transcription(file: Path) -> None:
    """Without a row it is KubeAdmiral, with all rows it is kadm, case by case; and nobody changes the input."""
    suite = SUITES[file.stem]
    wrong = []
    for case in cases_of(read_document(file)):
        before: Json = copy.deepcopy(case.input)
        answer = suite.normal(suite.answer(case.input))
        if not possible(suite.case(case), suite.reference(case.input, frozenset())):
            wrong.append(f"{case.id}: not KubeAdmiral's answer")
        if not suite.gives(case.input, ALL, answer):
            wrong.append(f"{case.id}: not kadm's answer")
        if case.input != before:
            wrong.append(f"{case.id}: the input was changed")
    assert wrong == []


def test_conversations(shared_data: Path) -> None:
    slow = {CONTROLLERS, "bookmark-timing"}
    found = [talk for talk in load(shared_data) if EXHAUSTIVE or not slow & talk.tags]
    if not EXHAUSTIVE:
        found = random.Random("conversations").sample(found, SAMPLE)
    outcome = played(asyncio.run(play_all(found, at_once=AT_ONCE)))
    assert [str(difference) for difference in outcome.differences] == []
