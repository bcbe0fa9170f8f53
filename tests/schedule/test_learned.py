"""What members keep of auto-migration, put together by workload."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from kadm.model.migration import Estimate, Eviction, LearnedWorkload, MigrationEvent, MigrationState
from kadm.model.objects import ObjectKey
from kadm.schedule import Learned, learned_of

WEB = ObjectKey("apps", "Deployment", "a", "web")
SINCE, UNTIL, LATER = "2026-01-02T03:04:05Z", "2026-01-02T03:14:05Z", "2026-01-02T03:24:05Z"


def a_state(member: str, **known: Any) -> MigrationState:
    workload = LearnedWorkload(group="apps", kind="Deployment", namespace="a", name="web", **known)
    return MigrationState(fleet="shop", member_uid=f"uid-{member}", workloads=(workload,))


def test_the_members_of_a_workload_are_put_together() -> None:
    full = Estimate(capacity=2, since=SINCE, until=UNTIL)
    trusted = Estimate(since=SINCE, until=UNTIL)
    happened = MigrationEvent(at=SINCE, text="lost left")
    found = learned_of(
        {
            "ap": a_state("ap", estimate=trusted, evictions=(Eviction(member="lost", since=SINCE, until=UNTIL),)),
            "eu": a_state("eu", estimate=full, events=(happened, MigrationEvent(at=UNTIL, text="full"))),
            "us": a_state(
                "us",
                scheduled=3,
                evictions=(Eviction(member="lost", since=SINCE, until=LATER),),
                events=(happened,),
            ),
        }
    )
    assert found == {
        WEB: Learned(
            estimated={"eu": 2},
            scheduled={"eu": 2, "us": 3},
            evicted={"lost": datetime(2026, 1, 2, 3, 24, 5, tzinfo=UTC)},
            trail=(f"{SINCE} lost left", f"{UNTIL} full"),
        )
    }
