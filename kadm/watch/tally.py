"""Counting what happened since the daemon started."""

from __future__ import annotations

from msgspec.structs import replace

from kadm.watch.state import Totals


class Tally:
    """The totals so far; they never fall."""

    def __init__(self) -> None:
        self.totals = Totals()

    def add(self, **more: int) -> None:
        """Add to these totals, by their names."""
        self.totals = replace(
            self.totals, **{name: getattr(self.totals, name) + number for name, number in more.items()}
        )

    def took(self, seconds: float) -> None:
        """How long the last plan took, carrying it out included."""
        self.totals = replace(self.totals, last_plan_s=round(seconds, 3))
