"""Paths of fields as people write them, in ignore rules for one.

``spec.replicas``, ``spec.template.spec.containers[name=app].image``, ``containers[*].env``, ``data["a.b"]``, or a JSON
pointer such as ``/spec/replicas``. A path names everything below it, too.
"""

from __future__ import annotations

import re

from kadm.model.objects import Path

ANY = "*"
"""Stands for every key of a map and every item of a list."""

_STEP = re.compile(r'\["(?P<quoted>[^"]*)"\]|\[(?P<item>[^\]"]+)\]|(?:^|\.)(?P<name>[^.\[\]"]+)')


def parse_path(text: str) -> Path:
    """The steps of a path: keys, indexes, ``[key=value]`` for the item of a keyed list. Raises ValueError where it is
    none."""
    text = text.strip()
    if text.startswith("/"):
        return tuple(_index_or(step.replace("~1", "/").replace("~0", "~")) for step in text[1:].split("/"))
    steps: list[str | int] = []
    position = 0
    while position < len(text):
        found = _STEP.match(text, position)
        if found is None:
            raise ValueError(f"{text!r} is no path: see what begins with {text[position:]!r}")
        if (item := found["item"]) is not None:
            steps.append(int(item) if item.isdecimal() else ANY if item == ANY else f"[{item}]")
        else:
            steps.append(found["quoted"] if found["quoted"] is not None else found["name"])
        position = found.end()
    if not steps:
        raise ValueError("a path is empty")
    return tuple(steps)


def parse_paths(text: str) -> tuple[Path, ...]:
    """Several paths, separated by commas or line ends. Raises ValueError where one is none."""
    return tuple(parse_path(one) for one in re.split(r"[,\n](?![^\[]*\])", text) if one.strip())


def _index_or(step: str) -> str | int:
    return int(step) if step.isdecimal() else step
