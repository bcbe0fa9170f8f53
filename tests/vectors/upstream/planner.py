"""The replica planner (scheduling spec, section 5), in integers that can wrap as Go's do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tests.vectors.case import Json

MOST_ROUNDS = 10_000
"""Integers that wrap can make the rounds endless; those that do not need one per cluster and a few more."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What one cluster should get: ``weight``, ``least``, and ``most`` (None: unbounded)."""

    weight: int
    least: int = 0
    most: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Planner:
    """One workload's inputs. ``wraps``: 64-bit integers, as in Go, instead of Python's."""

    key: str = ""
    estimated: Mapping[str, int] = field(default_factory=dict)
    limited: Mapping[str, int] = field(default_factory=dict)
    avoid: bool = False
    keep: bool = False
    wraps: bool = False

    def plan(self, wishes: Mapping[str, Wish], total: int, current: Mapping[str, int]) -> tuple[Plan, Plan]:
        """Replicas per cluster, and the overflow."""
        desired, overflow = self._share(wishes, total, keep=self.keep or not self.avoid, capacities=True)
        if not self.avoid:
            return desired, overflow
        kept = {}
        for name in wishes:
            kept[name] = current.get(name, 0)
            for capacity in (self.limited, self.estimated):
                kept[name] = min(kept[name], capacity.get(name, kept[name]))
        missing = sum(desired.values()) - sum(kept.values())
        if missing < 0:
            surplus = {
                name: Wish(kept[name] - desired[name], 0, kept[name]) for name in wishes if desired[name] < kept[name]
            }
            less, _ = self._share(surplus, -missing, keep=False, capacities=False)
            return {name: kept[name] - less.get(name, 0) for name in wishes}, overflow
        if missing > 0:
            gaps = {
                name: Wish(desired[name] - kept[name], 0, None if wish.most is None else wish.most - kept[name])
                for name, wish in wishes.items()
                if desired[name] > kept[name]
            }
            more, _ = self._share(gaps, missing, keep=False, capacities=False)
            return {name: kept[name] + more.get(name, 0) for name in wishes}, overflow
        return kept, overflow

    def _share(self, wishes: Mapping[str, Wish], total: int, *, keep: bool, capacities: bool) -> tuple[Plan, Plan]:
        estimated = self.estimated if capacities else {}
        limited = self.limited if capacities else {}
        order = sorted(wishes, key=lambda name: (-wishes[name].weight, fnv(name + self.key), name))
        plan: Plan = {}
        overflow: Plan = {}
        left = total
        for name in order:
            plan[name] = min(wishes[name].least, left)
            if name in limited:
                plan[name] = min(plan[name], limited[name])
            if name in estimated and estimated[name] < plan[name]:
                overflow[name] = plan[name] - estimated[name]
                plan[name] = estimated[name]
            left -= plan[name]
        hungry: Sequence[str] = order
        for _ in range(MOST_ROUNDS):
            if left <= 0:
                break
            weights = sum(wishes[name].weight for name in hungry)
            if weights <= 0:
                break
            round_size, increased, still = left, False, []
            for name in hungry:
                before = plan[name]
                full = False
                after = before + min(self._ceiling(round_size * wishes[name].weight, weights), left)
                if (most := wishes[name].most) is not None and after > most:
                    after, full = most, True
                if name in limited and after > limited[name]:
                    after, full = limited[name], True
                if name in estimated and after > estimated[name]:
                    overflow[name] = overflow.get(name, 0) + after - estimated[name]
                    after, full = estimated[name], True
                plan[name] = after
                left -= after - before
                increased = increased or after > before
                if not full:
                    still.append(name)
            hungry = still
            if not increased:
                break
        if not keep:
            overflow = {name: min(extra, left) for name, extra in overflow.items()}
        return plan, {name: extra for name, extra in overflow.items() if extra > 0}

    def _ceiling(self, product: int, divisor: int) -> int:
        """Go's way to round up a quotient of positive numbers: it adds the divisor less one before it divides."""
        dividend = int64(int64(product) + divisor - 1) if self.wraps else product + divisor - 1
        return dividend // divisor if dividend >= 0 else -(-dividend // divisor)


Plan = dict[str, int]


def fnv(text: str) -> int:
    """FNV-1 in 32 bits."""
    digest = 0x811C9DC5
    for byte in text.encode():
        digest = (digest * 0x01000193) % 2**32 ^ byte
    return digest


def int64(number: int) -> int:
    """What is left of ``number`` in 64 bits."""
    return (number + 2**63) % 2**64 - 2**63


def planner_answer(given: Json, fixed: frozenset[str]) -> dict[str, list[Json]]:
    """KubeAdmiral's answer to a case of suite ``planner``."""
    entries = given.get("clusters", {})
    names = given["available"] if "available" in given else [name for name in entries if name != "*"]
    wishes = {}
    for name in names:
        entry = entries.get(name, entries.get("*"))
        if entry is not None:
            wishes[name] = Wish(entry.get("weight", 0), entry.get("min", 0), entry.get("max"))
    planner = Planner(
        key=given.get("key", ""),
        estimated=given.get("estimatedCapacity", {}),
        limited=given.get("limitedCapacity", {}),
        avoid=given.get("avoidDisruption", False),
        keep=given.get("keepUnschedulable", False),
        wraps="spec 10" not in fixed,
    )
    plan, overflow = planner.plan(wishes, given.get("total", 0), given.get("current", {}))
    return {"plan": [plan], "overflow": [overflow]}
