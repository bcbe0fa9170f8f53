"""What kadm writes, every reader reads back as it was."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML

from kadm.repo.documents import read_documents
from kadm.repo.yaml_writer import to_yaml
from tests.repo.reading import same

texts = st.one_of(
    st.text(st.characters(blacklist_categories=["Cs"]), max_size=12),
    st.text(st.sampled_from("ab \n\t\r:#-?!&*'\"{}[],|>%@`01.eExX_~<=+\u2028\x85\ufeff"), max_size=10),
    st.sampled_from(["yes", "No", "~", "null", "0x1", "1e3", "1:20", "2024-01-01", "<<", "=", "---", ".inf", "500m"]),
    st.from_regex(r"\A[-+]?[0-9_.]{1,5}([eE][-+]?[0-9]{1,2})?\Z"),
)
leaves = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False, allow_infinity=False),
    texts,
)
values = st.recursive(
    leaves,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(texts, inner, max_size=4)),
    max_leaves=12,
)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.dictionaries(texts, values, max_size=5))
def test_every_reader_reads_it_back(obj: dict[str, Any]) -> None:
    text = to_yaml(obj)
    kadm = read_documents(text.encode(), "f.yaml")
    read = {
        "kadm": kadm.documents[0].value,
        "PyYAML": yaml.safe_load(text),
        "libyaml": yaml.load(text, yaml.CSafeLoader),
        "ruamel": YAML(typ="safe", pure=True).load(text),
    }
    assert (kadm.problems, {name: same(obj, value) for name, value in read.items()}) == ((), dict.fromkeys(read, True))


def test_layout() -> None:
    obj = {
        "apiVersion": "apps/v1",
        "metadata": {"name": "web", "labels": {}, "annotations": {"example.com/on": "yes"}},
        "spec": {
            "replicas": 3,
            "containers": [{"image": "nginx:1.25", "args": ["--port=80", "-v"], "ports": []}, {"env": [{"name": "A"}]}],
            "script": "set -e\necho done\n",
            "matrix": [[1, 2], [3.5]],
        },
    }
    assert (
        to_yaml(obj)
        == """\
apiVersion: apps/v1
metadata:
  name: web
  labels: {}
  annotations:
    example.com/on: "yes"
spec:
  replicas: 3
  containers:
  - image: nginx:1.25
    args:
    - "--port=80"
    - "-v"
    ports: []
  - env:
    - name: A
  script: |
    set -e
    echo done
  matrix:
  - - 1
    - 2
  - - 3.5
"""
    )


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "\ud800"], ids=["NaN", "infinity", "lone surrogate"])
def test_what_json_cannot_hold_is_an_error(value: Any) -> None:
    with pytest.raises(ValueError, match=r"^JSON"):
        to_yaml({"a": value})
