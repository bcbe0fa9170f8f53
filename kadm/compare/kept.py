"""Desired fields that a member would not keep: gated ones, and those that a custom resource's schema prunes.

Such a field is in kadm's entry but not in the object, so that nothing else tells of it (api-servers, 12).
"""

from __future__ import annotations

from collections.abc import Iterator

from kadm.compare.difference import same
from kadm.compare.field_set import FieldSet, step_in
from kadm.compare.ownership import own_entry
from kadm.errors import Problem
from kadm.model.desired import DesiredObject
from kadm.model.objects import JsonObject, JsonValue, Path, at, path_text

_ZEROES: tuple[JsonValue, ...] = (None, "", 0, False, [], {})
_WITHOUT_IT_WRONG: tuple[Path, ...] = (("spec", "ordinals"), ("spec", "replicas"))
"""Fields without which the object does something else: two members would run the same pods."""


def not_kept(wanted: DesiredObject, answer: JsonObject, *, member: str, manager: str) -> tuple[Problem, ...]:
    """A warning for each desired field that the member's answer lacks, an error where the object is wrong without it.

    Zero values are no loss: servers leave them out.
    """
    own: FieldSet = (own_entry(answer, manager) or {}).get("fieldsV1") or {}
    return tuple(
        Problem(
            what=f"{path_text(path)} is not kept by the member",
            severity="error" if any(path[: len(one)] == one for one in _WITHOUT_IT_WRONG) else "warning",
            where=wanted.location,
            member=member,
            object=str(wanted.key),
            why="its API server drops the field: it is too old or too new for it, or the kind's schema has none",
        )
        for path in _missing(wanted.object, answer, own, ())
    )


def is_wrong_without(problems: tuple[Problem, ...]) -> bool:
    """Whether the object must not be written so."""
    return any(problem.severity == "error" for problem in problems)


def _missing(wanted: JsonValue, answer: JsonValue, own: FieldSet, path: Path) -> Iterator[Path]:
    if any(same(wanted, zero) for zero in _ZEROES) or path == ("metadata", "uid"):
        return
    if answer is None:
        yield path
    elif isinstance(wanted, dict) and isinstance(answer, dict):
        for name, value in wanted.items():
            yield from _missing(value, answer.get(name), own.get(f"f:{name}") or {}, (*path, name))
    elif isinstance(wanted, list) and isinstance(answer, list):
        for index, item in enumerate(wanted):
            element = next((one for one in own if one[:2] == "k:" and step_in([item], one) == 0), None)
            where = step_in(answer, element) if element is not None else index
            if isinstance(item, dict):  # texts and numbers of a list are kept, or the list is not
                found = at(answer, (where,)) if where is not None else None
                yield from _missing(item, found, own.get(element or "") or {}, (*path, index))
