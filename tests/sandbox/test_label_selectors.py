"""What label selectors select, and how they are written."""

from __future__ import annotations

import pytest

from kadm.sandbox.label_selectors import LabelSelector, as_text, selects


def expression(key: str, operator: str, *values: str) -> LabelSelector:
    return {"matchExpressions": [{"key": key, "operator": operator, "values": list(values)}]}


LABELS = {"app": "web", "size": "3"}


@pytest.mark.parametrize(
    ("selector", "want"),
    [
        pytest.param(None, False, id="none"),
        pytest.param({}, True, id="empty"),
        pytest.param({"matchLabels": {"app": "web"}}, True, id="label"),
        pytest.param({"matchLabels": {"app": "web", "tier": ""}}, False, id="an absent label is not empty"),
        pytest.param({"matchLabels": {"app": "web"}, **expression("size", "In", "4")}, False, id="both must hold"),
        pytest.param(expression("app", "In", "db", "web"), True, id="In"),
        pytest.param(expression("tier", "In", "a"), False, id="In of an absent label"),
        pytest.param(expression("app", "NotIn", "web"), False, id="NotIn"),
        pytest.param(expression("tier", "NotIn", "a"), True, id="NotIn of an absent label"),
        pytest.param(expression("app", "Exists"), True, id="Exists"),
        pytest.param(expression("app", "DoesNotExist"), False, id="DoesNotExist"),
        pytest.param(expression("size", "Gt", "2"), True, id="Gt"),
        pytest.param(expression("size", "Lt", "2"), False, id="Lt"),
        pytest.param(expression("app", "Gt", "2"), False, id="Gt of what is no number"),
        pytest.param(expression("app", "Is", "web"), False, id="no operator"),
    ],
)
def test_selects(selector: LabelSelector | None, want: bool) -> None:
    assert selects(selector, LABELS) is want


@pytest.mark.parametrize(
    ("selector", "want"),
    [
        pytest.param(None, "", id="none"),
        pytest.param({"matchLabels": {"b": "2", "a": "1"}}, "a=1,b=2", id="labels by name"),
        pytest.param(expression("a", "In", "y", "x"), "a in (x,y)", id="In"),
        pytest.param(expression("a", "NotIn", "x"), "a notin (x)", id="NotIn"),
        pytest.param(expression("a", "Exists"), "a", id="Exists"),
        pytest.param(expression("a", "DoesNotExist"), "!a", id="DoesNotExist"),
    ],
)
def test_text(selector: LabelSelector | None, want: str) -> None:
    assert as_text(selector) == want
