"""Blocks of ordinals of divided StatefulSets: given once, remembered, never changed where one is live."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pytest

from kadm.model.decision import Decision
from kadm.model.objects import ObjectKey
from kadm.model.observation import Observation
from kadm.model.record import Record, RecordedWorkload
from kadm.model.repository import Repo
from kadm.schedule import schedule
from tests.schedule.builders import (
    NOW,
    a_deployment,
    a_policy,
    a_repo,
    a_state,
    apply,
    changed,
    decide,
    observed,
    placement,
)

DB = ObjectKey("apps", "StatefulSet", "default", "db")
THREE = ("ap", "eu", "us")
ALL_READ = observed(*(a_state(name) for name in THREE))
MOVES = {"replicaRescheduling": {"avoidDisruption": False}, "rescheduleWhen": {}}


def a_database(members: Mapping[str, int], *, mode: str = "Divide", replicas: int = 6, **policy: Any) -> Repo:
    """A StatefulSet among ``members``: name → weight."""
    return a_repo(
        THREE,
        policies=[a_policy(mode, placement=placement(**members), reschedulePolicy=MOVES, **policy)],
        objects=[a_deployment("db", kind="StatefulSet", replicas=replicas)],
    )


def applied(repo: Repo, seen: Observation = ALL_READ) -> Observation:
    return apply(seen, schedule(repo, seen, now=NOW))


def told(decision: Decision) -> tuple[Mapping[str, int | None], Mapping[str, int]]:
    return decision.placement, decision.blocks


def test_the_first_member_begins_at_0() -> None:
    assert told(decide(a_database({"ap": 1, "eu": 1, "us": 1}), ALL_READ, DB)) == (
        {"ap": 2, "eu": 2, "us": 2},
        {"ap": 0, "eu": 1, "us": 2},
    )


def test_other_kinds_have_none() -> None:
    repo = a_repo(THREE, policies=[a_policy(placement=placement(ap=1, eu=1))])
    assert [decision.blocks for decision in schedule(repo, ALL_READ, now=NOW).by_key.values()] == [{}]


def test_a_new_member_gets_a_new_block_whatever_its_name() -> None:
    before = applied(a_database({"eu": 1, "us": 1}))
    assert told(decide(a_database({"ap": 1, "eu": 1, "us": 1}), before, DB)) == (
        {"ap": 2, "eu": 2, "us": 2},
        {"ap": 2, "eu": 0, "us": 1},
    )


def test_a_block_is_remembered_while_its_member_is_away() -> None:
    """Its volumes may still be there, and no other member's pods take their names."""
    repos = [a_database({"ap": 1, "eu": 1}), a_database({"eu": 1, "us": 1}), a_database({"ap": 1, "us": 1})]
    seen, blocks = ALL_READ, []
    for repo in repos:
        blocks.append(decide(repo, seen, DB).blocks)
        seen = applied(repo, seen)
    assert blocks == [{"ap": 0, "eu": 1}, {"ap": 0, "eu": 1, "us": 2}, {"ap": 0, "eu": 1, "us": 2}]


def test_rebuilt_records_know_each_its_own_block() -> None:
    found = [
        RecordedWorkload(
            group="apps", kind="StatefulSet", namespace="default", name="db", replicas=2, blocks={name: block}
        )
        for name, block in (("ap", 2), ("eu", 0), ("us", 1))
    ]
    records = [
        Record(fleet="shop", member_uid=f"uid-{name}", workloads=(one,)) for name, one in zip(THREE, found, strict=True)
    ]
    seen = observed(*(a_state(name, record=record) for name, record in zip(THREE, records, strict=True)))
    assert told(decide(a_database({"ap": 1, "eu": 1, "us": 1}), seen, DB)) == (
        {"ap": 2, "eu": 2, "us": 2},
        {"ap": 2, "eu": 0, "us": 1},
    )


def test_kept_decisions_keep_their_blocks() -> None:
    repo = a_database({"ap": 1, "eu": 1})
    decision = decide(repo, applied(repo), DB)
    assert (decision.outcome, decision.blocks) == ("kept", {"ap": 0, "eu": 1})


def test_scaled_to_0_it_keeps_its_blocks() -> None:
    before = applied(a_database({"ap": 1, "eu": 1}))
    assert told(decide(a_database({"ap": 1, "eu": 1}, replicas=0), before, DB)) == (
        {"ap": 0, "eu": 0},
        {"ap": 0, "eu": 1},
    )


