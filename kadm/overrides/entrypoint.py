"""The command and args overriders (propagation spec 1.5)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, assert_never

from kadm.model.objects import JsonObject, Path
from kadm.model.override import EntrypointOverrider
from kadm.overrides.error import OverrideError
from kadm.overrides.pods import container_named, containers
from kadm.overrides.pointer import Patch, patch_path, pointer


def entrypoint_patches(
    obj: JsonObject, field: Literal["command", "args"], overriders: Sequence[EntrypointOverrider]
) -> tuple[Patch, ...]:
    """One replace per container whose ``field`` an overrider names; several overriders of one container add up.

    The value is null where delete leaves nothing. Sorted by path as text. Overriders of unknown containers do nothing.
    """
    lists: dict[Path, list[str] | None] = {}
    if overriders:
        tuple(containers(obj))  # raises for a kind without pod spec, whatever the overriders name
    for overrider in overriders:
        found = container_named(obj, overrider.container_name)
        if found is None:
            continue
        path = (*found[0], field)
        words = lists[path] if path in lists else found[1].get(field)
        lists[path] = _changed(words or [], field, overrider)
    return tuple(sorted((Patch("replace", pointer(path), words) for path, words in lists.items()), key=patch_path))


def _changed(words: Sequence[str], field: str, overrider: EntrypointOverrider) -> list[str] | None:
    match overrider.operator:
        case "append":
            if not overrider.value:
                raise OverrideError(f"append to {field} of container {overrider.container_name!r} needs a value")
            return [*words, *overrider.value]
        case "overwrite":
            return list(overrider.value)
        case "delete":
            return [word for word in words if word not in overrider.value] or None
        case _:
            assert_never(overrider.operator)
