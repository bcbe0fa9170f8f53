"""Durations as Go writes them (``1m30s``, ``500ms``); source: Go's time.ParseDuration."""

from __future__ import annotations

import re
from fractions import Fraction

_UNITS = "ns|us|µs|μs|ms|s|m|h"  # both signs for micro are Go's
_NUMBER = r"[0-9]+\.?[0-9]*|\.[0-9]+"
_DURATION = re.compile(rf"(?P<sign>[-+]?)(?P<rest>0|(?:(?:{_NUMBER})(?:{_UNITS}))+)")
_PART = re.compile(rf"(?P<number>{_NUMBER})(?P<unit>{_UNITS})")
_SECONDS = {
    "ns": Fraction(1, 10**9),
    "us": Fraction(1, 10**6),
    "µs": Fraction(1, 10**6),
    "μs": Fraction(1, 10**6),
    "ms": Fraction(1, 10**3),
    "s": Fraction(1),
    "m": Fraction(60),
    "h": Fraction(3600),
}


_LONGEST_S = Fraction(2**63 - 1, 10**9)
"""Go counts nanoseconds in 64 bits: some 292 years."""


def duration_s(text: str) -> float:
    """Seconds in ``text``; may be negative. Raises ValueError."""
    match = _DURATION.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is no duration")
    total = sum(
        (Fraction(part["number"].removesuffix(".")) * _SECONDS[part["unit"]] for part in _PART.finditer(match["rest"])),
        Fraction(0),
    )
    if total > _LONGEST_S:
        raise ValueError(f"{text[:20]}… is longer than a duration can be")
    return float(-total if match["sign"] == "-" else total)
