"""The fields that a path names, as people write paths (``model.field_path``): in an object, and in a set of fields."""

from __future__ import annotations

from collections.abc import Iterator

from kadm.compare.field_set import SELF, Elements, FieldSet, step_in
from kadm.model.field_path import ANY
from kadm.model.objects import JsonValue, Path


def found_in(obj: JsonValue, pattern: Path) -> Iterator[Path]:
    """Where the pattern matches in an object, in keys and indexes."""
    if not pattern:
        yield ()
        return
    for step in _matching(obj, pattern[0]):
        for rest in found_in(obj[step], pattern[1:]):
            yield (step, *rest)


def elements_in(fields: FieldSet, pattern: Path, obj: JsonValue, above: Elements = ()) -> Iterator[Elements]:
    """The fields of a set that the pattern names; ``obj`` is the object whose fields they are."""
    if not pattern:
        yield above
        return
    for element, below in fields.items():
        if element == SELF:
            continue
        step = step_in(obj, element)
        if step is not None and step in _matching(obj, pattern[0]):
            yield from elements_in(below, pattern[1:], obj[step], (*above, element))


def _matching(obj: JsonValue, step: str | int) -> list[str | int]:
    if isinstance(obj, dict):
        return list(obj) if step == ANY else [str(step)] if str(step) in obj else []
    if not isinstance(obj, list):
        return []
    if step == ANY:
        return list(range(len(obj)))
    if isinstance(step, int):
        return [step] if step < len(obj) else []
    return [index for index, item in enumerate(obj) if _is_called(item, step.strip("[]"))]


def _is_called(item: JsonValue, text: str) -> bool:
    """Whether ``key=value`` names the item, or ``key=value,key=value``: a value may hold a comma of its own."""
    name, equals, value = text.partition("=")
    if equals and _named(item, name) == value:
        return True
    pairs = [one.partition("=") for one in text.split(",")]
    return len(pairs) > 1 and all(name and _named(item, name) == value for name, _, value in pairs)


def _named(item: JsonValue, name: str) -> str | None:
    """What an item is called by this key; an empty key means the item itself."""
    found = item.get(name) if name and isinstance(item, dict) else item if not name else None
    return None if found is None else str(found)
