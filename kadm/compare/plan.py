"""One plan out of what was found in every member."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kadm.compare.findings import MemberComparison
from kadm.compare.moves import moves, placements
from kadm.errors import Problem
from kadm.model.decision import Decisions
from kadm.model.desired import Desired
from kadm.model.observation import Observation
from kadm.model.plan import Change, Plan, PlannedWave, Summary, Unplaced


def make_plan(
    comparisons: Sequence[MemberComparison],
    *,
    fleet: str,
    commit: str,
    decisions: Decisions,
    desired: Desired,
    observation: Observation,
    problems: Sequence[Problem] = (),
    waves: tuple[PlannedWave, ...] = (),
) -> Plan:
    """The plan: changes sorted by member and key, what is held back, and everything that went wrong on the way."""
    ordered = sorted(comparisons, key=lambda comparison: comparison.member)
    changes = tuple(change for comparison in ordered for change in comparison.changes)
    return Plan(
        fleet=fleet,
        commit=commit,
        members=tuple(sorted(observation.members)),
        changes=changes,
        held=tuple(held for comparison in ordered for held in comparison.held),
        placements=placements(desired),
        moves=moves(decisions, {name: state.record for name, state in observation.read.items()}),
        waves=waves,
        summary=_summary(
            changes,
            unchanged=sum(comparison.unchanged for comparison in ordered),
            contested=sum(comparison.contested for comparison in ordered),
        ),
        unread=tuple(unread.problem for unread in observation.unread.values()),
        unplaced=_unplaced(decisions, desired),
        frozen={comparison.member: comparison.frozen for comparison in ordered if comparison.frozen},
        problems=(
            *decisions.problems,
            *desired.problems,
            *problems,
            *(problem for comparison in ordered for problem in comparison.problems),
        ),
    )


def _unplaced(decisions: Decisions, desired: Desired) -> tuple[Unplaced, ...]:
    """Objects that go nowhere, and replicas that fit nowhere, each with why."""
    found = [Unplaced(key=key, replicas=None, why=why) for key, why in desired.unplaced.items()]
    found += [
        Unplaced(key=key, replicas=decision.unplaced_replicas, why="; ".join(decision.reasons))
        for key, decision in decisions.by_key.items()
        if decision.unplaced_replicas
    ]
    return tuple(sorted(found, key=lambda one: one.key))


def _summary(changes: Sequence[Change], *, unchanged: int, contested: int) -> Summary:
    counts: Mapping[str, int] = {
        action: sum(change.action == action for change in changes) for action in sorted({c.action for c in changes})
    }
    return Summary(unchanged=unchanged, contested=contested, **counts)
