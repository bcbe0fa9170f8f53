"""Selectors over members: the rules of scheduling spec 4.6 and propagation spec 1.2."""

from __future__ import annotations

import pytest

from kadm.model.policy import SelectorOperator, SelectorRequirement, SelectorTerm
from kadm.model.selector import SelectorError, check_labels, labels_match, term_matches, terms_match

LABELS = {"env": "prod", "n": "5", "empty": ""}


def expression(key: str, operator: SelectorOperator, *values: str) -> SelectorTerm:
    return SelectorTerm(match_expressions=(SelectorRequirement(key, operator, values),))


def field(key: str, operator: SelectorOperator, *values: str) -> SelectorTerm:
    return SelectorTerm(match_fields=(SelectorRequirement(key, operator, values),))


@pytest.mark.parametrize(
    ("term", "want"),
    [
        pytest.param(SelectorTerm(), False, id="an empty term matches nothing"),
        pytest.param(expression("env", "In", "dev", "prod"), True, id="In"),
        pytest.param(expression("zone", "In", "a"), False, id="In needs the label"),
        pytest.param(expression("zone", "NotIn", "a"), True, id="NotIn holds where the label is missing"),
        pytest.param(expression("env", "NotIn", "prod"), False, id="NotIn"),
        pytest.param(expression("empty", "Exists"), True, id="an empty value exists"),
        pytest.param(expression("env", "DoesNotExist"), False, id="DoesNotExist"),
        pytest.param(expression("n", "Gt", "4"), True, id="Gt"),
        pytest.param(expression("n", "Gt", "5"), False, id="Gt is strict"),
        pytest.param(expression("n", "Lt", "10"), True, id="Lt compares numbers, not text"),
        pytest.param(expression("env", "Gt", "4"), False, id="Gt is false where the label is no integer"),
        pytest.param(expression("zone", "Lt", "4"), False, id="Lt is false where the label is missing"),
        pytest.param(field("metadata.name", "In", "c1"), True, id="field In"),
        pytest.param(field("metadata.name", "NotIn", "c1"), False, id="field NotIn"),
        pytest.param(field("other", "NotIn", "c1"), True, id="an unknown field reads as empty"),
        pytest.param(
            SelectorTerm(
                match_expressions=(SelectorRequirement("env", "In", ("prod",)),),
                match_fields=(SelectorRequirement("metadata.name", "In", ("c2",)),),
            ),
            False,
            id="expressions and fields are ANDed",
        ),
    ],
)
def test_term_matches(term: SelectorTerm, want: bool) -> None:
    assert term_matches(term, "c1", LABELS) is want


@pytest.mark.parametrize(
    "term",
    [
        pytest.param(expression("env", "In"), id="In without values"),
        pytest.param(expression("env", "Exists", "x"), id="Exists with a value"),
        pytest.param(expression("n", "Gt", "4", "5"), id="Gt with two values"),
        pytest.param(expression("n", "Gt", "four"), id="Gt with a word"),
        pytest.param(expression("n", "Gt", "9223372036854775808"), id="Gt above int64"),
        pytest.param(expression("n", "Gt", "-1"), id="a negative bound is no label value"),
        pytest.param(expression("-env", "Exists"), id="illegal key"),
        pytest.param(expression("a/b/c", "Exists"), id="two slashes"),
        pytest.param(expression("/c", "Exists"), id="empty prefix"),
        pytest.param(expression("env", "In", "a b"), id="illegal value"),
        pytest.param(expression("env", "In", "a" * 64), id="value too long"),
        pytest.param(field("metadata.name", "In", "c1", "c2"), id="field with two values"),
        pytest.param(field("metadata.name", "Exists"), id="field operator"),
    ],
)
def test_illegal_terms(term: SelectorTerm) -> None:
    with pytest.raises(SelectorError):
        term_matches(term, "c1", LABELS)


def test_terms_are_tried_in_order() -> None:
    good, bad = expression("env", "Exists"), expression("env", "In")
    assert terms_match((SelectorTerm(), good, bad), "c1", LABELS)
    with pytest.raises(SelectorError):
        terms_match((bad, good), "c1", LABELS)


def test_labels() -> None:
    assert labels_match({}, {})
    assert labels_match({"env": "prod"}, LABELS)
    assert not labels_match({"zone": ""}, LABELS)
    with pytest.raises(SelectorError):
        check_labels({"env": "a b"})