def test_a_killed_run_leaves_one_division_of_ordinals() -> None:
    """One member has the record of the new decision, the others still that of the old one."""
    old, new = a_database({"eu": 1, "us": 1}), a_database({"ap": 1, "eu": 1, "us": 1})
    before = applied(old)
    decided = schedule(new, before, now=NOW)
    for name in THREE:
        half = changed(before, apply(before, decided).read[name])
        again = decide(new, half, DB)
        assert (again.outcome, told(again)) == ("kept", told(decided.by_key[DB])), name
    # Yet another decision, made before the killed run was finished, keeps the block that only one record tells of.
    half = changed(before, apply(before, decided).read["ap"])
    assert decide(a_database({"ap": 3, "eu": 1, "us": 1}, replicas=10), half, DB).blocks == {"ap": 2, "eu": 0, "us": 1}


def test_a_stateful_set_that_was_duplicated_keeps_its_ordinals_where_it_is() -> None:
    before = applied(a_database({"ap": 1, "eu": 1}, mode="Duplicate"))
    decisions = schedule(a_database({"ap": 1, "eu": 1, "us": 1}), before, now=NOW)
    assert told(decisions.by_key[DB]) == ({"ap": 2, "eu": 2, "us": 2}, {"ap": 0, "eu": 0, "us": 1})
    assert [(problem.severity, problem.what) for problem in decisions.problems] == [
        ("warning", "its pods have the same ordinals in ap, eu")
    ]


def test_one_that_is_not_divided_any_more_keeps_them_too() -> None:
    before = applied(a_database({"ap": 1, "eu": 1}))
    duplicated = a_database({"ap": 1, "eu": 1, "us": 1}, mode="Duplicate")
    assert told(decide(duplicated, before, DB)) == ({"ap": None, "eu": None, "us": None}, {"eu": 1})


def with_versions(versions: Iterable[tuple[str, str]], before: Observation | None = None) -> Observation:
    return changed(before or ALL_READ, *(a_state(name, version=version) for name, version in versions))


@pytest.mark.parametrize(
    ("versions", "want"),
    [
        pytest.param(
            [("us", "v1.26.9")],
            ({"ap": 2, "eu": 2, "us": 2}, {"ap": 1, "eu": 2, "us": 0}),
            id="a member before 1.27 gets block 0",
        ),
        pytest.param(
            [("eu", "v1.26.9"), ("us", "v1.25.3-gke.1")],
            ({"ap": 3, "eu": 3}, {"ap": 1, "eu": 0}),
            id="but only one can",
        ),
        pytest.param(
            [("ap", "v1.27.0-alpha"), ("us", "1.30+")],
            ({"ap": 2, "eu": 2, "us": 2}, {"ap": 0, "eu": 1, "us": 2}),
            id="odd versions",
        ),
    ],
)
def test_old_members(versions: list[tuple[str, str]], want: Any) -> None:
    assert told(decide(a_database({"ap": 1, "eu": 1, "us": 1}), with_versions(versions), DB)) == want


def test_an_old_member_is_refused_where_block_0_is_live() -> None:
    before = with_versions([("us", "v1.26.9")], applied(a_database({"ap": 1, "eu": 1})))
    decision = decide(a_database({"ap": 1, "eu": 1, "us": 1}), before, DB)
    assert told(decision) == ({"ap": 3, "eu": 3}, {"ap": 0, "eu": 1})
    assert [entry.notes for entry in decision.members if entry.member == "us"] == [
        ("its Kubernetes v1.26.9 numbers pods from 0 only (1.27 is needed), and ap has these ordinals",)
    ]


def test_an_old_member_gets_block_0_once_the_member_that_had_it_is_left() -> None:
    left = applied(a_database({"eu": 1}), applied(a_database({"ap": 1, "eu": 1})))
    before = with_versions([("us", "v1.26.9")], left)
    assert told(decide(a_database({"eu": 1, "us": 1}), before, DB)) == ({"eu": 3, "us": 3}, {"eu": 1, "us": 0})


def test_where_no_member_can_number_its_pods_it_stays() -> None:
    before = with_versions([("us", "v1.26.9")], applied(a_database({"ap": 1})))
    decisions = schedule(a_database({"us": 1}), before, now=NOW)
    assert (decisions.by_key[DB].outcome, decisions.by_key[DB].placement) == ("frozen", {"ap": 6})
    assert [problem.what for problem in decisions.problems] == ["no member takes it"]


def test_no_member_gets_more_than_its_block_holds() -> None:
    decisions = schedule(a_database({"ap": 3, "eu": 1}, replicas=2100), ALL_READ, now=NOW)
    decision = decisions.by_key[DB]
    assert (told(decision), decision.unplaced_replicas) == (({"ap": 1000, "eu": 1000}, {"ap": 0, "eu": 1}), 100)
    packed = schedule(a_database({"ap": 1, "eu": 1}, replicas=1500, replicasStrategy="Binpack"), ALL_READ, now=NOW)
    assert packed.by_key[DB].placement == {"ap": 1000, "eu": 500}
