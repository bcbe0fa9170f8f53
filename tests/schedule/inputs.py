"""Inputs of the planner and of Binpack that hypothesis makes up; the same ones in every run.

KADM_EXHAUSTIVE=1 tries many more of them.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

from hypothesis import settings
from hypothesis import strategies as st

from kadm.schedule.planner import Bounds, Preference

SETTINGS = settings(
    max_examples=2_000 if os.environ.get("KADM_EXHAUSTIVE") == "1" else 150, deadline=None, derandomize=True
)
NAMES = ("ap", "cn", "eu", "sa", "us")
GONE = "gone"
"""Runs the workload, and is not planned any more."""

KEY = "default/nginx"

counts = st.integers(0, 40)
capacities = st.dictionaries(st.sampled_from(NAMES), counts)


@dataclass(frozen=True, slots=True)
class Input:
    """One workload: what is wished, what runs, and what is possible. ``order`` is that of the members."""

    preferences: Mapping[str, Preference]
    total: int
    current: Mapping[str, int]
    bounds: Bounds

    @property
    def order(self) -> tuple[str, ...]:
        return tuple(self.preferences)

    def ceiling(self, member: str) -> int | None:
        """The most that the member can get, None: unbounded."""
        bounds = (self.preferences[member].max, self.bounds.limited.get(member), self.bounds.estimated.get(member))
        return min((bound for bound in bounds if bound is not None), default=None)

    def floor(self, member: str) -> int:
        """The member's minimum, as far as it is possible there."""
        ceiling = self.ceiling(member)
        return self.preferences[member].min if ceiling is None else min(self.preferences[member].min, ceiling)

    @property
    def minimums_fit(self) -> bool:
        """Whether all minimums together fit into the total."""
        return sum(map(self.floor, self.preferences)) <= self.total

    @property
    def room(self) -> bool:
        """Whether the members can take the whole total."""
        ceilings = [self.ceiling(member) for member in self.preferences]
        return None in ceilings or sum(ceiling or 0 for ceiling in ceilings) >= self.total

    def runs(self, member: str) -> int:
        """What runs there, as far as capacity lets it stay."""
        replicas = self.current.get(member, 0)
        for capacity in (self.bounds.limited, self.bounds.estimated):
            replicas = min(replicas, capacity.get(member, replicas))
        return replicas


def _preference(weight: int, minimum: int, maximum: int | None) -> Preference:
    return Preference(weight, minimum if maximum is None else min(minimum, maximum), maximum)


preferences = st.builds(_preference, st.integers(1, 40), st.just(0) | counts, st.none() | counts)

inputs = st.builds(
    Input,
    preferences=st.permutations(NAMES).flatmap(
        lambda names: st.lists(preferences, min_size=1, max_size=len(names)).map(
            lambda wishes: dict(zip(names, wishes, strict=False))
        )
    ),
    total=st.integers(0, 200),
    current=st.dictionaries(st.sampled_from((*NAMES, GONE)), counts),
    bounds=st.builds(Bounds, estimated=st.just({}) | capacities, limited=st.just({}) | capacities),
)
"""A maximum is never below its minimum; weights are at least 1."""
