"""Score ClusterResourcesBalancedAllocation (scheduling spec 4.9)."""

from __future__ import annotations

import math
from collections.abc import Mapping

from msgspec import Struct

from kadm.schedule.framework import MAX_SCORE
from kadm.schedule.member import Member
from kadm.schedule.unit import SchedulingUnit
from kadm.schedule.utilization import demands, request_of


class ClusterResourcesBalancedAllocation(Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """The more evenly a member's resources are used, the better; one that is full in any of them gets 0.

    ``podRequests`` counts the cpu and memory of one more replica, which KubeAdmiral takes for 0 (spec 10, row 22).
    """

    pod_requests: bool = False

    def score(self, unit: SchedulingUnit, member: Member) -> int:
        fractions = [
            need.requested / need.allocatable if need.allocatable else 1.0
            for need in demands(request_of(unit, pod_requests=self.pod_requests), member).values()
        ]
        if any(fraction >= 1 for fraction in fractions):
            return 0
        return int((1 - _deviation(fractions)) * MAX_SCORE)

    def normalize(self, scores: Mapping[str, int]) -> Mapping[str, int]:
        return scores


def _deviation(fractions: list[float]) -> float:
    """Standard deviation of a population; of two values it is half their distance."""
    match fractions:
        case [_]:
            return 0.0
        case [one, other]:
            return abs((one - other) / 2)
    mean = sum(fractions) / len(fractions)
    return math.sqrt(sum((fraction - mean) * (fraction - mean) for fraction in fractions) / len(fractions))
