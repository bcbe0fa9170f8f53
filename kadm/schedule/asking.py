"""What a policy, with the annotations that count instead of parts of it, asks for: in words."""

from __future__ import annotations

from collections.abc import Iterator

from kadm.schedule.taints import toleration_text
from kadm.schedule.unit import Rules
from kadm.schedule.wording import listed


def asked_for(rules: Rules) -> tuple[str, ...]:
    """One line per thing that is asked for, what is asked for in any case first."""
    return (_mode(rules), *_members(rules), *_changes(rules))


def _mode(rules: Rules) -> str:
    if rules.mode == "Duplicate":
        return "Duplicate: every selected member gets the whole object"
    if rules.strategy == "Binpack":
        return "Divide, Binpack: members are filled up one after the other"
    if rules.placements.weights:
        return "Divide, Spread: replicas are shared by the weights of the placement list"
    return "Divide, Spread: replicas are shared by what members have free, since no weight is set"


def _members(rules: Rules) -> Iterator[str]:
    if rules.placements.names:
        yield f"only members of the placement list: {listed(sorted(rules.placements.names))}"
    if rules.selector:
        labels = ", ".join(f"{key}={value}" for key, value in sorted(rules.selector.items()))
        yield f"only members with the labels {labels}"
    if rules.required is not None:
        yield f"only members that match its cluster affinity ({_counted(len(rules.required), 'term')})"
    if rules.preferred:
        yield f"rather members that match its preferred affinity ({_counted(len(rules.preferred), 'term')})"
    if rules.tolerations:
        yield f"taints are tolerated: {', '.join(toleration_text(one) for one in rules.tolerations)}"
    if rules.max_clusters is not None:
        yield f"at most {_counted(rules.max_clusters, 'member')}"
    if rules.profile:
        yield f"the plugins of scheduling profile {rules.profile}"


def _changes(rules: Rules) -> Iterator[str]:
    if rules.sticky:
        yield "sticky: it keeps its members"
    if rules.mode == "Divide":
        yield (
            "replicas that run are not moved (avoidDisruption)"
            if rules.avoid_disruption
            else "replicas may move when they are divided anew (avoidDisruption is false)"
        )
    if rules.auto_migration is not None:
        yield f"replicas migrate that found no node for {rules.auto_migration.when.pod_unschedulable_for}"


def _counted(number: int, what: str) -> str:
    return f"{number} {what}{'s' * (number != 1)}"
