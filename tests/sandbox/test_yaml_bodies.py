from __future__ import annotations

import pytest
import yaml

from kadm.sandbox.yaml_bodies import read_yaml


@pytest.mark.parametrize(
    ("text", "want"),
    [
        pytest.param(b"", None, id="nothing"),
        pytest.param(b'{"a": 1, "b": [true, null]}', {"a": 1, "b": [True, None]}, id="JSON"),
        pytest.param(b"{a: 1, b: x}", {"a": 1, "b": "x"}, id="a flow mapping that is no JSON"),
        pytest.param(b"a: y\nb: 'y'\nc: on", {"a": True, "b": "y", "c": True}, id="YAML 1.1 booleans"),
        pytest.param(b"a: 2021-01-01", {"a": "2021-01-01"}, id="a date stays text"),
        pytest.param(b"1: a\ntrue: b", {"1": "a", "true": "b"}, id="keys are text"),
        pytest.param(b"p: &p {a: 1}\nq: {<<: *p, b: 2}", {"p": {"a": 1}, "q": {"a": 1, "b": 2}}, id="merge keys"),
        pytest.param(b"a: 1\n---\nb: 2", {"a": 1}, id="only the first document"),
    ],
)
def test_values(text: bytes, want: object) -> None:
    assert read_yaml(text) == want


def test_what_is_no_yaml() -> None:
    with pytest.raises(yaml.YAMLError):
        read_yaml(b"a: [")
