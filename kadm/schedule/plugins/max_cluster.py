"""Select MaxCluster (scheduling spec 4.11)."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from kadm.schedule.framework import Scored
from kadm.schedule.unit import SchedulingUnit


class MaxCluster(Struct, frozen=True, forbid_unknown_fields=True):
    """At most maxClusters members, the best ones."""

    def select(self, unit: SchedulingUnit, scored: Sequence[Scored]) -> Sequence[Scored]:
        best = sorted(scored, key=lambda entry: -entry.score)  # stable: equal scores keep the order of the sort before
        return best[: unit.rules.max_clusters]
