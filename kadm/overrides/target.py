"""Which members a rule hits (propagation spec 1.2)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kadm.model.override import OverridePolicy, TargetClusters
from kadm.model.selector import SelectorError, check_labels, labels_match, terms_match


@dataclass(frozen=True, order=True)
class RuleHit:
    """A rule of a policy that hits a member; ``error`` says that its selector cannot be evaluated, and why."""

    policy: int
    """Index of the policy in the order of application."""
    rule: int
    error: str = ""


def rules_that_hit(policy: OverridePolicy, index: int, name: str, labels: Mapping[str, str]) -> tuple[RuleHit, ...]:
    """The policy's rules that hit the member, in order. ``index`` is the policy's place in the order of application.

    The answer depends on policy and member alone, so that it can be kept for all objects that the policy binds.
    """
    hits = []
    for number, rule in enumerate(policy.spec.override_rules):
        try:
            if _targets(rule.target_clusters, name, labels) and rule.overriders is not None:
                hits.append(RuleHit(index, number))
        except SelectorError as error:
            hits.append(RuleHit(index, number, str(error)))
            break  # nothing after it can be applied
    return tuple(hits)


def _targets(target: TargetClusters | None, name: str, labels: Mapping[str, str]) -> bool:
    """Whether all criteria hold; an empty one always does. Raises SelectorError."""
    if target is None:
        return True
    if target.clusters and name not in target.clusters:
        return False
    check_labels(target.cluster_selector)
    if not labels_match(target.cluster_selector, labels):
        return False
    return not target.cluster_affinity or terms_match(target.cluster_affinity, name, labels)
