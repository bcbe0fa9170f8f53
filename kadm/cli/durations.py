"""Durations on the command line: as Go and kubectl write them (``30s``, ``1m30s``), or a number of seconds."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Self

import typer

from kadm.model.duration import duration_s

METAVAR = "DURATION"
_NUMBER = re.compile(r"[0-9]+\.?[0-9]*|\.[0-9]+")


class Duration(float):
    """Seconds, which help shows as they were written; for defaults. Raises ValueError for what is no duration."""

    _text: str

    def __new__(cls, text: str) -> Self:
        found = super().__new__(cls, float(text) if _NUMBER.fullmatch(text) else duration_s(text))
        found._text = text
        return found

    def __str__(self) -> str:
        return self._text


def at_least(least_s: float) -> Callable[[str | Duration], float]:
    """A parser of durations, in seconds, that are not shorter than this. It raises BadParameter."""

    def parsed(text: str | Duration) -> float:
        try:
            found = text if isinstance(text, Duration) else Duration(text)
        except ValueError as error:
            raise typer.BadParameter(f"{text!r} is no duration; for example 30s, 5m, or a number of seconds") from error
        if found < least_s:
            raise typer.BadParameter(f"{text} is too short; at least {least_s:g}s")
        return float(found)

    return parsed
