"""Quantities: the API server's grammar, exact arithmetic, canonical text."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kadm.model.quantity import QuantityError, canonical_quantity, format_quantity, milli, parse_quantity, whole


@pytest.mark.parametrize(
    ("text", "amount", "canonical"),
    [
        pytest.param("0", Fraction(0), "0", id="zero"),
        pytest.param("100m", Fraction(1, 10), "100m", id="milli"),
        pytest.param("0.1", Fraction(1, 10), "100m", id="a fraction is exact"),
        pytest.param("1.5Gi", Fraction(1536 * 1024**2), "1536Mi", id="binary fraction"),
        pytest.param("1Ki", Fraction(1024), "1Ki", id="Ki"),
        pytest.param("0.5Ki", Fraction(512), "512", id="binary below 1024 is decimal"),
        pytest.param("0.0001Ki", Fraction(64, 625), "102400u", id="binary fraction below 1"),
        pytest.param("1000", Fraction(1000), "1k", id="decimal"),
        pytest.param("2048M", Fraction(2048 * 10**6), "2048M", id="M is a million"),
        pytest.param("5E", Fraction(5 * 10**18), "5E", id="E alone is exa"),
        pytest.param("50e9", Fraction(50 * 10**9), "50e9", id="exponent"),
        pytest.param("1E3", Fraction(1000), "1e3", id="capital exponent"),
        pytest.param("12e-1", Fraction(6, 5), "1200e-3", id="negative exponent"),
        pytest.param("-3", Fraction(-3), "-3", id="negative"),
        pytest.param("+1", Fraction(1), "1", id="plus"),
        pytest.param(".5", Fraction(1, 2), "500m", id="no digit before the point"),
        pytest.param("5.", Fraction(5), "5", id="no digit after the point"),
        pytest.param("1n", Fraction(1, 10**9), "1n", id="nano"),
        pytest.param("0.1n", Fraction(1, 10**9), "1n", id="below nano is rounded up"),
        pytest.param("-0.1n", Fraction(-1, 10**9), "-1n", id="below nano is rounded away from zero"),
        pytest.param(2, Fraction(2), "2", id="an integer"),
        pytest.param(0.5, Fraction(1, 2), "500m", id="a float"),
        pytest.param(1e-07, Fraction(1, 10**7), "100n", id="a float with an exponent"),
    ],
)
def test_reading(text: str | int | float, amount: Fraction, canonical: str) -> None:
    assert (parse_quantity(text), canonical_quantity(text)) == (amount, canonical)


@pytest.mark.parametrize(
    "text", ["", "m", "1 Gi", "1gi", "1K", "1mi", "1.2.3", "0x1", "1e", "1e3k", "--1", "1e9999", "١", "NaN", "1\n"]
)
def test_refused(text: str) -> None:
    with pytest.raises(QuantityError):
        parse_quantity(text)


def test_booleans_are_no_quantities() -> None:
    with pytest.raises(QuantityError):
        parse_quantity(True)


def test_rounding_is_away_from_zero() -> None:
    half = Fraction(1, 2000)
    assert (whole(half), whole(-half), milli(half), milli(-half)) == (1, -1, 1, -1)


@given(st.integers(-(10**30), 10**30))
def test_canonical_text_reads_back(nanos: int) -> None:
    amount = Fraction(nanos, 10**9)
    assert parse_quantity(format_quantity(amount)) == amount
    assert parse_quantity(format_quantity(amount, "DecimalExponent")) == amount
