from __future__ import annotations

import pytest

from kadm.sandbox.responses import ApiError
from kadm.sandbox.selectors import FieldRequirement, Selector, parse_fields, parse_labels

LABELS = {"app": "web", "tier": "", "n": "5"}


@pytest.mark.parametrize(
    ("text", "selected"),
    [
        pytest.param("", True, id="nothing selects everything"),
        pytest.param("app=web", True, id="equal"),
        pytest.param("app==db", False, id="equal to another value"),
        pytest.param("app!=db,other!=x", True, id="unequal, also where the label is absent"),
        pytest.param("app in (db, web)", True, id="in"),
        pytest.param("app notin (web)", False, id="not in"),
        pytest.param("app,!other", True, id="exists and does not exist"),
        pytest.param("tier=", True, id="the empty value"),
        pytest.param("tier in ()", True, id="an empty set has the empty value"),
        pytest.param("app in (,web)", True, id="an empty value in a set"),
        pytest.param("n>4,n<6", True, id="numbers"),
        pytest.param("app>4", False, id="a label that is no number"),
        pytest.param("in=x", False, id="an operator's name as a key"),
    ],
)
def test_label_selectors(text: str, selected: bool) -> None:
    obj = {"metadata": {"name": "x", "labels": LABELS}}
    assert Selector(parse_labels(text)).matches(obj) is selected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("a in", "unable to parse requirement: found '' expected: '('", id="no set"),
        pytest.param("a=b c", "found 'c', expected: ',' or 'end of string'", id="two values"),
        pytest.param("a,", "found '', expected: identifier after ','", id="nothing after a comma"),
        pytest.param(
            "a in (b,!)", "unable to parse requirement: found '!', expected: ',', or identifier", id="a symbol in a set"
        ),
        pytest.param("=x", "found '=', expected: !, identifier, or 'end of string'", id="no key"),
    ],
)
def test_label_selectors_that_cannot_be_read(text: str, message: str) -> None:
    with pytest.raises(ApiError) as refused:
        parse_labels(text)
    assert (refused.value.code, refused.value.message) == (400, message)


POD = {
    "metadata": {"name": "a", "namespace": "n"},
    "spec": {"nodeName": "node-0"},
    "status": {"phase": "Running", "podIPs": [{"ip": "10.0.0.1"}]},
}


@pytest.mark.parametrize(
    ("text", "selected"),
    [
        pytest.param("metadata.name=a,metadata.namespace==n", True, id="name and namespace"),
        pytest.param("spec.nodeName!=", True, id="not empty"),
        pytest.param("spec.hostNetwork=false", True, id="an absent bool is false"),
        pytest.param("status.podIPs=10.0.0.1", True, id="a list as text"),
        pytest.param(r"metadata.name=a\,b", False, id="an escaped comma"),
    ],
)
def test_field_selectors(text: str, selected: bool) -> None:
    assert Selector(fields=parse_fields(text, "pods")).matches(POD) is selected


def test_escapes_are_taken_out_of_values() -> None:
    assert parse_fields(r"metadata.name=a\=b\,c\\", "configmaps") == (
        FieldRequirement("metadata.name", "a=b,c\\", equal=True),
    )


@pytest.mark.parametrize(
    ("resource", "message"),
    [
        pytest.param("pods", "field label not supported: spec.x", id="a kind with fields of its own"),
        pytest.param(
            "configmaps",
            '"spec.x" is not a known field selector: only "metadata.name", "metadata.namespace"',
            id="a kind without",
        ),
    ],
)
def test_unknown_fields(resource: str, message: str) -> None:
    with pytest.raises(ApiError) as refused:
        parse_fields("spec.x=1", resource)
    assert refused.value.message == message
