"""The metrics: their vocabulary, what they count, and that nothing makes their number grow."""

from __future__ import annotations

import re

import pytest
from prometheus_client.parser import text_string_to_metric_families

from kadm.errors import Problem
from kadm.watch.serving.metrics import METRICS, exposition, registry, samples
from kadm.watch.state import BrokenCommit, HeldView, MemberView, Snapshot, SourceView, Totals, WatchCounts, WriterView
from tests.watch.views import NOON, a_busy_fleet, a_matrix, a_member, a_plan, a_snapshot, lost

NOON_S = 1772366400.0
WATCHED = WatchCounts(lists=5, restarts=2, expired=1, silent=4, failures={"429": 3})


@pytest.mark.parametrize(
    ("snapshot", "want"),
    [
        pytest.param(
            a_snapshot(),
            {("kadm_ready", ()): 1, ("kadm_writer", ()): 1, ("kadm_source_up", ()): 1, ("kadm_commit_broken", ()): 0},
            id="a daemon that is well",
        ),
        pytest.param(
            a_snapshot(
                ready=False,
                writer=WriterView(holder="another"),
                source=SourceView(url="u", problem=Problem(what="no route")),
                broken=BrokenCommit(commit="c", since=NOON, problems=(Problem(what="syntax"),)),
            ),
            {("kadm_ready", ()): 0, ("kadm_writer", ()): 0, ("kadm_source_up", ()): 0, ("kadm_commit_broken", ()): 1},
            id="a daemon that is not",
        ),
        pytest.param(
            a_snapshot(members=(a_member("eu"), lost("us"), a_member("ap", ready="False", synced=False))),
            {
                ("kadm_member_up", ("ap",)): 1,
                ("kadm_member_up", ("eu",)): 1,
                ("kadm_member_up", ("us",)): 0,
                ("kadm_member_ready", ("ap",)): 0,
                ("kadm_member_ready", ("eu",)): 1,
                ("kadm_member_synced", ("ap",)): 0,
                ("kadm_member_synced", ("eu",)): 1,
                ("kadm_member_synced", ("us",)): 1,
            },
            id="members; readiness that is not known has no value",
        ),
        pytest.param(
            a_snapshot(members=(a_member("eu", counts=WATCHED),)),
            {
                ("kadm_member_lists_total", ("eu",)): 5,
                ("kadm_member_watch_restarts_total", ("eu",)): 2,
                ("kadm_member_watch_expired_total", ("eu",)): 1,
                ("kadm_member_watch_silent_total", ("eu",)): 4,
                ("kadm_member_request_failures_total", ("eu", "429")): 3,
            },
            id="watches",
        ),
        pytest.param(
            a_snapshot(members=(a_member("eu", pulse_s=0.25), a_member("us", pulse_s=None))),
            {("kadm_member_pulse_duration_seconds", ("eu",)): 0.25, ("kadm_start_time_seconds", ()): NOON_S},
            id="how long a member takes to answer; while it does not there is no value",
        ),
        pytest.param(
            a_busy_fleet(),
            {
                ("kadm_moves", ()): 1,
                ("kadm_workloads", ("Healthy",)): 2,
                ("kadm_workloads", ("Progressing",)): 1,
                ("kadm_workloads", ("Failed",)): 1,
                ("kadm_workloads", ("Missing",)): 1,
                ("kadm_workloads", ("Terminating",)): 0,
                ("kadm_workloads", ("Suspended",)): 1,
                ("kadm_workloads", ("Unknown",)): 1,
                ("kadm_held_changes", ("ap-1",)): 0,
                ("kadm_held_changes", ("eu-1",)): 0,
                ("kadm_held_changes", ("eu-2",)): 1,
                ("kadm_held_changes", ("us-1",)): 0,
                ("kadm_held_changes", ("us-2",)): 0,
            },
            id="workloads",
        ),
        pytest.param(
            a_snapshot(
                totals=Totals(fetches=7, failed_fetches=2, rewrites=1, hooks=4, plans=3, changes=5, failed_changes=1)
            ),
            {
                ("kadm_source_fetches_total", ("failed",)): 2,
                ("kadm_source_fetches_total", ("ok",)): 7,
                ("kadm_source_rewrites_total", ()): 1,
                ("kadm_source_hooks_total", ()): 4,
                ("kadm_plans_total", ("failed",)): 0,
                ("kadm_plans_total", ("ok",)): 3,
                ("kadm_changes_total", ("failed",)): 1,
                ("kadm_changes_total", ("ok",)): 5,
            },
            id="totals",
        ),
        pytest.param(
            a_snapshot(plan=a_plan()),
            {("kadm_plan_timestamp_seconds", ()): NOON_S, ("kadm_start_time_seconds", ()): NOON_S},
            id="times",
        ),
        pytest.param(
            a_snapshot(members=(a_member("eu", heard=""),)),
            {("kadm_start_time_seconds", ()): NOON_S},
            id="a time that is not known has no value",
        ),
    ],
)
def test_values(snapshot: Snapshot, want: dict[tuple[str, tuple[str, ...]], float]) -> None:
    names = {name for name, _ in want} | ({"kadm_member_heard_timestamp_seconds"} if len(want) == 1 else set())
    assert samples(snapshot, names) == want


def test_names_and_labels_are_as_prometheus_wants_them() -> None:
    for metric in METRICS:
        assert re.fullmatch(r"kadm_[a-z_]+[a-z]", metric.name), metric.name
        assert not metric.name.endswith("_total"), metric.name
        assert metric.help.endswith(".")
        assert set(metric.labels) <= {"member", "health", "action", "result", "code", "commit", "version"}


def test_the_text_format_holds_every_metric() -> None:
    text = exposition(registry(a_busy_fleet, process=False)).decode()
    families = {family.name: family for family in text_string_to_metric_families(text)}
    assert sorted(families) == sorted(metric.name for metric in METRICS)
    exposed = {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in families.values()
        for sample in family.samples
    }
    labels = {metric.exposed: metric.labels for metric in METRICS}
    assert exposed == {
        (name, frozenset(zip(labels[name], values, strict=True))): value
        for (name, values), value in samples(a_busy_fleet()).items()
    }


def test_two_daemons_in_one_process_share_nothing() -> None:
    first, second = registry(lambda: a_snapshot(fleet="a"), process=False), registry(lambda: a_snapshot(fleet="b"))
    assert b"process_resident_memory_bytes" not in exposition(first)
    assert b"process_resident_memory_bytes" in exposition(second)


def test_the_number_of_series_does_not_grow_with_workloads() -> None:
    assert len(samples(a_matrix(200, 3))) == len(samples(a_matrix(1, 3)))


def test_members_that_leave_take_their_series_along() -> None:
    def named(snapshot: Snapshot) -> set[str]:
        return {labels[0] for name, labels in samples(snapshot) if name.startswith("kadm_member_")}

    one: tuple[MemberView, ...] = (a_member("eu"),)
    assert (named(a_snapshot(workloads=())), named(a_snapshot(members=one, workloads=()))) == ({"eu", "us"}, {"eu"})


def test_held_back_without_a_member_is_counted() -> None:
    held = (HeldView(member="", object="the fleet", action=None, why="why", release="--allow-empty"),)
    assert samples(a_snapshot(held=held, members=()), {"kadm_held_changes"}) == {("kadm_held_changes", ("",)): 1}
