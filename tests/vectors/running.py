"""Runs files of vectors against kadm."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kadm.repo.documents import read_documents
from tests.repo.reading import body, same
from tests.sandbox.conversations import Conversation, play_all
from tests.vectors.case import FORMAT, Case, Difference, Json, VectorsError, cases_of, differences, read_document, shown
from tests.vectors.deviations import claimed_by
from tests.vectors.suites import SUITES, Suite

AT_ONCE = 20
"""How many conversations are played at the same time: most of the time they wait."""


@dataclass(slots=True)
class Outcome:
    """What became of a file's cases. ``claims``: row of the deviations → cases that it claims."""

    passed: int = 0
    failed: int = 0
    differences: list[Difference] = field(default_factory=list)
    claims: Counter[str] = field(default_factory=Counter)

    def add(self, other: Outcome) -> None:
        """Count the cases of another file, too."""
        self.passed += other.passed
        self.failed += other.failed
        self.differences += other.differences
        self.claims += other.claims


def run_file(path: Path) -> Outcome:
    """Run all cases of one file. Raises VectorsError where it is none that can be run."""
    document = read_document(path)
    run = FORMATS.get(document["format"])
    if run is None:
        raise VectorsError(f"{path}: format {document['format']} is not known: {', '.join(FORMATS)}")
    return run(document)


def run_case(suite: Suite, case: Case) -> Outcome:
    """Run one case of a suite. Whatever kadm raises is a difference, and does not end the run."""
    wanted = suite.case(case)
    try:
        answer = suite.normal(suite.answer(case.input))
        found = list(differences(wanted, answer))
        rows = claimed_by(wanted, answer, suite.reference) if found else ()
    except Exception as error:  # noqa: BLE001  # a run over thousands of cases must tell them all
        raised = f"{type(error).__name__}: {error}"
        return Outcome(failed=1, differences=[Difference(case.id, "answer", "no exception", raised)])
    if not found:
        return Outcome(passed=1)
    if rows:
        return Outcome(passed=1, claims=Counter(rows))
    return Outcome(failed=1, differences=found)


def _behaviour(document: Mapping[str, Json]) -> Outcome:
    suite = SUITES.get(document.get("suite", ""))
    if suite is None:
        raise VectorsError(f"suite {document.get('suite')!r} is not known: {', '.join(SUITES)}")
    total = Outcome()
    for case in cases_of(document):
        total.add(run_case(suite, case))
    return total


def _yaml(document: Mapping[str, Json]) -> Outcome:
    total = Outcome()
    for case in document["cases"]:
        found = list(yaml_differences(case))
        total.add(Outcome(passed=not found, failed=bool(found), differences=found))
    return total


def yaml_differences(case: Json) -> Iterator[Difference]:
    """What kadm reads otherwise than kubectl.

    A key that stands twice is refused on purpose: then kadm must read the rest as kubectl does, without one of the two.
    """
    text, want = case["yaml"], case["expect"]
    found, faults = _read(text)
    if any("is there twice" in fault for fault in faults) and not want.get("error"):
        lines = text.splitlines(keepends=True)
        shortened = ["".join(lines[:index] + lines[index + 1 :]) for index in range(len(lines))]
        if any(not fault and same(read, [want]) for read, fault in map(_read, shortened)):
            return
    if bool(faults) != bool(want.get("error")) or not (faults or same(found, [want])):
        yield Difference(case["id"], "yaml", shown(want), "; ".join(faults) or shown(found))


def _read(text: str) -> tuple[list[Json], list[str]]:
    """The documents of a file, and what is wrong with it."""
    file = read_documents(text.encode(), "f.yaml")
    faults = [problem.what for problem in file.problems if problem.severity == "error"]
    return [body(document.value) for document in file.documents], faults


def _conversations(document: Mapping[str, Json]) -> Outcome:
    talks = [
        Conversation(item["id"], frozenset(item.get("tags", ())), tuple(item["steps"]))
        for item in document["conversations"]
    ]
    return played(asyncio.run(play_all(talks, at_once=AT_ONCE)))


def played(results: Mapping[str, Sequence[str]]) -> Outcome:
    """Count conversations: id → differences."""
    total = Outcome()
    for name, found in results.items():
        missed = [Difference(name, "conversation", "the recorded answer", text) for text in found]
        total.add(Outcome(passed=not found, failed=bool(found), differences=missed))
    return total


FORMATS: Mapping[str, Callable[[Mapping[str, Json]], Outcome]] = {
    FORMAT: _behaviour,
    "kadm-yaml/1": _yaml,
    "kadm-conversations/1": _conversations,
}
