"""Quantities of objects, read and written often: the same few texts come again and again, so answers are kept."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

from kadm.model.quantity import QuantityError, canonical_quantity, parse_quantity


@lru_cache(maxsize=4096)
def parse(text: str) -> Fraction | None:
    """The value of a quantity, or None where the text is none."""
    try:
        return parse_quantity(text)
    except QuantityError:
        return None


@lru_cache(maxsize=4096)
def canonical(text: str) -> str | None:
    """The quantity as the server writes it (``1000m`` is ``1``), or None where the text is none."""
    try:
        return canonical_quantity(text)
    except QuantityError:
        return None
