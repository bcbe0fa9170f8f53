"""Score ClusterResourcesLeastAllocated (scheduling spec 4.9)."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from kadm.schedule.framework import MAX_SCORE
from kadm.schedule.member import Member
from kadm.schedule.unit import SchedulingUnit
from kadm.schedule.utilization import demands, request_of, weighted_mean


class ClusterResourcesLeastAllocated(Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """The emptier a member, the better.

    ``podRequests`` counts the cpu and memory of one more replica, which KubeAdmiral takes for 0 (spec 10, row 22).
    """

    pod_requests: bool = False

    def score(self, unit: SchedulingUnit, member: Member) -> int:
        return weighted_mean(
            {
                resource: 0
                if need.allocatable <= 0 or need.requested > need.allocatable
                else (need.allocatable - need.requested) * MAX_SCORE // need.allocatable
                for resource, need in demands(request_of(unit, pod_requests=self.pod_requests), member).items()
            }
        )

    def normalize(self, scores: Mapping[str, int]) -> Mapping[str, int]:
        return scores
