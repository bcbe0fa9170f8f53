"""No file costs more than seconds and some hundred megabytes, whatever it holds."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

MEGABYTE = 2**20

# Builds the text, reads it, prints what that took. In a process of its own, because peak memory never shrinks again.
MEASURE = """
import json, resource, sys, time
from kadm.repo.documents import read_documents
data = eval(sys.argv[1], {"M": 2**20})
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
before, began = peak(), time.process_time()
file = read_documents(data, "f.yaml")
print(json.dumps({
    "seconds": time.process_time() - began,
    "bytes": peak() - before,
    "first": str(file.problems[0]) if file.problems else "",
}))
"""

TOO_MANY = "the file holds too many values"
TOO_DEEP = "nested deeper than 250 levels"


def measure(expression: str) -> dict[str, Any]:
    answer = subprocess.run([sys.executable, "-c", MEASURE, expression], capture_output=True, text=True, check=True)
    taken: dict[str, Any] = json.loads(answer.stdout)
    return taken


LAUGHS = "'a0: &a0 [x]\\n' + ''.join(f'a{i}: &a{i} [' + f'*a{i-1},' * 10 + ']\\n' for i in range(1, 12))"
MERGES = (
    "'m0: &m0 {' + ''.join(f'k{i}: 1,' for i in range(2000)) + '}\\n'"
    " + ''.join(f'm{i}: &m{i} {{<<: *m{i-1}}}\\n' for i in range(1, 5000))"
)


@pytest.mark.parametrize(
    ("expression", "problem"),
    [
        pytest.param(f"({LAUGHS}).encode()", TOO_MANY, id="billion laughs"),
        pytest.param(f"({MERGES}).encode()", TOO_MANY, id="merges of merges"),
        pytest.param("b'a: &a ' + b'x' * M + b'\\nb: [' + b'*a,' * 10000 + b']'", TOO_MANY, id="one text, often"),
        pytest.param("b'[\\n' * M", TOO_DEEP, id="brackets"),
        pytest.param("b'[' * M", "no valid YAML: nested too deep", id="brackets on one line"),
        pytest.param("b'{a: ' * M", TOO_DEEP, id="braces"),
        pytest.param("b'- ' * M", TOO_DEEP, id="dashes"),
        pytest.param("b''.join(b' ' * i + b'a:\\n' for i in range(2000))", TOO_DEEP, id="indentation"),
        pytest.param("b'{\"a\":' * M", TOO_DEEP, id="JSON"),
        pytest.param("b'{}' * (4 * M - 2)", TOO_MANY, id="many JSON documents"),
        pytest.param("b'a: [' + b'a,' * 15 * M + b']'", TOO_MANY, id="many values"),
        pytest.param("b'a:\\n---\\n' * 4 * M", TOO_MANY, id="many documents"),
        pytest.param("b'---\\n' * 8 * M", TOO_MANY, id="many separators"),
        pytest.param("b'\\n' * 32 * M", "", id="line breaks"),
        pytest.param("b'#\\n' * 16 * M", "", id="comments"),
        pytest.param("b'a: 1\\n' + b'%TAG !a! b\\n' * M + b'--- c'", "a YAML directive", id="directives"),
        pytest.param("b'a: ' + b'1' * 8 * M", "", id="a long number"),
        pytest.param("b'a: 1\\n' * 4 * M", TOO_MANY, id="one key, often"),
        pytest.param("b'x' * (32 * M + 1)", "the file has 33,554,433 bytes", id="a large file"),
    ],
)
def test_costs_are_bounded(expression: str, problem: str) -> None:
    taken = measure(expression)
    assert (problem in taken["first"], taken["seconds"] < 5, taken["bytes"] < 300 * MEGABYTE) == (True, True, True), (
        taken
    )
