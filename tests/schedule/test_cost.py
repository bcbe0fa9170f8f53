"""What scheduling costs: filters are asked once for each policy and member, not for each workload and member."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import ClassVar

import pytest

from kadm.model.observation import Observation
from kadm.model.repository import Repo
from kadm.schedule import schedule
from kadm.schedule.framework import Answer
from kadm.schedule.member import Member
from kadm.schedule.plugins.cluster_affinity import ClusterAffinity
from kadm.schedule.profile import Plugins
from kadm.schedule.registry import PLUGINS
from kadm.schedule.unit import SchedulingUnit
from tests.schedule.builders import NOW, apply
from tests.schedule.fleets import POLICIES, a_large_fleet

MEMBERS = 60


class CountingAffinity(ClusterAffinity, frozen=True, forbid_unknown_fields=True):
    """Counts how often it is asked about each member."""

    asked: ClassVar[Counter[str]] = Counter()

    def filter(self, unit: SchedulingUnit, member: Member) -> Answer:
        self.asked[member.name] += 1
        return ClusterAffinity.filter(self, unit, member)


COUNTING = Plugins(types={**PLUGINS, "ClusterAffinity": CountingAffinity})


@contextmanager
def counted() -> Iterator[Counter[str]]:
    CountingAffinity.asked.clear()
    yield CountingAffinity.asked
    CountingAffinity.asked.clear()


def asked_by(repo: Repo, seen: Observation) -> dict[str, int]:
    """Member → how often the filter was asked about it in one run."""
    with counted() as asked:
        schedule(repo, seen, now=NOW, plugins=COUNTING)
        return dict(asked)


@pytest.mark.parametrize("workloads", [POLICIES, 40 * POLICIES])
def test_filters_are_asked_once_for_each_policy_and_member(workloads: int) -> None:
    """Half of the policies list ten members: about the others the filter before this one has said no."""
    repo, seen = a_large_fleet(workloads=workloads, members=MEMBERS)
    assert sum(asked_by(repo, seen).values()) == POLICIES // 2 * MEMBERS + POLICIES // 2 * 10


@pytest.mark.parametrize("workloads", [POLICIES, 40 * POLICIES])
def test_where_everything_is_kept_twice_at_most(workloads: int) -> None:
    """Once for members that hold a workload, once for those that do not, however many different members hold one."""
    repo, seen = a_large_fleet(workloads=workloads, members=MEMBERS)
    before = apply(seen, schedule(repo, seen, now=NOW))
    assert max(asked_by(repo, before).values()) <= 2 * POLICIES
