"""The part of a policy that means something for a kind, where the policy was bound to more than it was written for.

A label on an object says that the policy is meant for it, and an image overrider on a kind without pod spec is an error
(propagation spec 1.4). An entry of kadm.yaml, or the Fleet's default, binds all that stands in a directory: Services
and ConfigMaps among Deployments. KubeAdmiral has no such binding.
"""

from __future__ import annotations

from msgspec.structs import replace

from kadm.model.override import OverridePolicy, Overriders
from kadm.model.workload import workload_kind


def applicable(policy: OverridePolicy, group: str, kind: str) -> OverridePolicy:
    """The policy without overriders of pod specs where the kind has none, else the policy itself. Rules keep their
    indexes."""
    known = workload_kind(group, kind)
    if known is not None and known.leads:
        return policy
    rules = tuple(
        replace(rule, overriders=_without_pods(rule.overriders)) if rule.overriders else rule
        for rule in policy.spec.override_rules
    )
    return replace(policy, spec=replace(policy.spec, override_rules=rules))


def _without_pods(overriders: Overriders) -> Overriders:
    images = tuple(image for image in overriders.image if image.image_path)
    return replace(overriders, image=images, command=(), args=(), envs=())
