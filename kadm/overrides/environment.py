"""The envs overrider (propagation spec 1.6), with kadm's ``upsert`` (design, section 12, row 13)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from kadm.model.objects import JsonObject, Path
from kadm.model.override import EnvOverrider
from kadm.overrides.error import OverrideError
from kadm.overrides.pods import container_named, containers
from kadm.overrides.pointer import Patch, patch_path, pointer

Variable = JsonObject
"""A core/v1 EnvVar."""


def environment_patches(obj: JsonObject, overriders: Sequence[EnvOverrider]) -> tuple[Patch, ...]:
    """One replace per container that an overrider names; several overriders of one container add up.

    Overriders of unknown containers do nothing. Sorted by path as text.
    """
    lists: dict[Path, list[Variable] | None] = {}
    if overriders:
        tuple(containers(obj))  # raises for a kind without pod spec, whatever the overriders name
    for overrider in overriders:
        found = container_named(obj, overrider.container_name)
        if found is None:
            continue
        path = (*found[0], "env")
        lists[path] = _changed(lists[path] if path in lists else found[1].get("env"), overrider)
    return tuple(
        sorted(
            (
                Patch("replace", pointer(path), variables and [_typed(variable) for variable in variables])
                for path, variables in lists.items()
            ),
            key=patch_path,
        )
    )


def _typed(variable: Variable) -> Variable:
    """The variable without an empty value, which means none (core/v1 leaves it out)."""
    return {key: value for key, value in variable.items() if key != "value" or value != ""}


def _changed(variables: list[Variable] | None, overrider: EnvOverrider) -> list[Variable] | None:
    """The variables after the overrider; None where there was no list and is none, or where delete leaves none."""
    given = {variable["name"]: variable for variable in overrider.value}
    before = variables or []
    present = {variable.get("name") for variable in before}
    kept = [given.get(variable.get("name", ""), variable) for variable in before]
    match overrider.operator:
        case "overwrite":
            return variables and kept
        case "addIfAbsent":
            if not given:
                raise OverrideError(f"addIfAbsent to env of container {overrider.container_name!r} needs a value")
            for name in (variable["name"] for variable in overrider.value):
                if name in present:
                    raise OverrideError(
                        f"addIfAbsent to env of container {overrider.container_name!r}: {name} is there already"
                    )
                present.add(name)
            return [*before, *overrider.value]
        case "upsert":
            return [*kept, *(variable for name, variable in given.items() if name not in present)]
        case "delete":
            left = [variable for variable in before if variable.get("name") not in given]
            return left or (None if before else variables)
        case _:
            assert_never(overrider.operator)
