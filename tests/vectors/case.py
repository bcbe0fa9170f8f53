"""Files of behaviour vectors (format ``kadm-vectors/1``), and how an answer is compared with what one expects."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

Json = Any
Answer = Mapping[str, Json]
"""One answer to a case: key → value."""

Alternatives = Mapping[str, Sequence[Json]]
"""Every answer that is possible where the order of a map decides: key → values. The keys are independent."""

FORMAT = "kadm-vectors/1"
ERROR = "error"
"""The key of an error: its wording is not compared, only that it is there."""

APPLY_ERROR = {"applyError"}
"""The keys of what stands in place of an object that patches are refused for; the wording is not compared either."""


@dataclass(frozen=True, slots=True)
class OneOf:
    """In an answer: a number that may be any of these."""

    values: Sequence[int]


class VectorsError(ValueError):
    """A file is no file of vectors; the text says why."""


@dataclass(frozen=True, slots=True)
class Case:
    """One input, and the answer that it must get. ``vary``: key → the values that are acceptable."""

    id: str
    input: Mapping[str, Json]
    expect: Mapping[str, Json]
    vary: Mapping[str, Sequence[Json]] = field(default_factory=dict)

    @property
    def keys(self) -> frozenset[str]:
        """The keys that an answer must have."""
        return frozenset(self.expect) | frozenset(self.vary)

    def accepts(self, key: str, value: Json) -> bool:
        """Whether ``value`` is acceptable for ``key``, which is among ``keys``."""
        if key in self.vary:
            return any(equal(allowed, value) for allowed in self.vary[key])
        return equal(self.expect[key], value)


@dataclass(frozen=True, slots=True)
class Difference:
    """One key of one answer that is not as expected. ``expected`` and ``got`` are JSON texts, or ``(absent)``."""

    case: str
    key: str
    expected: str
    got: str

    def __str__(self) -> str:
        return f"{self.case}: {self.key}: expected {self.expected}, got {self.got}"


def read_document(path: Path) -> Mapping[str, Json]:
    """The file's content. Raises VectorsError."""
    try:
        document = msgspec.json.decode(path.read_bytes())
    except (OSError, msgspec.DecodeError) as error:
        raise VectorsError(f"{path}: {error}") from error
    if not isinstance(document, dict) or not isinstance(document.get("format"), str):
        raise VectorsError(f"{path}: it names no format")
    return document


def cases_of(document: Mapping[str, Json]) -> tuple[Case, ...]:
    """The cases of a file of vectors. Raises VectorsError where one is malformed or an id stands twice."""
    cases = []
    seen: set[str] = set()
    for entry in document.get("cases") or ():
        identity = entry.get("id")
        if not isinstance(identity, str) or identity in seen:
            raise VectorsError(f"a case has no id of its own: {identity!r}")
        if not isinstance(entry.get("input"), dict) or not isinstance(entry.get("expect"), dict):
            raise VectorsError(f"case {identity} has no input, or expects nothing")
        seen.add(identity)
        cases.append(Case(identity, entry["input"], entry["expect"], entry.get("vary") or {}))
    return tuple(cases)


def differences(case: Case, answer: Answer) -> Iterator[Difference]:
    """What differs between the answer and what the case expects; nothing where they agree."""
    for key in sorted(case.keys | answer.keys()):
        if key not in case.keys:
            yield Difference(case.id, key, "(absent)", shown(answer[key]))
        elif key not in answer:
            yield Difference(case.id, key, _expected(case, key), "(absent)")
        elif key != ERROR and not case.accepts(key, answer[key]):
            yield Difference(case.id, key, _expected(case, key), shown(answer[key]))


def possible(case: Case, alternatives: Alternatives) -> bool:
    """Whether ``alternatives`` are exactly what the case expects: for each key all that it accepts, and nothing else.

    Of a key that varies each accepted value must be possible; the file may not know of all that are.
    """
    if alternatives.keys() != case.keys:
        return False
    for key, values in alternatives.items():
        if key == ERROR:
            continue
        if key in case.vary:
            if not all(any(equal(allowed, value) for value in values) for allowed in case.vary[key]):
                return False
        elif not all(equal(case.expect[key], value) for value in values):
            return False
    return True


def equal(left: Json, right: Json) -> bool:
    """Deep equality of JSON values: a boolean equals no number, and the wording of errors does not count.

    ``right`` may hold ``OneOf``.
    """
    if isinstance(right, OneOf):
        return any(equal(left, value) for value in right.values)
    if isinstance(left, dict) and isinstance(right, dict):
        if left.keys() == right.keys() == APPLY_ERROR:
            return True
        return left.keys() == right.keys() and all(equal(value, right[key]) for key, value in left.items())
    if isinstance(left, list | tuple) and isinstance(right, list | tuple):
        return len(left) == len(right) and all(map(equal, left, right))
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    return bool(left == right)


def shown(value: Json) -> str:
    """``value`` as JSON."""
    return msgspec.json.encode(value, order="sorted").decode()


def _expected(case: Case, key: str) -> str:
    if key in case.vary:
        return " or ".join(shown(value) for value in case.vary[key])
    return shown(case.expect[key])
