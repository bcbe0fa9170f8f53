"""What an apply would leave, computed without the member, and the patch between two states of an object.

Only for what the member itself cannot be asked: its answers are better wherever there are any.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from kadm.compare.difference import same
from kadm.compare.field_set import FieldSet, step_in
from kadm.model.objects import JsonObject, JsonValue, Path


def merged(live: JsonValue, desired: JsonValue, shape: FieldSet) -> JsonValue:
    """``live`` with the values of ``desired``. ``shape`` are the fields that anybody owns: it tells keyed lists from
    atomic ones, and atomic maps from others."""
    if isinstance(desired, dict) and isinstance(live, dict):
        return {
            **live,
            **{
                name: merged(live[name], value, shape.get(f"f:{name}") or {}) if name in live else value
                for name, value in desired.items()
            },
        }
    if isinstance(desired, list) and isinstance(live, list) and (elements := _item_elements(shape)):
        return _merged_items(live, desired, elements, shape)
    return desired


def taken_out(obj: JsonObject, paths: Iterable[Path]) -> JsonObject:
    """The object without what stands at these paths (keys and indexes of this very object)."""
    for path in sorted(paths, key=_from_the_end, reverse=True):
        obj = _without(obj, path)
    return obj


def patch_between(before: JsonValue, after: JsonValue, path: str = "") -> Iterator[JsonObject]:
    """The JSON patch (RFC 6902) that makes ``after`` of ``before``: maps key by key, everything else whole."""
    if isinstance(before, dict) and isinstance(after, dict):
        for name in before:
            if name not in after:
                yield {"op": "remove", "path": f"{path}/{_escaped(name)}"}
        for name, value in after.items():
            if name not in before:
                yield {"op": "add", "path": f"{path}/{_escaped(name)}", "value": value}
            else:
                yield from patch_between(before[name], value, f"{path}/{_escaped(name)}")
    elif not same(before, after):
        yield {"op": "replace", "path": path, "value": after}


def guarded(operations: Iterable[JsonObject], live: JsonObject) -> list[JsonObject]:
    """The operations with the live object's resourceVersion (stale: 409); none stay none."""
    wanted = list(operations)
    if not wanted:
        return []
    version = live["metadata"]["resourceVersion"]
    return [*wanted, {"op": "replace", "path": "/metadata/resourceVersion", "value": version}]


def _item_elements(shape: FieldSet) -> list[str]:
    return [element for element in shape if element[:2] in ("k:", "v:")]


def _merged_items(live: list[Any], desired: list[Any], elements: list[str], shape: FieldSet) -> list[Any]:
    found = list(live)
    for item in desired:
        element = next((one for one in elements if step_in([item], one) == 0), None)
        index = step_in(found, element) if element is not None else None
        if isinstance(index, int) and element is not None:
            found[index] = merged(found[index], item, shape[element])
        elif item not in found:
            found.append(item)
    return found


def _from_the_end(path: Path) -> tuple[tuple[int, str], ...]:
    """Later items of a list first, and what is below before what is above: no removal moves the next."""
    return tuple((step, "") if isinstance(step, int) else (0, step) for step in path)


def _without(value: Any, path: Path) -> Any:
    step, rest = path[0], path[1:]
    if isinstance(value, list) and isinstance(step, int) and step < len(value):
        if not rest:
            return [*value[:step], *value[step + 1 :]]
        return [*value[:step], _without(value[step], rest), *value[step + 1 :]]
    if not isinstance(value, dict) or step not in value:
        return value
    if not rest:
        return {name: child for name, child in value.items() if name != step}
    return {**value, step: _without(value[step], rest)}


def _escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")
