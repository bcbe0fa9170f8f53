"""How members come to their numbers, noted step by step while replicas are divided."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

from kadm.model.decision import Cut, Step

What = Literal["minimum", "share", "fill", "running", "more", "less", "waits", "overflow"]


class Trail:
    """Grows while one division is made."""

    def __init__(self, members: Iterable[str]) -> None:
        self._steps: dict[str, list[Step]] = {member: [] for member in members}

    def note(
        self, member: str, what: What, replicas: int, *, asked: int | None = None, cut: Cut = "", round_: int = 0
    ) -> None:
        """The member has ``replicas`` after this step; ``asked`` counts only where that is another number."""
        self._steps[member].append(
            Step(what=what, replicas=replicas, asked=None if asked == replicas else asked, cut=cut, round=round_)
        )

    @property
    def steps(self) -> Mapping[str, tuple[Step, ...]]:
        """Member → its steps in order; members without any are left out."""
        return {member: tuple(steps) for member, steps in self._steps.items() if steps}
