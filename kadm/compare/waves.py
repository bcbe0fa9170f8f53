"""Which members are written together, before which others (``spec.rollout.waves`` of kadm.yaml). Pure."""

from __future__ import annotations

from collections.abc import Sequence

from kadm.model.cluster import FederatedCluster
from kadm.model.fleet import Rollout
from kadm.model.plan import PlannedWave
from kadm.model.selector import labels_match

REST = "the rest"
"""Name of the last wave: the members that no other has."""


def waves_of(rollout: Rollout, clusters: Sequence[FederatedCluster]) -> tuple[PlannedWave, ...]:
    """The waves in order, each with its members, sorted; empty where kadm.yaml names none.

    A member is in the first wave that lists it or whose ``clusterSelector`` its labels match. Members in no wave come
    last, together. Waves without members are left out. A wave without a name is called by its number, from 1.
    """
    left = {cluster.name: cluster.labels for cluster in sorted(clusters, key=lambda cluster: cluster.name)}
    found = []
    for number, wave in enumerate(rollout.waves, 1):
        members = [
            name
            for name, labels in left.items()
            if name in wave.clusters or (wave.cluster_selector and labels_match(wave.cluster_selector, labels))
        ]
        for name in members:
            del left[name]
        if members:
            found.append(PlannedWave(name=wave.name or f"wave {number}", members=tuple(members), pause=wave.pause))
    if found and left:
        found.append(PlannedWave(name=REST, members=tuple(left)))
    return tuple(found)
