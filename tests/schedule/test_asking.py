"""What a policy asks for, in words."""

from __future__ import annotations

from typing import Any

import pytest

from kadm.schedule.asking import asked_for
from kadm.schedule.unit import rules_of
from tests.schedule.builders import a_policy, placement

STAYS = "replicas that run are not moved (avoidDisruption)"


@pytest.mark.parametrize(
    ("mode", "spec", "want"),
    [
        pytest.param("Duplicate", {}, ["Duplicate: every selected member gets the whole object"], id="Duplicate"),
        pytest.param(
            "Divide",
            {},
            ["Divide, Spread: replicas are shared by what members have free, since no weight is set", STAYS],
            id="Divide",
        ),
        pytest.param(
            "Divide",
            {"placement": placement(b=1, a=2)},
            [
                "Divide, Spread: replicas are shared by the weights of the placement list",
                "only members of the placement list: a, b",
                STAYS,
            ],
            id="by weight",
        ),
        pytest.param(
            "Divide",
            {
                "replicasStrategy": "Binpack",
                "reschedulePolicy": {"replicaRescheduling": {"avoidDisruption": False}},
                "autoMigration": {"when": {"podUnschedulableFor": "5m"}},
            },
            [
                "Divide, Binpack: members are filled up one after the other",
                "replicas may move when they are divided anew (avoidDisruption is false)",
                "replicas migrate that found no node for 5m",
            ],
            id="Binpack",
        ),
        pytest.param(
            "Duplicate",
            {
                "clusterSelector": {"env": "prod", "a": "b"},
                "clusterAffinity": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["x"]}]}],
                "tolerations": [{"key": "gpu", "operator": "Exists"}, {"effect": "NoSchedule", "value": "v"}],
                "maxClusters": 1,
                "schedulingProfile": "strict",
                "reschedulePolicy": {"disableRescheduling": True},
            },
            [
                "Duplicate: every selected member gets the whole object",
                "only members with the labels a=b, env=prod",
                "only members that match its cluster affinity (1 term)",
                "taints are tolerated: gpu=*:*, *=v:NoSchedule",
                "at most 1 member",
                "the plugins of scheduling profile strict",
                "sticky: it keeps its members",
            ],
            id="everything else",
        ),
    ],
)
def test_what_is_asked_for(mode: str, spec: dict[str, Any], want: list[str]) -> None:
    assert list(asked_for(rules_of(a_policy(mode, **spec).spec))) == want
