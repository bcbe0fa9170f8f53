"""Dynamic weights of strategy Spread (scheduling spec 4.13)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction

from tests.vectors.upstream.planner import fnv, int64

NAN_AS_INT64 = -(2**63)
"""What amd64 makes of a float that is no number."""


class NoWeights(ValueError):
    """The weights cannot be computed: scheduling fails."""


def dynamic_weights(
    names: Sequence[str],
    allocatable: Mapping[str, Fraction | None],
    available: Mapping[str, Fraction | None],
    *,
    key: str,
    fixed: frozenset[str],
) -> list[dict[str, int]]:
    """All weights that are possible, cluster → weight; more than one where the order of a map decides.

    Amounts are those of the resource that decides; None: the cluster has no such resource. Raises NoWeights.
    """
    offers = {name: _value(allocatable[name]) for name in names}
    free = {name: max(_value(available[name]), 0) for name in names}
    even = _round(1000 / len(names))
    offered, free_sum = float(sum(offers.values())), float(sum(free.values()))
    if offered and any(allocatable[name] is None for name in names):
        raise NoWeights
    if not free_sum:
        return [dict.fromkeys(names, even)]
    if any(available[name] is None for name in names):
        raise NoWeights
    capped = {}
    for name in names:
        limit = _round(offers[name] / offered * 1000.0 * 1.4) if offered else even
        capped[name] = min(_round(free[name] / free_sum * 1000.0), limit)
    capped_sum = sum(capped.values())
    if not capped_sum:
        if "spec 2" in fixed:
            return [dict.fromkeys(names, even)]
        broken = dict.fromkeys(names, NAN_AS_INT64)
        return [{**broken, "": int64(1000 - int64(sum(broken.values())))}]
    weights = {name: _round(weight / capped_sum * 1000.0) for name, weight in capped.items()}
    rest = 1000 - sum(weights.values())
    top = max(weights.values())
    ties = sorted((name for name in names if weights[name] == top), key=lambda name: (fnv(name + key), name))
    if "spec 1" in fixed:
        ties = ties[:1]
    return [{**weights, name: weights[name] + rest} for name in ties]


def _value(amount: Fraction | None) -> int:
    """Whole units, rounded away from zero."""
    if amount is None:
        return 0
    return math.ceil(amount) if amount >= 0 else math.floor(amount)


def _round(number: float) -> int:
    """Half away from zero; ``number`` is not negative."""
    whole = math.floor(number)
    return whole + (number - whole >= 0.5)
