"""Kubernetes resource quantities (``500m``, ``16Gi``, ``50e9``) in exact arithmetic.

The grammar is the API server's (k8s.io/apimachinery, resource.Quantity): an optional sign, digits with an optional
point, and one suffix: binary (Ki to Ei), decimal (n, u, m, none, k, M, G, T, P, E) or an exponent (e3, E-2). Precision
below a billionth is rounded up, away from zero.
"""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction
from typing import Literal

QuantityFormat = Literal["DecimalSI", "BinarySI", "DecimalExponent"]

_QUANTITY = re.compile(
    r"(?P<number>[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+))(?:(?P<suffix>[KMGTPE]i|[numkMGTPE]?)|[eE](?P<exponent>[+-]?[0-9]+))"
)
_DECIMAL_POWERS = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_DECIMAL_SUFFIXES = {power: suffix for suffix, power in _DECIMAL_POWERS.items()}
_BINARY_SUFFIXES = ("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")
_NANO = 10**9
_KIBI = 1024
_MAX_EXPONENT = 400
"""An exponent beyond it is no amount of anything; the bound keeps ``1e999999999`` from filling memory."""


class QuantityError(ValueError):
    """A text that the API server would not read as a quantity."""


def parse_quantity(text: str | int | float) -> Fraction:
    """The amount that ``text`` states, rounded up to a billionth. Numbers are read as manifests may write them.

    Raises QuantityError.
    """
    return _parse(text)[0]


def canonical_quantity(text: str | int | float) -> str:
    """``text`` as the API server would write it: no fraction, the largest suffix of its kind (``1.5Gi`` → ``1536Mi``).

    Raises QuantityError.
    """
    return format_quantity(*_parse(text))


def format_quantity(amount: Fraction | int, form: QuantityFormat = "DecimalSI") -> str:
    """``amount`` in canonical form. BinarySI rounds a fraction up, and is written as DecimalSI below 1024."""
    if form == "BinarySI" and abs(Fraction(amount)) >= _KIBI:
        return _binary(whole(amount))
    nanos = scaled(amount, _NANO)
    if nanos == 0:
        return "0"
    power = -9
    while nanos % 1000 == 0 and (form == "DecimalExponent" or power < max(_DECIMAL_SUFFIXES)):
        nanos //= 1000
        power += 3
    if form == "DecimalExponent":
        return f"{nanos}e{power}" if power else str(nanos)
    return f"{nanos}{_DECIMAL_SUFFIXES[power]}"


def whole(amount: Fraction | int) -> int:
    """Whole units, rounded away from zero: ``500m`` is 1."""
    return scaled(amount, 1)


def milli(amount: Fraction | int) -> int:
    """Thousandths, rounded away from zero; the scheduler's unit for cpu."""
    return scaled(amount, 1000)


def scaled(amount: Fraction | int, per_unit: int) -> int:
    """``amount`` × ``per_unit``, rounded away from zero."""
    exact = amount * per_unit
    size = -(-abs(exact.numerator) // exact.denominator)
    return size if exact >= 0 else -size


def _binary(number: int) -> str:
    step = 0
    while number % _KIBI == 0 and step < len(_BINARY_SUFFIXES) - 1:
        number //= _KIBI
        step += 1
    return f"{number}{_BINARY_SUFFIXES[step]}"


def _parse(text: str | int | float) -> tuple[Fraction, QuantityFormat]:
    if isinstance(text, bool):
        raise QuantityError(f"{text!r} is no quantity")
    if isinstance(text, int):
        return Fraction(text), "DecimalSI"
    written = _without_exponent(text) if isinstance(text, float) else text
    match = _QUANTITY.fullmatch(written)
    if match is None:
        raise QuantityError(f"{written!r} is no quantity")
    number = Fraction(match["number"].removesuffix("."))
    form: QuantityFormat
    if match["exponent"] is not None:
        exponent = int(match["exponent"][:10])
        if abs(exponent) > _MAX_EXPONENT:
            raise QuantityError(f"{written!r} has an exponent out of range")
        amount, form = number * Fraction(10) ** exponent, "DecimalExponent"
    elif match["suffix"].endswith("i"):
        amount, form = number * _KIBI ** _BINARY_SUFFIXES.index(match["suffix"]), "BinarySI"
    else:
        amount, form = number * Fraction(10) ** _DECIMAL_POWERS[match["suffix"]], "DecimalSI"
    return Fraction(scaled(amount, _NANO), _NANO), form


def _without_exponent(number: float) -> str:
    """A YAML or JSON float as decimal digits: the shortest ones that read back as the same float."""
    return format(Decimal(repr(number)), "f")
