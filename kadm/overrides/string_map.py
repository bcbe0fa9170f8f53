"""The annotations and labels overriders (propagation spec 1.7), with kadm's ``upsert`` (design, section 12, row 13).

They work on the object's own metadata, not on its pod template.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, assert_never

from kadm.model.objects import JsonObject, at
from kadm.model.override import StringMapOverrider
from kadm.overrides.error import OverrideError
from kadm.overrides.pointer import Patch


def string_map_patches(
    obj: JsonObject, field: Literal["annotations", "labels"], overriders: Sequence[StringMapOverrider]
) -> tuple[Patch, ...]:
    """One replace of the whole map, also where nothing changes or nothing is left; none without overriders."""
    if not overriders:
        return ()
    found = at(obj, ("metadata", field))
    changed: dict[str, str] = dict(found) if isinstance(found, dict) else {}
    for overrider in overriders:
        changed = _changed(changed, field, overrider)
    return (Patch("replace", f"/metadata/{field}", changed),)


def _changed(present: Mapping[str, str], field: str, overrider: StringMapOverrider) -> dict[str, str]:
    given = overrider.value
    match overrider.operator:
        case "overwrite":
            return {key: given.get(key, value) for key, value in present.items()}
        case "addIfAbsent":
            if not given:
                raise OverrideError(f"addIfAbsent to {field} needs a value")
            for key in given:
                if key in present:
                    raise OverrideError(f"addIfAbsent to {field}: {key} is there already")
            return {**present, **given}
        case "upsert":
            return {**present, **given}
        case "delete":
            return {key: value for key, value in present.items() if key not in given}
        case _:
            assert_never(overrider.operator)
