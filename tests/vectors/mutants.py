"""Changes cases: so that they must fail, to prove that the runner sees what is wrong, or into other inputs."""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator
from dataclasses import replace

from tests.vectors.case import ERROR, Case, Json

Path = tuple[str | int, ...]


def mutants(case: Case, *, seed: str, at_most: int) -> Iterator[tuple[str, Case]]:
    """The case with one value of its expectation changed, and what was changed; no alternative to it is left.

    Values that are not compared (the wording of errors) stay; where nothing else is expected, the error goes.
    """
    places = [path for path in _leaves(case.expect) if path[0] != ERROR and path[-1] != "applyError"]
    if not places and not case.vary:
        yield "no error", replace(case, expect={key: value for key, value in case.expect.items() if key != ERROR})
        return
    if len(places) > at_most:
        places = random.Random(seed + case.id).sample(places, at_most)
    for path in places:
        yield ".".join(map(str, path)), replace(case, expect=_changed(case.expect, path))
    for key in case.vary:
        yield f"all of {key}", replace(case, vary={**case.vary, key: [_changed({key: "no such answer"}, (key,))[key]]})


IDENTITIES = frozenset({"apiVersion", "kind", "name", "plural", "version", "group"})
"""Keys whose values belong together: they stay."""


def perturbed(given: Json, chance: random.Random) -> Json:
    """The input with some of its numbers, switches and times changed; it stays one that can exist."""
    changed: Json = copy.deepcopy(given)
    places = [path for path in _leaves(changed) if path[-1] not in IDENTITIES and "available" not in path[:1]]
    for path in chance.sample(places, min(len(places), chance.choice((1, 1, 2, 4)))):
        parent = changed
        for step in path[:-1]:
            parent = parent[step]
        value = parent[path[-1]]
        if isinstance(value, bool):
            parent[path[-1]] = not value
        elif isinstance(value, int):
            parent[path[-1]] = chance.choice((0, 1, 2, max(value - 1, 0), value + 1, chance.randint(0, 30)))
    return changed


def _leaves(value: Json, path: Path = ()) -> Iterator[Path]:
    if isinstance(value, dict) and value:
        for key, item in value.items():
            yield from _leaves(item, (*path, key))
    elif isinstance(value, list) and value:
        for index, item in enumerate(value):
            yield from _leaves(item, (*path, index))
    elif path:
        yield path


def _changed(document: Json, path: Path) -> Json:
    changed = copy.deepcopy(document)
    parent = changed
    for step in path[:-1]:
        parent = parent[step]
    parent[path[-1]] = _other(parent[path[-1]])
    return changed


def _other(value: Json) -> Json:
    """A value of the same kind that is another one."""
    match value:
        case bool():
            return not value
        case int() | float():
            return value + 1
        case str():
            return value[:-1] if value.endswith("x") else value + "x"
        case None:
            return 0
        case dict():
            return {"x": 1}
        case _:
            return [1]
