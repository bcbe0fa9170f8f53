"""What status is asked for."""

from __future__ import annotations

import pytest

from kadm.cli.status_query import labels_of
from kadm.errors import UsageError


@pytest.mark.parametrize(
    ("selector", "want"),
    [
        pytest.param(None, {}, id="none"),
        pytest.param("", {}, id="empty"),
        pytest.param("a=b", {"a": "b"}, id="one"),
        pytest.param("a==b, c=", {"a": "b", "c": ""}, id="several"),
    ],
)
def test_labels(selector: str | None, want: dict[str, str]) -> None:
    assert labels_of(selector) == want


@pytest.mark.parametrize(
    ("selector", "why"),
    [
        pytest.param("a", "a is not of the form key=value", id="no value"),
        pytest.param("=b", "=b is not of the form key=value", id="no key"),
        pytest.param("a=b,,", "nothing stands beside a comma", id="commas"),
        pytest.param("a=b,", "nothing stands beside a comma", id="a comma at the end"),
        pytest.param(",a=b", "nothing stands beside a comma", id="a comma before it"),
    ],
)
def test_no_selector(selector: str, why: str) -> None:
    with pytest.raises(UsageError) as raised:
        labels_of(selector)
    assert str(raised.value) == f'-l "{selector}": {why} (for example -l app=web,tier=front)'
