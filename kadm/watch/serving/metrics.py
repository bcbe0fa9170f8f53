"""``/metrics``: what the daemon knows, as Prometheus reads it. Computed from the latest snapshot when it is asked for.

``METRICS`` is the whole vocabulary. Labels take values from closed sets, or are members: there is no metric per
workload, for 10,000 workloads in 500 members would be millions of series. The page and the JSON API tell of those.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from datetime import UTC, datetime
from typing import Literal, get_args

from msgspec import Struct
from prometheus_client import CollectorRegistry, ProcessCollector, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from kadm import __version__
from kadm.model.status import HealthCode
from kadm.watch.state import MemberView, Snapshot

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

Sample = tuple[tuple[str, ...], float]
"""Values of the labels, and the value."""


class Described(Struct, frozen=True, kw_only=True):
    """One metric. ``name`` of a counter is without ``_total``, which is what it is exposed with."""

    name: str
    type: Literal["gauge", "counter"]
    help: str
    labels: tuple[str, ...] = ()
    of: Callable[[Snapshot], Iterable[Sample]]

    @property
    def exposed(self) -> str:
        """The name as queries use it."""
        return f"{self.name}_total" if self.type == "counter" else self.name


HEALTH: tuple[HealthCode, ...] = get_args(HealthCode)
ACTIONS = ("create", "update", "delete", "adopt", "release", "own", "recreate")


def _one(value: float | None) -> list[Sample]:
    return [] if value is None else [((), float(value))]


def _time(text: str) -> float | None:
    """Seconds since the epoch of an RFC 3339 time; None where there is none."""
    if not text:
        return None
    moment = datetime.fromisoformat(text)
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def _members(value: Callable[[MemberView], float | None]) -> Callable[[Snapshot], Iterable[Sample]]:
    """One sample per member; none where ``value`` gives None."""

    def samples(snapshot: Snapshot) -> Iterator[Sample]:
        for member in snapshot.members:
            found = value(member)
            if found is not None:
                yield (member.name,), float(found)

    return samples


def _workloads(snapshot: Snapshot) -> Iterator[Sample]:
    counted = Counter(one.health.code for one in snapshot.workloads)
    for code in HEALTH:
        yield (code,), counted[code]


def _copies(snapshot: Snapshot) -> Iterator[Sample]:
    counted = Counter((copy.member, copy.status.health.code) for one in snapshot.workloads for copy in one.copies)
    yield from sorted(counted.items())


def _replicas(field: Literal["desired", "ready"]) -> Callable[[Snapshot], Iterable[Sample]]:
    def samples(snapshot: Snapshot) -> Iterator[Sample]:
        counted: Counter[str] = Counter({one.name: 0 for one in snapshot.members})
        for workload in snapshot.workloads:
            for copy in workload.copies:
                counted[copy.member] += (copy.status.desired if field == "desired" else copy.status.ready) or 0
        for member, count in sorted(counted.items()):
            yield (member,), count

    return samples


def _failures(snapshot: Snapshot) -> Iterator[Sample]:
    for member in snapshot.members:
        for code, count in sorted(member.counts.failures.items()):
            yield (member.name, code), count


def _held(snapshot: Snapshot) -> Iterator[Sample]:
    counted: Counter[str] = Counter({one.name: 0 for one in snapshot.members})
    counted.update(one.member for one in snapshot.held)
    for member, count in sorted(counted.items()):
        yield (member,), count


def _planned(snapshot: Snapshot) -> Iterator[Sample]:
    if snapshot.plan is not None:
        for action in ACTIONS:
            yield (action,), getattr(snapshot.plan.summary, action)


def _results(ok: int, failed: int) -> list[Sample]:
    return [(("failed",), failed), (("ok",), ok)]


METRICS: tuple[Described, ...] = (
    Described(
        name="kadm_build_info",
        type="gauge",
        help="1; the version is the label.",
        labels=("version",),
        of=lambda _: [((__version__,), 1)],
    ),
    Described(
        name="kadm_start_time_seconds",
        type="gauge",
        help="When the daemon started, in seconds since the epoch.",
        of=lambda one: _one(_time(one.started)),
    ),
    Described(
        name="kadm_ready",
        type="gauge",
        help="1 while a commit is in force and every member was read in full or found unreachable.",
        of=lambda one: _one(one.ready),
    ),
    Described(
        name="kadm_writer",
        type="gauge",
        help="1 in the daemon that writes; of several that run, one does.",
        of=lambda one: _one(one.writer.here),
    ),
    Described(
        name="kadm_commit_info",
        type="gauge",
        help="1; the commit in force is the label.",
        labels=("commit",),
        of=lambda one: [((one.source.commit,), 1)] if one.source.commit else [],
    ),
    Described(
        name="kadm_commit_timestamp_seconds",
        type="gauge",
        help="Since when the commit is in force, in seconds since the epoch.",
        of=lambda one: _one(_time(one.source.since)),
    ),
    Described(
        name="kadm_commit_broken",
        type="gauge",
        help="1 while a newer commit cannot be used, and the one before stays in force.",
        of=lambda one: _one(one.broken is not None),
    ),
    Described(
        name="kadm_broken_commits",
        type="counter",
        help="Commits that could not be used.",
        of=lambda one: _one(one.totals.broken_commits),
    ),
    Described(
        name="kadm_source_up",
        type="gauge",
        help="1 while the repository can be looked at.",
        of=lambda one: _one(one.source.problem is None),
    ),
    Described(
        name="kadm_source_seen_timestamp_seconds",
        type="gauge",
        help="When the repository was looked at last, in seconds since the epoch.",
        of=lambda one: _one(_time(one.source.seen)),
    ),
    Described(
        name="kadm_source_fetches",
        type="counter",
        help="Looks at the repository.",
        labels=("result",),
        of=lambda one: _results(one.totals.fetches, one.totals.failed_fetches),
    ),
    Described(
        name="kadm_source_rewrites",
        type="counter",
        help="Times that the branch did not go on from the commit seen before (a force-push).",
        of=lambda one: _one(one.totals.rewrites),
    ),
    Described(
        name="kadm_source_hooks",
        type="counter",
        help="Webhooks of the git server that were heeded.",
        of=lambda one: _one(one.totals.hooks),
    ),
    Described(
        name="kadm_member_up",
        type="gauge",
        help="1 while the member answers.",
        labels=("member",),
        of=_members(lambda one: one.reachable),
    ),
    Described(
        name="kadm_member_synced",
        type="gauge",
        help="1 once everything in the member was read.",
        labels=("member",),
        of=_members(lambda one: one.synced),
    ),
    Described(
        name="kadm_member_ready",
        type="gauge",
        help="1 while the member says that it is ready; absent where that is not known.",
        labels=("member",),
        of=_members(lambda one: {"True": 1.0, "False": 0.0}.get(one.ready)),
    ),
    Described(
        name="kadm_member_suspended",
        type="gauge",
        help="1 while nothing is written to the member because git says so.",
        labels=("member",),
        of=_members(lambda one: one.suspended),
    ),
    Described(
        name="kadm_member_heard_timestamp_seconds",
        type="gauge",
        help="When the member answered last, in seconds since the epoch.",
        labels=("member",),
        of=_members(lambda one: _time(one.heard)),
    ),
    Described(
        name="kadm_member_pulse_duration_seconds",
        type="gauge",
        help="How long the member took to answer when it was asked last whether it is alive; absent while it does not.",
        labels=("member",),
        of=_members(lambda one: one.pulse_s),
    ),
    Described(
        name="kadm_member_objects",
        type="gauge",
        help="Objects that kadm recorded in the member.",
        labels=("member",),
        of=_members(lambda one: one.objects),
    ),
    Described(
        name="kadm_member_drifted_objects",
        type="gauge",
        help="Objects of the member that are not as git says.",
        labels=("member",),
        of=_members(lambda one: one.drifted),
    ),
    Described(
        name="kadm_member_lists",
        type="counter",
        help="Full lists of one type in the member.",
        labels=("member",),
        of=_members(lambda one: one.counts.lists),
    ),
    Described(
        name="kadm_member_watch_restarts",
        type="counter",
        help="Watches that were begun anew without a full list.",
        labels=("member",),
        of=_members(lambda one: one.counts.restarts),
    ),
    Described(
        name="kadm_member_watch_expired",
        type="counter",
        help="Watches whose place the member had forgotten (410).",
        labels=("member",),
        of=_members(lambda one: one.counts.expired),
    ),
    Described(
        name="kadm_member_watch_silent",
        type="counter",
        help="Watches that were given up because nothing came over them (a half-open connection), and begun anew.",
        labels=("member",),
        of=_members(lambda one: one.counts.silent),
    ),
    Described(
        name="kadm_member_request_failures",
        type="counter",
        help="Requests that failed, each attempt; code is an HTTP status, timeout, unreachable, or garbled.",
        labels=("member", "code"),
        of=_failures,
    ),
    Described(
        name="kadm_member_replicas_desired",
        type="gauge",
        help="Replicas that the member is to run, over all workloads.",
        labels=("member",),
        of=_replicas("desired"),
    ),
    Described(
        name="kadm_member_replicas_ready",
        type="gauge",
        help="Replicas that are ready in the member, as known last, over all workloads.",
        labels=("member",),
        of=_replicas("ready"),
    ),
    Described(
        name="kadm_copies",
        type="gauge",
        help="Workloads in the member, by health; a member and health without any has no series.",
        labels=("member", "health"),
        of=_copies,
    ),
    Described(
        name="kadm_workloads",
        type="gauge",
        help="Workloads across all members, by health.",
        labels=("health",),
        of=_workloads,
    ),
    Described(
        name="kadm_moves",
        type="gauge",
        help="Workloads whose replicas move between members now.",
        of=lambda one: _one(sum(workload.move is not None for workload in one.workloads)),
    ),
    Described(
        name="kadm_held_changes",
        type="gauge",
        help="Changes that a guard holds back until somebody releases them.",
        labels=("member",),
        of=_held,
    ),
    Described(
        name="kadm_plans",
        type="counter",
        help="Plans that were made.",
        labels=("result",),
        of=lambda one: _results(one.totals.plans, one.totals.failed_plans),
    ),
    Described(
        name="kadm_plan_timestamp_seconds",
        type="gauge",
        help="When the last plan was made, in seconds since the epoch.",
        of=lambda one: _one(_time(one.plan.at) if one.plan is not None else None),
    ),
    Described(
        name="kadm_plan_duration_seconds",
        type="gauge",
        help="How long the last plan took, carrying it out included.",
        of=lambda one: _one(one.totals.last_plan_s),
    ),
    Described(
        name="kadm_plan_changes",
        type="gauge",
        help="Changes in the last plan, by action.",
        labels=("action",),
        of=_planned,
    ),
    Described(
        name="kadm_applies",
        type="counter",
        help="Plans that were carried out.",
        of=lambda one: _one(one.totals.applies),
    ),
    Described(
        name="kadm_changes",
        type="counter",
        help="Changes that were carried out in members.",
        labels=("result",),
        of=lambda one: _results(one.totals.changes, one.totals.failed_changes),
    ),
    Described(
        name="kadm_migrations",
        type="counter",
        help="Times that auto-migration moved replicas a member could not run.",
        of=lambda one: _one(one.totals.migrations),
    ),
    Described(
        name="kadm_failovers",
        type="counter",
        help="Times that a workload left a lost member.",
        of=lambda one: _one(one.totals.failovers),
    ),
)


def registry(latest: Callable[[], Snapshot], *, process: bool = True) -> CollectorRegistry:
    """A registry of one daemon's metrics; ``process`` adds memory, CPU and open files of this process (Linux)."""
    found = CollectorRegistry(auto_describe=False)
    found.register(_Latest(latest))
    if process:
        ProcessCollector(registry=found)
    return found


def exposition(of: CollectorRegistry) -> bytes:
    """All metrics in the text format."""
    return generate_latest(of)


def samples(snapshot: Snapshot, names: Collection[str] | None = None) -> dict[tuple[str, tuple[str, ...]], float]:
    """(exposed name, values of the labels) → value; of all metrics, or of those named."""
    return {
        (metric.exposed, labels): value
        for metric in METRICS
        if names is None or metric.exposed in names
        for labels, value in metric.of(snapshot)
    }


class _Latest(Collector):
    """Computes every metric from the snapshot that is the latest when somebody asks."""

    def __init__(self, latest: Callable[[], Snapshot]) -> None:
        self._latest = latest

    def collect(self) -> Iterator[Metric]:
        snapshot = self._latest()
        for metric in METRICS:
            family: CounterMetricFamily | GaugeMetricFamily
            if metric.type == "counter":
                family = CounterMetricFamily(metric.name, metric.help, labels=metric.labels)
            else:
                family = GaugeMetricFamily(metric.name, metric.help, labels=metric.labels)
            for labels, value in metric.of(snapshot):
                family.add_metric(labels, value)
            yield family
