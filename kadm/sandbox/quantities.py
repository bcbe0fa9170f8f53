"""Resource quantities in the form in which the server writes them back: ``1000m`` → ``1``, ``1024Mi`` → ``1Gi``.

Source of the rules: apimachinery, pkg/api/resource (canonical form).
"""

from __future__ import annotations

import functools
import re
from decimal import ROUND_UP, Decimal, localcontext

_FORM = re.compile(r"([+-]?)([0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:([KMGTPE]i)|([numkMGTPE])|[eE]([+-]?[0-9]+))?")
_BINARY = ("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")
_DECIMAL = {-9: "n", -6: "u", -3: "m", 0: "", 3: "k", 6: "M", 9: "G", 12: "T", 15: "P", 18: "E"}
_POWERS = {suffix: power for power, suffix in _DECIMAL.items() if suffix}

BAD_FORM = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"


@functools.lru_cache(maxsize=4096)
def canonical(text: str) -> str:
    """The quantity as the server writes it. Raises ValueError with the server's message when it is none."""
    found = _FORM.fullmatch(text.strip())
    if found is None:
        raise ValueError(BAD_FORM)
    sign, digits, binary, decimal, exponent = found.groups()
    with localcontext() as context:
        context.prec = 60
        number = Decimal(digits)
        if binary:
            number *= Decimal(1024) ** _BINARY.index(binary)
        elif decimal:
            number = number.scaleb(_POWERS[decimal])
        elif exponent is not None:
            number = number.scaleb(int(exponent))
        if number == 0:
            return "0"
        # Less than a nano counts as a nano: quantities round away from zero.
        number = number.quantize(Decimal(1).scaleb(-9), rounding=ROUND_UP)
        prefix = "-" if sign == "-" else ""
        if binary and number >= 1024 and number == number.to_integral_value():
            return prefix + _binary(int(number))
        return prefix + _decimal(number, "exponent" if exponent is not None else "suffix")


def _binary(number: int) -> str:
    power = 0
    while number % 1024 == 0 and power < len(_BINARY) - 1:
        number //= 1024
        power += 1
    return f"{number}{_BINARY[power]}"


def _decimal(number: Decimal, style: str) -> str:
    """The shortest whole number with a power of a thousand."""
    power = -9
    value = int(number.scaleb(9))
    while value % 1000 == 0 and power < 18:
        value //= 1000
        power += 3
    if style == "suffix":
        return f"{value}{_DECIMAL[power]}"
    return f"{value}e{power}" if power else str(value)
