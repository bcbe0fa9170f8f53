"""kadm reads YAML as kubectl does: the shared vectors, a table of our own, and the table against kubectl itself."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from kadm.repo.documents import read_documents
from kadm.repo.yaml_writer import to_yaml
from tests.repo.reading import HEAD, body, same

CASES: list[dict[str, Any]] = json.loads((Path(__file__).parent / "testdata" / "kubectl.json").read_bytes())["cases"]


def reading(text: str) -> Any:
    """What kadm makes of a file: a value per document, or ``{"error": True}``."""
    file = read_documents(text.encode(), "f.yaml")
    if any(problem.severity == "error" for problem in file.problems):
        return {"error": True}
    return [body(document.value) for document in file.documents]


def vectors() -> list[dict[str, Any]]:
    folder = os.environ.get("KADM_TEST_DATA")
    if not folder:
        return []
    found: list[dict[str, Any]] = json.loads((Path(folder) / "vectors" / "yaml.json").read_bytes())["cases"]
    return found


@pytest.mark.parametrize("case", [pytest.param(case, id=case["id"]) for case in vectors()])
def test_shared_vectors(case: dict[str, Any]) -> None:
    refused = case["id"] == "document duplicate via quote"  # on purpose: one of the two values would be lost
    want = case["expect"] if "error" in case["expect"] else [case["expect"]]
    assert same(reading(case["yaml"]), {"error": True} if refused else want)


@pytest.mark.parametrize("case", [pytest.param(case, id=case["id"]) for case in CASES])
def test_table(case: dict[str, Any]) -> None:
    assert same(reading(case["yaml"]), {"error": True} if case.get("refused") else case["expect"])


def find_kubectl() -> str | None:
    beside = Path(sys.executable).with_name("kubectl")
    return str(beside) if beside.exists() else shutil.which("kubectl")


needs_kubectl = pytest.mark.skipif(find_kubectl() is None, reason="kubectl is not installed")


def ask_kubectl(text: str, folder: Path) -> Any:
    """What kubectl makes of a file, in the form of ``reading``."""
    file = folder / "f.yaml"
    file.write_bytes(text.encode())
    command = [str(find_kubectl()), "annotate", "--local", "-f", str(file), "k=v", "-o", "json"]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    if answer.returncode:
        return {"error": True}
    documents, rest = [], answer.stdout.strip()
    while rest:
        value, end = json.JSONDecoder().raw_decode(rest)
        documents.append(body(value))
        rest = rest[end:].strip()
    return documents


@needs_kubectl
def test_table_agrees_with_kubectl(tmp_path: Path) -> None:
    readable = [case for case in CASES if "error" not in case["expect"] and case["yaml"].startswith(HEAD)]
    readable = [case for case in readable if len(case["expect"]) == 1 and not case.get("refused")]
    together = ask_kubectl("---\n".join(case["yaml"] for case in readable), tmp_path)
    assert together == [case["expect"][0] for case in readable]


@needs_kubectl
@pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, id=case["id"])
        for case in CASES
        if "error" in case["expect"] or not case["yaml"].startswith(HEAD) or len(case["expect"]) != 1
    ],
)
def test_rest_of_the_table_agrees_with_kubectl(case: dict[str, Any], tmp_path: Path) -> None:
    assert ask_kubectl(case["yaml"], tmp_path) == case["expect"]


WRITTEN: dict[str, Any] = {
    "words": ["yes", "No", "y", "on", "null", "~", "", "true", "True", "NaN", ".nan", ".inf", "-.INF", "<<", "="],
    "numbers as text": ["1", "0644", "0o7", "0x1F", "1_000", "1e3", "7e5", "1.", ".5", "1:30", "+1", "-0", "0b1", "_1"],
    "dates": ["2024-01-02", "2024-01-02T03:04:05Z", "12:30:45"],
    "marks": ["- a", "a: b", "a #b", "#", "a:", "? a", "&a", "*a", "!a", "|", ">", "%a", "@a", "`", "{a}", "[a", "---"],
    "images": [
        "nginx:1.25",
        "reg:5000/a/b@sha256:0123",
        "/bin/sh",
        "a=b",
        "--flag=x",
        "500m",
        "1Gi",
        "1.5",
        "1E",
        "1e",
    ],
    "text": ["a\nb", "a\nb\n", "a\n\n", "\na", " a\nb", "a \nb ", "a\n \nb", "\ta\nb", "a\n\tb\n", "\n", "é\nü", "😀"],
    "odd characters": [
        "\x00",
        "\x1b",
        "\x7f",
        "\x85",
        "\xa0",
        "\u2028",
        "\u2029\n",
        "\ufeff",
        "a\rb",
        "a\r\nb",
        "\ufffe",
    ],
    "numbers": [0, -1, 2**53 + 1, 2**63 - 1, -(2**63), 0.5, -0.25, 1e-7, 1e21, 1e23, 5e-324, 1.7976931348623157e308],
    "empty": [None, True, False, {}, [], [[]], [{}], {"a": {}}, {"a": []}, [[1, [2]], [{"a": [{"b": 1}]}]]],
    "keys": {
        "yes": 1,
        "1": 1,
        "": 1,
        "a: b": 1,
        "a\nb": 1,
        "k" * 2000: 1,
        "é": 1,
        "null": 1,
        "1.0": 1,
        "<<": 1,
        "?": 1,
    },
}


@needs_kubectl
def test_kubectl_reads_back_what_kadm_writes(tmp_path: Path) -> None:
    text = HEAD + to_yaml(WRITTEN)
    assert same(ask_kubectl(text, tmp_path), [WRITTEN])


def real_manifests() -> list[Path]:
    folder = os.environ.get("KADM_TEST_DATA")
    return sorted((Path(folder) / "real-manifests").glob("*.yaml")) if folder else []


@needs_kubectl
@pytest.mark.parametrize("file", [pytest.param(file, id=file.name) for file in real_manifests()])
def test_real_manifests(file: Path, tmp_path: Path) -> None:
    text = file.read_text(encoding="utf-8")
    assert ask_kubectl(text, tmp_path) == reading(text)
