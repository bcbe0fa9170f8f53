"""What a person is told about an object, word by word: ``--rewrite-golden`` writes the texts anew."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kadm.cli.explaining import explanation_document
from kadm.cli.plan_json import encode
from kadm.schedule.registry import DEFAULT_FILTERS
from tests.cli.situations import SITUATIONS

TEXTS = Path(__file__).parent / "testdata" / "explain"


def _file(name: str) -> Path:
    return TEXTS / f"{name.replace(' ', '-')}.txt"


@pytest.mark.parametrize("name", SITUATIONS)
def test_the_text(name: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    text = SITUATIONS[name].text(tmp_path)
    if request.config.getoption("--rewrite-golden"):
        _file(name).parent.mkdir(parents=True, exist_ok=True)
        _file(name).write_text(text, encoding="utf-8")
    assert text == _file(name).read_text(encoding="utf-8")


def test_every_text_has_its_situation() -> None:
    assert sorted(path.name for path in TEXTS.iterdir()) == sorted(_file(name).name for name in SITUATIONS)


def test_values_of_secrets_are_in_no_json(tmp_path: Path) -> None:
    explanations = SITUATIONS["override of a Secret"].explanations(tmp_path)
    text = encode(explanation_document("shop", explanations, offline=False))
    assert [value in text for value in ("aHVudGVyMg==", "c2VjcmV0", "(secret)")] == [False, False, True]


def test_the_json_has_what_the_text_tells(tmp_path: Path) -> None:
    explanations = SITUATIONS["cut by max and unplaced"].explanations(tmp_path)
    document = json.loads(encode(explanation_document("shop", explanations, offline=True)))
    (found,) = document["explanations"]
    ap, *_, us = found["members"]
    passed = [{"plugin": plugin, "fits": True, "reason": ""} for plugin in DEFAULT_FILTERS]
    assert ap == {
        "member": "ap",
        "state": "written",
        "because": "placed by ClusterPropagationPolicy p, named by its label",
        "filters": passed,
        "selected": True,
        "replicas": 4,
        "notes": ["weight 1/4 (min 2, max 4): 4 of 12"],
        "steps": ["minimum: 2", "round 1: 2 more, so 4 by weight (its share makes 5, but its maximum is 4)"],
        "fields": [{"path": "spec.replicas", "before": 12, "after": 4}],
    }
    assert us == {
        "member": "us",
        "state": "absent",
        "filters": [
            *passed[:2],
            {"plugin": "PlacementFilter", "fits": False, "reason": "it is not in the placement list"},
        ],
    }
    assert (found["unplacedReplicas"], found["policy"]["via"], found["policy"]["where"]["line"]) == (3, "label", 6)
