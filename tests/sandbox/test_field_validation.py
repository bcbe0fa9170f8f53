"""Members that stand twice in a body, and the wording of strict decoding."""

from __future__ import annotations

import json

import pytest

from kadm.sandbox.field_validation import parse_json, strict_errors, strict_message, warning_header

DUPLICATES = [
    pytest.param('{"a":1,"b":{"a":1}}', (), id="none"),
    pytest.param('{"metadata":{"name":"x","name":"y"}}', ("metadata.name",), id="nested"),
    pytest.param('{"l":[{},{"a":1,"a":2}],"l2":1,"l2":2}', ("l2", "l[1].a"), id="in a list"),
]


@pytest.mark.parametrize(("raw", "want"), DUPLICATES)
def test_duplicates(raw: str, want: tuple[str, ...]) -> None:
    assert parse_json(raw).duplicates == want


def test_the_last_of_two_counts() -> None:
    assert parse_json(b'{"a":1,"a":2}').value == {"a": 2}


@pytest.mark.parametrize("raw", ["{", "", "NaN", '{"a":Infinity}'])
def test_no_json(raw: str) -> None:
    with pytest.raises(json.JSONDecodeError):
        parse_json(raw)


def test_wording() -> None:
    errors = strict_errors(["metadata.name"], ["spec.replica"])
    assert (strict_message(errors), warning_header(errors[1])) == (
        'strict decoding error: duplicate field "metadata.name", unknown field "spec.replica"',
        '299 - "unknown field \\"spec.replica\\""',
    )
