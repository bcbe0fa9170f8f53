"""How long to wait before something that failed is tried again: growing, bounded, and never all at the same time."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

FIRST_S = 0.5
LONGEST_S = 60.0
_MOST_DOUBLINGS = 20


def pause_s(failures: int, spread: float, *, first_s: float = FIRST_S, longest_s: float = LONGEST_S) -> float:
    """Seconds to wait after so many failures in a row (at least 1); ``spread`` (0 to 1) takes up to half of it off."""
    whole = min(longest_s, float(first_s * 2 ** min(failures - 1, _MOST_DOUBLINGS)))
    return whole * (1 - spread / 2)


@dataclass
class Failures:
    """Counts failures in a row, and says how long to wait after the last of them."""

    first_s: float = FIRST_S
    longest_s: float = LONGEST_S
    count: int = 0
    _random: random.Random = field(default_factory=random.Random)

    def another(self) -> float:
        """Note a failure; gives the seconds to wait."""
        self.count += 1
        return pause_s(self.count, self._random.random(), first_s=self.first_s, longest_s=self.longest_s)

    def none(self) -> None:
        """It went well: the next failure is the first one."""
        self.count = 0


def jittered(least_s: float, most_s: float) -> float:
    """Some time between both, so that what began together does not go on together."""
    return random.uniform(least_s, most_s)  # noqa: S311  # it spreads load, and keeps no secret
