"""Dividing whole numbers among members."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kadm.render.shares import proportional


@pytest.mark.parametrize(
    ("total", "weights", "want"),
    [
        (10, {"b": 5, "a": 5}, {"a": 5, "b": 5}),
        (10, {"a": 1, "b": 1, "c": 1}, {"a": 4, "b": 3, "c": 3}),
        (3, {"a": 0, "b": 1}, {"a": 0, "b": 3}),
        (3, {"b": 0, "a": 0}, {"a": 3, "b": 0}),
        (1, {"a": 1, "b": 2}, {"a": 0, "b": 1}),
    ],
)
def test_proportional(total: int, weights: dict[str, int], want: dict[str, int]) -> None:
    assert proportional(total, weights) == want


@given(st.integers(0, 10**6), st.dictionaries(st.text(max_size=3), st.integers(0, 10**4), min_size=1))
def test_sums_hold_and_weight_0_gets_nothing(total: int, weights: dict[str, int]) -> None:
    parts = proportional(total, weights)
    assert sum(parts.values()) == total
    if any(weights.values()):
        assert not any(parts[member] for member, weight in weights.items() if weight == 0)
    assert parts == proportional(total, dict(reversed(weights.items())))
