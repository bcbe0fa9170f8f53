"""What would become of what lost members hold. Capacities and records are made here; nothing is asked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from kadm.model.policy import PropagationPolicy
from kadm.model.simulation import Fate, Simulation
from kadm.schedule import plugins_of, schedule
from kadm.simulating import simulate
from tests.schedule.builders import NOW, a_deployment, a_policy, a_repo, a_state, observed, placement

MEMBERS = ("ap", "eu", "us")


def simulated(policy: PropagationPolicy, *lost: str, replicas: int = 6, **objects: Any) -> Simulation:
    repo = a_repo(MEMBERS, policies=[policy], objects=[a_deployment(replicas=replicas, **objects)])
    seen = observed(*(a_state(name) for name in MEMBERS))
    decisions = schedule(repo, seen, now=NOW)
    return simulate(repo, seen, decisions, lost, now=NOW, plugins=plugins_of(repo, seen))


@pytest.mark.parametrize(
    ("policy", "lost", "fate", "after", "unplaced"),
    [
        pytest.param(
            a_policy(placement=placement(ap=1, eu=1, us=1)), ["eu"], "moves", {"ap": 3, "us": 3}, 0, id="replicas move"
        ),
        pytest.param(
            a_policy(placement=placement(ap=1, eu=1, us=1)), ["ap", "eu"], "moves", {"us": 6}, 0, id="two are lost"
        ),
        pytest.param(
            a_policy(placement=[{"cluster": name, "preferences": {"weight": 1, "maxReplicas": 2}} for name in MEMBERS]),
            ["eu"],
            "short",
            {"ap": 2, "us": 2},
            2,
            id="what is over the maximum of the others finds no place",
        ),
        pytest.param(a_policy("Duplicate"), ["eu"], "fewer", {"ap": None, "us": None}, 0, id="a copy less"),
        pytest.param(
            a_policy("Duplicate", placement=placement(eu=1)), ["eu"], "gone", {}, 0, id="no other member may have it"
        ),
    ],
)
def test_fate(
    policy: PropagationPolicy, lost: list[str], fate: Fate, after: Mapping[str, int | None], unplaced: int
) -> None:
    (loss,) = simulated(policy, *lost).losses
    assert (loss.fate, loss.after, loss.unplaced) == (fate, after, unplaced)


def test_what_holds_nothing_there_is_untouched() -> None:
    found = simulated(a_policy(placement=placement(eu=1)), "us")
    assert found == Simulation(lost=("us",), losses=(), untouched=1)


def test_what_arrives_and_what_is_lost() -> None:
    (loss,) = simulated(a_policy(placement=placement(ap=1, eu=1, us=1)), "eu").losses
    assert (loss.replicas_lost, loss.arrives) == (2, {"ap": 1, "us": 1})


def test_what_finds_no_place_says_why() -> None:
    found = simulated(a_policy("Duplicate", placement=placement(eu=1)), "eu")
    assert [loss.why for loss in found.losses] != [""]
    assert [problem.what for problem in found.problems] == ["no member takes it"]
