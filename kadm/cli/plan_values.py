"""Values of fields on one line, of which the part that changes is always seen."""

from __future__ import annotations

from itertools import takewhile

import msgspec

from kadm.model.objects import JsonValue

LONGEST_VALUE = 160
"""So many characters of a value are shown."""

AROUND = 40
"""So many characters before what changes, and after it, say where in a long value that is."""


def shown(value: JsonValue) -> str:
    """A value on one line, shortened where it is long; absent is ``(none)``."""
    return _cut(_text(value), 0, LONGEST_VALUE)


def shown_change(before: JsonValue, after: JsonValue) -> tuple[str, str]:
    """Both values as ``shown``, but long ones from a little before their first difference on.

    Values of different types that would read the same, the number 3 and the text "3", are shown as JSON.
    """
    old, new = _text(before), _text(after)
    if old == new and before != after:
        old, new = _json(before), _json(after)
    if before is None or after is None or max(len(old), len(new)) <= LONGEST_VALUE:
        return _cut(old, 0, LONGEST_VALUE), _cut(new, 0, LONGEST_VALUE)
    same = _alike(old, new)
    rest = _alike(old[same:][::-1], new[same:][::-1])
    start = max(0, same - AROUND)
    old, new = (_cut(text, start, min(start + LONGEST_VALUE, len(text) - rest + AROUND)) for text in (old, new))
    return old, new


def _text(value: JsonValue) -> str:
    if value is None:
        return "(none)"
    return value if isinstance(value, str) and value and "\n" not in value else _json(value)


def _json(value: JsonValue) -> str:
    return msgspec.json.encode(value).decode()


def _alike(one: str, other: str) -> int:
    """How many characters both begin with."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def _cut(text: str, start: int, end: int) -> str:
    """``text[start:end]``, with a mark in place of the character next to each side that is cut."""
    head = "…" if start else ""
    tail = "…" if end < len(text) else ""
    return f"{head}{text[start + len(head) : end - len(tail)]}{tail}"
