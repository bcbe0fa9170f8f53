"""Who set which field: an object's managedFields, read (KEP-555, fieldsV1)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
from msgspec import Struct

from kadm.compare.field_set import FieldSet, union
from kadm.model.objects import JsonObject, Path

REPAIR_MANAGER = "kadm-repair"
"""The manager of every write of kadm that is no apply."""


class Holder(Struct, frozen=True, order=True):
    """A manager that holds a field. ``applies``: it declared it by server-side apply, as another GitOps tool does."""

    manager: str
    applies: bool


def own_entry(live: JsonObject, manager: str) -> JsonObject | None:
    """The entry that ``manager`` made by apply on the main resource, or None."""
    return next((entry for entry in entries(live) if is_own(entry, manager)), None)


def created_by(live: JsonObject, manager: str) -> bool:
    """Whether the manager's apply entry is the object's oldest: then its apply made the object (design, section 5)."""
    own = own_entry(live, manager)
    if own is None or not own.get("time"):
        return False
    return all(entry.get("time", own["time"]) >= own["time"] for entry in entries(live))


def holders(live: JsonObject, path: Path, *, besides: str) -> tuple[Holder, ...]:
    """Who holds the field at ``path`` (or a part of it, or the atomic value that it is part of), but for one manager.

    Steps of ``path`` are keys, indexes, or ``[key=value]`` for the item of a keyed list,
    ``[key=value,key=value]`` where it takes two.
    """
    found = {
        Holder(entry.get("manager", ""), entry.get("operation") == "Apply")
        for entry in entries(live)
        if not is_own(entry, besides) and _holds(entry.get("fieldsV1") or {}, path)
    }
    return tuple(sorted(found))


def entries(live: JsonObject) -> list[dict[str, Any]]:
    """All entries of managedFields."""
    return live["metadata"].get("managedFields") or []


def all_held(live: JsonObject) -> FieldSet:
    """All fields that anybody holds."""
    fields: FieldSet = {}
    for entry in entries(live):
        fields = union(fields, entry.get("fieldsV1") or {})
    return fields


def is_own(entry: Mapping[str, Any], manager: str) -> bool:
    """Whether an entry is the manager's own, made by apply on the main resource."""
    return entry.get("manager") == manager and entry.get("operation") == "Apply" and not entry.get("subresource")


def _holds(fields: dict[str, Any], path: Path) -> bool:
    if not path:
        return True
    if not any(name != "." for name in fields):
        return True  # a leaf above the path: the whole value is one field, and held
    return any(_holds(child, path[1:]) for child in _children(fields, path[0]))


def _children(fields: dict[str, Any], step: str | int) -> Iterator[dict[str, Any]]:
    text = str(step)
    if text.startswith("[") and text.endswith("]"):
        for name, child in fields.items():
            if name.startswith("k:") and _is_called(msgspec.json.decode(name[2:]), text[1:-1]):
                yield child
    elif isinstance(step, int):
        for name, child in fields.items():
            if name == f"i:{step}" or name.startswith("v:"):
                yield child
    elif f"f:{step}" in fields:
        yield fields[f"f:{step}"]


def _is_called(keys: dict[str, Any], text: str) -> bool:
    """Whether a list item's keys are those that a step names: one of them may do (see ``alignment``)."""
    one, _, value = text.partition("=")
    return str(keys.get(one)) == value or ",".join(f"{name}={keys[name]}" for name in sorted(keys)) == text
