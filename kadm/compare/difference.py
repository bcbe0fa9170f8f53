"""The fields in which two states of one object differ."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from kadm.compare.alignment import ORDER, align
from kadm.compare.noise import without_noise
from kadm.compare.ownership import REPAIR_MANAGER, Holder, holders
from kadm.compare.secrecy import masked
from kadm.model.objects import JsonObject, JsonValue, ObjectKey, Path, path_text
from kadm.model.plan import FieldChange


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """One field that differs, before masking. None means absent."""

    path: Path
    before: JsonValue
    after: JsonValue


def same(before: JsonValue, after: JsonValue) -> bool:
    """Whether two JSON values are the same; unlike ``==``, true is not 1 and 1 is not 1.0."""
    return before is after or _canonical(before) == _canonical(after)


def differences(before: JsonObject, after: JsonObject) -> tuple[Difference, ...]:
    """Every field in which the objects differ, noise left out, sorted by path."""
    left, right = without_noise(before), without_noise(after)
    if same(left, right):
        return ()
    from deepdiff import DeepDiff  # here: only what changed pays for it

    tree = DeepDiff(*align(left, right), view="tree", ignore_order=False, threshold_to_diff_deeper=0)
    found = {}
    for level in (level for levels in tree.values() for level in levels):
        difference = _difference(level)
        found[path_text(difference.path)] = difference
    return tuple(found[text] for text in sorted(found))


def leaves(obj: JsonObject) -> tuple[Difference, ...]:
    """Every leaf of an object that is not there yet, in its own order: what a create adds."""
    skipped = (("apiVersion",), ("kind",), ("metadata", "name"), ("metadata", "namespace"))
    return tuple(
        Difference(path=path, before=None, after=value) for path, value in _leaves(obj, ()) if path not in skipped
    )


def field_changes(
    key: ObjectKey, found: tuple[Difference, ...], *, live: JsonObject | None = None, manager: str = ""
) -> tuple[FieldChange, ...]:
    """Differences as they may be shown: Secret values masked, and with who set the live value where kadm did not."""
    return tuple(
        FieldChange(
            path=path_text(difference.path),
            before=masked(key, difference.path, difference.before),
            after=masked(key, difference.path, difference.after),
            manager=", ".join(
                holder.manager for holder in _foreign(live, difference, manager) if holder.manager != REPAIR_MANAGER
            ),
        )
        for difference in found
    )


def taken_from(live: JsonObject, found: tuple[Difference, ...], manager: str) -> tuple[Holder, ...]:
    """The managers whose values the differences overwrite or remove, but for kadm itself."""
    return tuple(sorted({holder for difference in found for holder in _foreign(live, difference, manager)}))


def _foreign(live: JsonObject | None, difference: Difference, manager: str) -> tuple[Holder, ...]:
    if live is None or difference.before is None:
        return ()
    return holders(live, difference.path, besides=manager)


def _canonical(value: JsonValue) -> bytes:
    return msgspec.json.encode(value, order="sorted")


def _difference(level: Any) -> Difference:
    steps: list[str | int] = level.path(output_format="list")
    before, after = (_plain(value) for value in (level.t1, level.t2))
    if ORDER in steps:
        at = steps.index(ORDER)
        parent = level
        while len(parent.path(output_format="list")) > at + 1:
            parent = parent.up
        return Difference(path=(*steps[:at], f"[{ORDER}]"), before=_plain(parent.t1), after=_plain(parent.t2))
    if isinstance(steps[-1], int) and _is_plain_list(level.up.t1) and _is_plain_list(level.up.t2):
        # Positions mean nothing in a list of plain values: it is shown whole, as it is one field to people.
        return Difference(path=tuple(steps[:-1]), before=level.up.t1, after=level.up.t2)
    return Difference(path=tuple(steps), before=before, after=after)


def _is_plain_list(value: Any) -> bool:
    return isinstance(value, list) and not any(isinstance(item, dict | list) for item in value)


def _plain(value: Any) -> JsonValue:
    """A value of the comparison as JSON: what DeepDiff marks as not present becomes None, keyed maps become lists."""
    if type(value).__name__ == "NotPresent":
        return None
    if isinstance(value, dict):
        if ORDER in value:
            return [_plain(item) for name, item in value.items() if name != ORDER]
        return {name: _plain(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value


def _leaves(value: JsonValue, path: Path) -> Iterator[tuple[Path, JsonValue]]:
    if isinstance(value, dict) and value:
        for name, child in value.items():
            yield from _leaves(child, (*path, name))
    elif isinstance(value, list) and any(isinstance(item, dict | list) for item in value):
        for index, child in enumerate(value):
            yield from _leaves(child, (*path, index))
    else:
        yield path, value
