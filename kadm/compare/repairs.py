"""What apply leaves behind or cannot express, and what must be taken out before it (api-servers, 13 and 19).

Nothing here knows kinds: the member's own answers say which fields are at fault, managedFields say whose they are.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from msgspec import Struct

from kadm.compare.adoption import Lost, fields_to_fold, lost
from kadm.compare.difference import same
from kadm.compare.field_set import Elements, FieldSet, holds, locate, members, touches
from kadm.compare.host_ports import copied_ports
from kadm.compare.left_fields import struck
from kadm.compare.merging import merged, patch_between, taken_out
from kadm.compare.ownership import all_held, entries, is_own, own_entry
from kadm.model.desired import DesiredObject
from kadm.model.field_path import parse_path
from kadm.model.live import Fault
from kadm.model.objects import JsonObject, JsonValue, Path, at

_ALIASES = {"f:serviceAccountName": "f:serviceAccount"}
"""Field → its deprecated copy, which brings it back where it was removed (core/v1 PodSpec)."""

_IMMUTABLE = (
    "immutable",
    "updates to ",  # statefulset spec for fields other than …, parameters are forbidden
    "cannot change roleref",
    "may not change once set",
    "may not be changed",
    "cannot be changed",
)
"""What API servers say of a field that cannot change, in lower case."""

_SECRET_ONCE = frozenset({"data", "immutable", "type"})
"""Fields of a Secret whose faults come without words, for these may quote values: nothing else is wrong with them that
the loader would not have seen."""

_CONVERTED = "autoscaling.alpha.kubernetes.io/"
"""Annotations that hold what an older version of a kind has no fields for: they are fields in disguise."""

_NEVER_LEFT_BEHIND = frozenset({"apiVersion", "kind", "metadata", "status"})
_DEEP_ENOUGH = 2
"""Steps of a path below which unowned neighbours of a faulty field may be at fault too: not in ``spec`` itself."""


class Step(Struct, frozen=True):
    """A JSON patch of a live object to ask the member about, and what it takes out of that."""

    operations: tuple[JsonObject, ...]
    remove: tuple[Path, ...]


def immutable_fields(faults: Sequence[Fault], *, secret: bool) -> tuple[str, ...]:
    """The fields that the member says cannot change, in its words; empty where it says something else, too."""
    found = [
        fault
        for fault in faults
        if any(words in fault.message.lower() for words in _IMMUTABLE) or (secret and fault.field in _SECRET_ONCE)
    ]
    return tuple(dict.fromkeys(fault.field for fault in found)) if len(found) == len(faults) else ()


def leftovers(live: JsonObject, answer: JsonObject, wanted: JsonObject, manager: str) -> tuple[Lost, ...]:
    """What kadm's entry holds, git does not, and the apply would leave as it is.

    Where the entry is of another apiVersion its fields say nothing: then it is all that nobody holds any more. What the
    member only sets again by itself is among it: whoever repairs asks first.
    """
    before, after = own_entry(live, manager), own_entry(answer, manager)
    if before is None or after is None:
        return ()
    if before.get("apiVersion") != wanted["apiVersion"]:
        held = all_held(answer)
        return tuple(
            Lost(elements, path, manager)
            for elements, path in _unheld(answer, held)
            if locate(wanted, elements) is None and locate(live, elements) is not None
        )
    wants: FieldSet = after.get("fieldsV1") or {}
    found: list[Lost] = []
    for elements in members(before.get("fieldsV1") or {}):
        path = locate(answer, elements)
        if path is None or holds(wants, elements) or _is_held(answer, elements, manager):
            continue
        value = at(answer, path)
        if isinstance(value, dict) and value:
            continue  # a map stays for as long as somebody's field is in it
        if not same(value, at(live, locate(live, elements) or ())):
            continue
        found.append(Lost(elements, path, manager))
        if (alias := _ALIASES.get(elements[-1])) and (copy := locate(answer, (*elements[:-1], alias))):
            found.append(Lost((*elements[:-1], alias), copy, manager))
    found += copied_ports(live, answer, before=before.get("fieldsV1") or {}, wants=wants, manager=manager)
    return tuple(found)


def mended(live: JsonObject, sent: JsonObject, faults: Sequence[Fault], manager: str) -> Step | None:
    """The patch that gives the live object git's values, and takes out what git took out or what is in their way.

    In the way is what the member names, and unowned values beside it: defaults of what was there before. None where
    nothing is in the way that anybody could take out.
    """
    shape = all_held(live)
    own: FieldSet = (own_entry(live, manager) or {}).get("fieldsV1") or {}
    target = merged(live, {**sent, "metadata": _known(sent["metadata"])}, shape)
    gone = let_go(live, sent, own, manager)
    gone |= {path for fault in faults for path in _in_the_way(live, target, sent, fault, shape)}
    remove = tuple(sorted(outermost(gone), key=str))
    return _step_to(live, taken_out(target, remove), remove) if remove else None


def let_go(live: JsonObject, sent: JsonObject, own: FieldSet, manager: str) -> set[Path]:
    """Where kadm's own fields stand in the live object that git does not have any more, and nobody else holds.

    Whole maps and items where git has nothing of them: the defaults in them are no use alone.
    """
    found = set()
    for elements in members(own):
        if elements[0] == "f:metadata":
            continue
        for length in range(1, len(elements) + 1):
            whole = elements[:length]
            if locate(sent, whole) is None and not _is_held(live, whole, manager):
                path = locate(live, whole)
                if path is not None:
                    found.add(path)
                break
    return found


def unsettled(
    live: JsonObject, answer: JsonObject, wanted: DesiredObject, fold: Collection[str], manager: str
) -> Step | None:
    """The patch that makes what the apply would leave (``answer``) without what git lacks and kadm or folded managers
    hold; None where there is no such thing.

    Only the member knows which of it are defaults, which it sets again by itself.
    """
    wants: FieldSet = (own_entry(answer, manager) or {}).get("fieldsV1") or {}
    left = struck(fields_to_fold(live, fold, manager), wanted.left, live)
    removed = lost(live, fold, manager=manager, wants=wants, left=left)
    rest = (*leftovers(live, answer, wanted.object, manager), *removed)
    paths = {path for one in rest if (path := locate(answer, one.elements)) is not None}
    if not paths:
        return None
    remove = tuple(sorted(outermost(paths), key=str))
    return _step_to(live, taken_out(answer, remove), remove)


def _step_to(live: JsonObject, target: JsonObject, remove: tuple[Path, ...]) -> Step:
    """The patch from the live object; of its metadata only labels and annotations change.

    It holds no resourceVersion: it is only asked about, and controllers write status all the time.
    """
    metadata = {name: value for name, value in live["metadata"].items() if name not in ("labels", "annotations")}
    metadata |= _known(target["metadata"])
    status = {"status": live["status"]} if "status" in live else {}
    wanted = {name: value for name, value in target.items() if name != "status"} | {"metadata": metadata} | status
    return Step(tuple(patch_between(live, wanted)), remove)


def _known(metadata: JsonObject) -> JsonObject:
    return {name: metadata[name] for name in ("labels", "annotations") if name in metadata}


def _in_the_way(
    live: JsonObject, target: JsonObject, sent: JsonObject, fault: Fault, shape: FieldSet
) -> Iterator[Path]:
    try:
        path = parse_path(fault.field)
    except ValueError:
        return
    if path[0] in _NEVER_LEFT_BEHIND:
        return
    if at(live, path) is not None and at(sent, path) is None and not _anybody(live, path, shape):
        yield path
        return
    beside = at(live, path[:-1])
    if len(path) <= _DEEP_ENOUGH or not isinstance(beside, dict) or at(target, path) is None:
        return
    for name in beside:
        neighbour = (*path[:-1], name)
        if at(sent, neighbour) is None and not _anybody(live, neighbour, shape):
            yield neighbour


def _anybody(live: JsonObject, path: Path, shape: FieldSet) -> bool:
    """Whether any manager holds the field at a place in the live object, or something in it."""
    fields: FieldSet = shape
    obj: JsonValue = live
    for step in path:
        element = next((one for one in fields if one != "." and _names(obj, one, step)), None)
        if element is None:
            return bool(fields) is False and obj is not live  # a leaf above: the whole value is one field
        fields = fields[element]
        obj = obj[step]
    return True


def _names(obj: JsonValue, element: str, step: str | int) -> bool:
    mark = element[:2]
    if isinstance(step, str):
        return element == f"f:{step}"
    return mark != "f:" and locate(obj, (element,)) == (step,)


def _is_held(obj: JsonObject, elements: Elements, manager: str) -> bool:
    """Whether somebody else holds a field, or something below it."""
    return any(touches(entry.get("fieldsV1") or {}, elements) for entry in entries(obj) if not is_own(entry, manager))


def _unheld(obj: JsonObject, held: FieldSet) -> Iterator[tuple[Elements, Path]]:
    """The fields of the object that nobody holds, outermost only, in keys alone."""
    for name in sorted(at(obj, ("metadata", "annotations")) or {}):
        elements = ("f:metadata", "f:annotations", f"f:{name}")
        if name.startswith(_CONVERTED) and not touches(held, elements):
            yield elements, ("metadata", "annotations", name)
    for name in sorted(obj.keys() - _NEVER_LEFT_BEHIND):
        yield from _unheld_below(obj[name], held.get(f"f:{name}"), (f"f:{name}",), (name,))


def _unheld_below(
    value: JsonValue, held: FieldSet | None, elements: Elements, path: Path
) -> Iterator[tuple[Elements, Path]]:
    if held is None:
        yield elements, path
    elif isinstance(value, dict) and any(name != "." for name in held):
        for name in sorted(value):
            yield from _unheld_below(value[name], held.get(f"f:{name}"), (*elements, f"f:{name}"), (*path, name))


def outermost(paths: set[Path]) -> set[Path]:
    """The paths without those that stand below another of them."""
    return {path for path in paths if not any(path[:length] in paths for length in range(1, len(path)))}
