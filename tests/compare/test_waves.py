"""Which member is in which wave."""

from __future__ import annotations

import pytest

from kadm.compare.waves import waves_of
from kadm.errors import Location
from kadm.model.cluster import FederatedCluster
from kadm.model.fleet import Rollout, Wave
from kadm.model.plan import PlannedWave

CLUSTERS = [
    FederatedCluster(name=name, location=Location("c.yaml"), labels={"tier": tier})
    for name, tier in (("us", "main"), ("eu", "canary"), ("asia", "main"), ("lab", "test"))
]


def wave(name: str, *members: str, pause: bool = False) -> PlannedWave:
    return PlannedWave(name=name, members=members, pause=pause)


@pytest.mark.parametrize(
    ("waves", "want"),
    [
        pytest.param([], (), id="no waves: all side by side"),
        pytest.param(
            [Wave(name="lab", clusters=("lab",), pause=True)],
            (wave("lab", "lab", pause=True), wave("the rest", "asia", "eu", "us")),
            id="members in no wave come last",
        ),
        pytest.param(
            [Wave(cluster_selector={"tier": "canary"}), Wave(cluster_selector={"tier": "main"})],
            (wave("wave 1", "eu"), wave("wave 2", "asia", "us"), wave("the rest", "lab")),
            id="by label, called by number",
        ),
        pytest.param(
            [
                Wave(name="a", clusters=("us",), cluster_selector={"tier": "test"}),
                Wave(name="b", clusters=("us", "eu")),
            ],
            (wave("a", "lab", "us"), wave("b", "eu"), wave("the rest", "asia")),
            id="list or label; the first wave has the member",
        ),
        pytest.param(
            [Wave(name="gone", clusters=("mars",)), Wave(name="all", clusters=("us", "eu", "asia", "lab"))],
            (wave("all", "asia", "eu", "lab", "us"),),
            id="a wave without members is none, and no rest without members",
        ),
    ],
)
def test_waves(waves: list[Wave], want: tuple[PlannedWave, ...]) -> None:
    assert waves_of(Rollout(tuple(waves)), CLUSTERS) == want
