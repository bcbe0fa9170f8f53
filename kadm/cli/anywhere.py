"""The options of kadm itself may stand after the command too, as kubectl's do: ``kadm plan -v``."""

from __future__ import annotations

import re
from collections.abc import Sequence

FLAGS = ("--verbose", "--quiet", "--debug")
WITH_VALUE = "--color"

_SHORT = re.compile(r"-[vq]+")


def in_front(arguments: Sequence[str]) -> list[str]:
    """The arguments with kadm's own options first, in their order; nothing after ``--`` is touched."""
    own: list[str] = []
    rest: list[str] = []
    left = list(arguments)
    while left:
        word = left.pop(0)
        if word == "--":
            return [*own, *rest, word, *left]
        if word in FLAGS or _SHORT.fullmatch(word) or word.startswith(f"{WITH_VALUE}="):
            own.append(word)
        elif word == WITH_VALUE and left:
            own += [word, left.pop(0)]
        else:
            rest.append(word)
    return [*own, *rest]
