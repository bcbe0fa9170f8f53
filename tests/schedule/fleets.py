"""Large fleets, for what is said of cost."""

from __future__ import annotations

from kadm.model.observation import Observation
from kadm.model.policy import PolicyKey
from kadm.model.repository import Repo
from tests.schedule.builders import (
    a_cluster,
    a_deployment,
    a_manifest,
    a_policy,
    a_repo,
    a_state,
    observed,
    placement,
)

POLICIES = 20
_REGIONS = 10
_LISTED = 10


def a_large_fleet(*, workloads: int, members: int) -> tuple[Repo, Observation]:
    """Workloads under 20 policies in turn: half of these divide among ten members, half duplicate to a region."""
    names = [f"m{number:03}" for number in range(members)]
    clusters = [a_cluster(name, labels={"region": f"r{index % _REGIONS}"}) for index, name in enumerate(names)]
    policies = []
    for number in range(POLICIES):
        key = PolicyKey("ClusterPropagationPolicy", "", f"p{number}")
        if number % 2:
            listed = {names[(number + index) % members]: 1 + index for index in range(_LISTED)}
            policies.append(a_policy("Divide", key=key, placement=placement(**listed)))
        else:
            selector = {"region": f"r{number // 2 % _REGIONS}"}
            policies.append(a_policy("Duplicate", key=key, clusterSelector=selector))
    manifests = [
        a_manifest(a_deployment(f"w{number:05}", replicas=20 + number % 7), policies[number % POLICIES].key)
        for number in range(workloads)
    ]
    return a_repo(clusters, policies=policies, objects=manifests), observed(*(a_state(name) for name in names))
