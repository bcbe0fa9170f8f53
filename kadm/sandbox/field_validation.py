"""Fields that a request has twice or that no type declares: found, and worded as the server words them.

Source of the rules: KEP-2885 (fieldValidation) and sigs.k8s.io/json, the server's strict decoder.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class ParsedBody:
    """A JSON value, and the paths of members that an object has twice (``metadata.name``), in the text's order.

    Of a member that stands twice the last value counts.
    """

    value: Any
    duplicates: tuple[str, ...]


def parse_json(raw: bytes | str) -> ParsedBody:
    """The JSON value of a request body. Raises ``json.JSONDecodeError`` or ``UnicodeDecodeError`` when it is none."""
    twice: dict[int, list[str]] = {}

    def keep(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        out = dict(pairs)
        if len(out) != len(pairs):
            seen: set[str] = set()
            for name, _ in pairs:
                if name in seen:
                    twice.setdefault(id(out), []).append(name)
                seen.add(name)
        return out

    value = json.loads(raw, object_pairs_hook=keep, parse_constant=_refuse_constant)
    return ParsedBody(value, tuple(_paths(value, twice, "")) if twice else ())


def strict_errors(duplicates: Iterable[str], unknown: Iterable[str]) -> tuple[str, ...]:
    """What a strict decoder says of a body: ``duplicate field "metadata.name"``, ``unknown field "spec.replica"``."""
    return (
        *(f'duplicate field "{path}"' for path in duplicates),
        *(f'unknown field "{path}"' for path in unknown),
    )


def strict_message(errors: Iterable[str]) -> str:
    """The message of a refused body: ``strict decoding error: unknown field "a", unknown field "b"``."""
    return "strict decoding error: " + ", ".join(errors)


def warning_header(text: str) -> str:
    """The value of a ``Warning`` response header: ``299 - "unknown field \\"a\\""``."""
    return '299 - "' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _refuse_constant(name: str) -> Any:
    raise json.JSONDecodeError(f"invalid character {name[0]!r} looking for beginning of value", name, 0)


def _paths(value: Any, twice: dict[int, list[str]], path: str) -> Iterable[str]:
    if isinstance(value, dict):
        for name in twice.get(id(value), ()):
            yield f"{path}.{name}" if path else name
        for name, item in value.items():
            yield from _paths(item, twice, f"{path}.{name}" if path else name)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _paths(item, twice, f"{path}[{index}]")
