"""Quantities of objects, read often: the same few texts come again and again, so answers are kept."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

from kadm.model.quantity import QuantityError, parse_quantity


@lru_cache(maxsize=4096)
def parse(text: str) -> Fraction | None:
    """The value of a quantity, or None where the text is none."""
    try:
        return parse_quantity(text)
    except QuantityError:
        return None
