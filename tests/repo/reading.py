"""What the tests of kadm.repo share: reading text, and comparing values as JSON compares them."""

from __future__ import annotations

from typing import Any

from kadm.errors import Problem
from kadm.repo.documents import Document, read_documents

HEAD = "apiVersion: v1\nkind: Foo\nmetadata: {name: x}\n"


def read(text: str | bytes) -> tuple[list[Any], list[str]]:
    """Values and problems of a file ``f.yaml`` with this content."""
    file = read_documents(text.encode() if isinstance(text, str) else text, "f.yaml")
    return [document.value for document in file.documents], [describe(problem) for problem in file.problems]


def document(text: str | bytes, path: str = "f.yaml") -> Document:
    """The only document of a file without problems."""
    file = read_documents(text.encode() if isinstance(text, str) else text, path)
    assert file.problems == ()
    (only,) = file.documents
    return only


def describe(problem: Problem) -> str:
    return f"{problem.severity} {problem}"


def body(value: dict[str, Any]) -> dict[str, Any]:
    """What an object holds beside the head that every case has."""
    return {key: part for key, part in value.items() if key not in ("apiVersion", "kind", "metadata")}


def same(one: Any, other: Any) -> bool:
    """Equality of JSON values: integers and floats alike are numbers, and booleans are none."""
    if isinstance(one, dict):
        return isinstance(other, dict) and one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list):
        return isinstance(other, list) and len(one) == len(other) and all(map(same, one, other))
    if one is None or isinstance(one, (bool, str)):
        return type(one) is type(other) and bool(one == other)
    return isinstance(other, (int, float)) and not isinstance(other, bool) and float(one) == float(other)
