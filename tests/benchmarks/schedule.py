"""How long scheduling takes, and how much memory: ``python -m tests.benchmarks.schedule [WORKLOADS [MEMBERS]]``.

Prints a table; checks nothing. Times are also given as multiples of a reference that is measured in the same run, so
that they can be compared between machines: encoding and decoding 1,000 small objects as JSON. Memory is compared with
the size of what was decided, as JSON.
"""

from __future__ import annotations

import json
import sys
import time
import tracemalloc
from collections.abc import Callable
from typing import TypeVar

import msgspec

from kadm.model.decision import Decisions
from kadm.model.observation import Observation
from kadm.model.repository import Repo
from kadm.schedule import schedule
from tests.schedule.builders import NOW, a_deployment, apply
from tests.schedule.fleets import POLICIES, a_large_fleet

T = TypeVar("T")

REFERENCE_OBJECTS = 1000
ATTEMPTS = 3
MIB = 1 << 20


def timed(work: Callable[[], T]) -> tuple[float, T]:
    """The shortest of some runs in seconds, and what the last one gave."""
    best = float("inf")
    for _ in range(ATTEMPTS):
        began = time.perf_counter()
        given = work()
        best = min(best, time.perf_counter() - began)
    return best, given


def peak_bytes(work: Callable[[], object]) -> int:
    """The most memory that ``work`` had at one time, beside what was there before."""
    tracemalloc.start()
    kept = work()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    del kept
    return peak


def reference() -> float:
    """Seconds of the work that all times are compared with."""
    objects = [a_deployment(f"w{number}") for number in range(REFERENCE_OBJECTS)]
    return timed(lambda: json.loads(json.dumps(objects)))[0]


def decided_bytes(decisions: Decisions) -> int:
    """The size of the placements as JSON."""
    return len(msgspec.json.encode([decision.placement for decision in decisions.by_key.values()]))


def main(workloads: int = 10_000, members: int = 500) -> None:
    unit_s = reference()
    repo, seen = a_large_fleet(workloads=workloads, members=members)
    print(f"{workloads} workloads, {members} members, {POLICIES} policies; reference: {unit_s * 1000:.2f} ms\n")
    print(f"{'':24}{'seconds':>10}{'µs/workload':>14}{'× reference':>14}{'peak MiB':>12}{'× decided':>12}")
    first = row("placed for the first time", repo, seen, unit_s)
    row("nothing changed", repo, apply(seen, first), unit_s)


def row(title: str, repo: Repo, seen: Observation, unit_s: float) -> Decisions:
    """Measure one run, and print it."""

    def run() -> Decisions:
        return schedule(repo, seen, now=NOW)

    took_s, decisions = timed(run)
    peak = peak_bytes(run)
    per_workload_us = took_s / len(decisions.by_key) * 1e6
    ratios = took_s / unit_s, peak / decided_bytes(decisions)
    print(f"{title:24}{took_s:10.2f}{per_workload_us:14.0f}{ratios[0]:14.1f}{peak / MIB:12.0f}{ratios[1]:12.1f}")
    return decisions


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
