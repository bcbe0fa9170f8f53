"""Binpack (scheduling spec 4.14), with KubeAdmiral's defects or without them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tests.vectors.case import Json
from tests.vectors.upstream.planner import Plan


@dataclass(frozen=True, slots=True, kw_only=True)
class Packer:
    """One workload's inputs; clusters are in the order in which they are filled. ``fixed``: rows as kadm has them."""

    least: Mapping[str, int]
    most: Mapping[str, int]
    estimated: Mapping[str, int] = field(default_factory=dict)
    limited: Mapping[str, int] = field(default_factory=dict)
    scheduled: Mapping[str, int] = field(default_factory=dict)
    avoid: bool = False
    keep: bool = False
    fixed: frozenset[str] = frozenset()

    def plan(self, order: Sequence[str], total: int, current: Mapping[str, int]) -> tuple[Plan, Plan]:
        """Replicas per cluster, and the overflow."""
        desired, overflow = self._fill(order, total, self.least, self.most, self.limited, self.estimated)
        floors, _ = self._fill(
            order, total, self.least, dict.fromkeys(order, 0), self.limited, self.estimated, one=True
        )
        floors = {name: min(floors[name], desired[name]) for name in order}
        if self._waits(order, total, current, floors):
            return dict(current), {}
        keep = self.keep or not self.avoid
        found = {
            name: min(self.scheduled[name], self.limited.get(name, self.scheduled[name]))
            for name in order
            if name in self.scheduled
        }
        if not keep and sum(found.values()) == total:
            if "design 6" not in self.fixed:
                return dict(self.scheduled), {}
            if self._legal(order, found, floors):
                found.update({name: 0 for name, count in self.scheduled.items() if name not in order and count == 0})
                return found, {}
        if not self.avoid:
            return desired, overflow
        if not keep:
            spare = total - sum(found.values())
            overflow = {name: min(extra, spare) for name, extra in overflow.items() if min(extra, spare) > 0}
        stays = {}
        for name in order:
            stays[name] = current.get(name, 0)
            for capacity in (self.estimated, self.limited):
                stays[name] = min(stays[name], capacity.get(name, stays[name]))
            if "design 6" in self.fixed:
                stays[name] = max(min(stays[name], self.most.get(name, stays[name])), floors[name])
        placed, wanted = sum(stays.values()), sum(desired.values())
        if placed > wanted:
            shrinking = [name for name in reversed(order) if desired[name] < stays[name]]
            lowest = floors if "design 6" in self.fixed else {}
            room = {name: stays[name] - lowest.get(name, 0) for name in shrinking}
            surplus = placed - (wanted if "spec 3" in self.fixed else total)
            less, _ = self._fill(shrinking, surplus, {}, room, {}, {})
            return {name: stays[name] - less.get(name, 0) for name in order}, overflow
        if placed < wanted:
            growing = [name for name in order if desired[name] > stays[name]]
            least = {name: self.least.get(name, 0) for name in growing}
            if "spec 4" in self.fixed:
                least = {name: max(0, count - stays[name]) for name, count in least.items()}
            if "design 6" in self.fixed:
                least = {}
            most = {name: self.most[name] - stays[name] for name in growing if name in self.most}
            limits = {name: self.limited[name] for name in growing if name in self.limited}
            if "spec 5" in self.fixed:
                limits = {name: limit - stays[name] for name, limit in limits.items()}
            missing = (wanted if "spec 3" in self.fixed else total) - placed
            more, _ = self._fill(growing, missing, least, most, limits, {})
            return {name: stays[name] + more.get(name, 0) for name in order}, overflow
        return stays, overflow

    def _waits(self, order: Sequence[str], total: int, current: Mapping[str, int], floors: Plan) -> bool:
        """Whether planning is skipped because pods are on their way."""
        if any(name not in order for name in current):
            return False
        if any(count > self.limited.get(name, count) for name, count in current.items()):
            return False
        if "spec 6" in self.fixed and sum(current.values()) > total:
            return False
        if "design 6" in self.fixed and not self._legal(order, current, floors):
            return False
        return not all(
            count == self.estimated.get(name, current.get(name, 0)) for name, count in self.scheduled.items()
        )

    def _legal(self, order: Sequence[str], plan: Mapping[str, int], floors: Plan) -> bool:
        for name in order:
            count = plan.get(name, 0)
            if count < floors[name] or count > min(self.most.get(name, count), self.limited.get(name, count)):
                return False
        return True

    def _fill(
        self,
        order: Sequence[str],
        total: int,
        least: Mapping[str, int],
        most: Mapping[str, int],
        limited: Mapping[str, int],
        estimated: Mapping[str, int],
        *,
        one: bool = False,
    ) -> tuple[Plan, Plan]:
        """Minimums in order, then (unless ``one``) as much as fits in order."""
        left, plan, overflow = total, Plan(), Plan()
        for name in order:
            count = min(least.get(name, 0), left)
            count = min(count, limited.get(name, count))
            if name in estimated and estimated[name] < count:
                overflow[name] = count - estimated[name]
                count = estimated[name]
            plan[name] = count
            left -= count
        if one:
            return plan, {}
        for name in order:
            count = plan[name] + left
            count = min(count, most.get(name, count))
            count = min(count, limited.get(name, count))
            if name in estimated and count > estimated[name]:
                overflow[name] = max(overflow.get(name, 0), count - estimated[name])
                count = estimated[name]
            left -= count - plan[name]
            plan[name] = count
        return plan, {name: extra for name, extra in overflow.items() if extra > 0}


def binpack_answer(given: Json, fixed: frozenset[str]) -> dict[str, list[Json]]:
    """KubeAdmiral's answer to a case of suite ``binpack``."""
    entries = given.get("clusters", {})
    packer = Packer(
        least={name: entry.get("min", 0) for name, entry in entries.items()},
        most={name: entry["max"] for name, entry in entries.items() if "max" in entry},
        estimated=given.get("estimatedCapacity", {}),
        limited=given.get("limitedCapacity", {}),
        scheduled=given.get("scheduledReplicas", {}),
        avoid=given.get("avoidDisruption", False),
        keep=given.get("keepUnschedulable", False),
        fixed=fixed,
    )
    plan, overflow = packer.plan(given["available"], given.get("total", 0), given.get("current", {}))
    return {"plan": [plan], "overflow": [overflow]}
