"""Quantities as the server writes them: ``1000m`` is ``1``, ``0.5`` is ``500m``, ``1024Mi`` is ``1Gi``.

Source: the canonical form of apimachinery ``resource.Quantity``: the largest suffix of the same family that leaves a
whole number; fractions below the smallest unit (1n) are rounded up.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import ROUND_CEILING, Decimal, localcontext
from functools import lru_cache

_PATTERN = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+))(?:([numkMGTPE])|([KMGTPE]i)|[eE]([+-]?\d+))?")
_BINARY = ("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")
_DECIMAL = ("n", "u", "m", "", "k", "M", "G", "T", "P", "E")
_NANO = Decimal("1e-9")
_MAX_EXPONENT = 18


@lru_cache(maxsize=4096)
def parse(text: str) -> Decimal | None:
    """The value of a quantity, or None where the text is none."""
    matched = _PATTERN.fullmatch(text)
    return None if matched is None else _value(matched)


def _value(matched: re.Match[str]) -> Decimal:
    number, decimal, binary, exponent = matched.groups()
    value = Decimal(number)
    if binary:
        return value * Decimal(1024 ** _BINARY.index(binary))
    if decimal:
        return value.scaleb(3 * (_DECIMAL.index(decimal) - 3))
    return value.scaleb(int(exponent)) if exponent else value


@lru_cache(maxsize=4096)
def canonical(text: str) -> str | None:
    """The quantity in canonical form, or None where the text is none."""
    matched = _PATTERN.fullmatch(text)
    if matched is None:
        return None
    with localcontext() as context:
        context.prec = 60
        value = _value(matched)
        if matched[3] and value == value.to_integral_value() and abs(value) >= 1024:
            return _binary(int(value))
        whole = value / _NANO
        nanos = int(whole.to_integral_value(rounding=ROUND_CEILING if value > 0 else "ROUND_FLOOR"))
    if matched[4] is not None:
        return _scaled(nanos, lambda power: f"e{power}" if power else "")
    return _scaled(nanos, lambda power: _DECIMAL[power // 3 + 3])


def _binary(value: int) -> str:
    step = 0
    while value % 1024 == 0 and value and step < len(_BINARY) - 1:
        value //= 1024
        step += 1
    return f"{value}{_BINARY[step]}"


def _scaled(nanos: int, suffix: Callable[[int], str]) -> str:
    """The shortest whole number of ``nanos`` × 1e-9 with a suffix for the power of ten, in steps of three."""
    if nanos == 0:
        return "0"
    power = -9
    while nanos % 1000 == 0 and power < _MAX_EXPONENT:
        nanos //= 1000
        power += 3
    return f"{nanos}{suffix(power)}"
