"""What members keep of auto-migration, put together by workload (propagation spec, section 7). Pure."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

from kadm.model.migration import MigrationState
from kadm.model.objects import ObjectKey
from kadm.model.policy import PropagationPolicy
from kadm.model.repository import Repo
from kadm.schedule.unit_reader import Learned


def may_learn(repo: Repo) -> bool:
    """Whether any policy asks for what needs a memory: only then it has to be read."""
    return any(learns(policy) for policy in repo.propagation_policies.values())


def learns(policy: PropagationPolicy) -> bool:
    """Whether the policy asks for auto-migration or fail-over."""
    return policy.spec.auto_migration is not None or bool(policy.fail_over_after)


def learned_of(states: Mapping[str, MigrationState]) -> dict[ObjectKey, Learned]:
    """What is known of each workload, by key (sorted); ``states`` are the members' memories by name.

    In a member that cannot run all it has, what is scheduled is what it is believed to run.
    """
    estimated: dict[ObjectKey, dict[str, int]] = {}
    scheduled: dict[ObjectKey, dict[str, int]] = {}
    evicted: dict[ObjectKey, dict[str, datetime]] = {}
    trail: dict[ObjectKey, set[tuple[str, str]]] = {}
    for name, state in sorted(states.items()):
        for workload in state.workloads:
            if workload.estimate is not None and workload.estimate.capacity is not None:
                estimated.setdefault(workload.key, {})[name] = workload.estimate.capacity
                scheduled.setdefault(workload.key, {})[name] = workload.estimate.capacity
            elif workload.scheduled is not None:
                scheduled.setdefault(workload.key, {})[name] = workload.scheduled
            for eviction in workload.evictions:
                until = datetime.fromisoformat(eviction.until).astimezone(UTC)
                known = evicted.setdefault(workload.key, {})
                known[eviction.member] = max(until, known.get(eviction.member, until))
            trail.setdefault(workload.key, set()).update((event.at, event.text) for event in workload.events)
    return {
        key: Learned(
            estimated=estimated.get(key, {}),
            scheduled=scheduled.get(key, {}),
            evicted=dict(sorted(evicted.get(key, {}).items())),
            trail=tuple(f"{at} {text}" for at, text in sorted(trail.get(key, ()))),
        )
        for key in sorted({*estimated, *scheduled, *evicted, *trail})
    }
