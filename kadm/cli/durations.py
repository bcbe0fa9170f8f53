"""Durations on the command line: as Go and kubectl write them (``30s``, ``1m30s``), or a number of seconds."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Self

import typer

METAVAR = "DURATION"
_NUMBER = re.compile(r"[0-9]+\.?[0-9]*|\.[0-9]+")
_UNITS_S = {"s": 1, "m": 60}


class Duration(float):
    """A default, such as ``5m``: seconds that help shows as they were written. One number and s or m."""

    _text: str

    def __new__(cls, text: str) -> Self:
        found = super().__new__(cls, float(text[:-1]) * _UNITS_S[text[-1]])
        found._text = text
        return found

    def __str__(self) -> str:
        return self._text


def at_least(least_s: float) -> Callable[[str | Duration], float]:
    """A parser of durations, in seconds, that are not shorter than this. It raises BadParameter."""

    def parsed(text: str | Duration) -> float:
        if isinstance(text, Duration):
            return float(text)
        from kadm.model.duration import duration_s  # whoever names no duration need not wait for it

        try:
            seconds = duration_s(f"{text}s" if _NUMBER.fullmatch(text) else text)
        except ValueError as error:
            raise typer.BadParameter(f"{text!r} is no duration; for example 30s, 5m, or a number of seconds") from error
        if seconds < least_s:
            raise typer.BadParameter(f"{text} is too short; at least {least_s:g}s")
        return seconds

    return parsed
