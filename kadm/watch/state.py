"""What the daemon knows, as one immutable value: what pages, metrics and commands are served from.

The loop publishes a new ``Snapshot`` whenever something changed; parts that did not change are the same objects as
before, so that a reader can tell by identity. No value of a Secret is in it: drift names fields, never what they hold.
Times are RFC 3339 in UTC, with seconds; empty where there is none.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Literal

from msgspec import Struct

from kadm.errors import Problem, Severity
from kadm.model.objects import JsonObject, ObjectKey
from kadm.model.observation import Ready
from kadm.model.plan import Action, Move, Summary
from kadm.model.status import FleetStatus, Health, WorkloadInMember, WorkloadStatus


class WatchCounts(Struct, frozen=True, kw_only=True):
    """What became of one member's watches since the daemon started.

    ``lists`` full lists, ``restarts`` watches begun anew without one, ``expired`` of them because the member forgot the
    place (410), ``silent`` watches that were given up because nothing came over them; ``failures`` requests that
    failed, each attempt, by one of ``members.connection.FAILURES``.
    """

    lists: int = 0
    restarts: int = 0
    expired: int = 0
    silent: int = 0
    failures: Mapping[str, int] = {}


class MemberView(Struct, frozen=True, kw_only=True):
    """One member. ``since`` is when it became what ``reachable`` says; ``problem`` says why it is not reachable.

    ``synced``: everything in it was read at least once. ``heard`` is its last answer, ``lag_s`` how long ago that was.
    ``pulse_s`` is how long it took to answer when it was asked last whether it is alive, None while it does not.
    ``commit`` is the last one applied there; ``objects`` counts what kadm recorded there.
    """

    name: str
    reachable: bool
    synced: bool = False
    since: str = ""
    problem: Problem | None = None
    version: str = ""
    ready: Ready = "Unknown"
    ready_reason: str = ""
    heard: str = ""
    lag_s: float = 0.0
    pulse_s: float | None = None
    suspended: bool = False
    commit: str = ""
    objects: int = 0
    drifted: int = 0
    counts: WatchCounts = WatchCounts()


class CopyView(Struct, frozen=True, kw_only=True):
    """One workload in one member.

    ``placed`` is what the scheduler gave it, None where it is not divided. ``stale_since``: nothing was heard of the
    member since then, and ``status`` is what was known last; empty: it is current. ``drift`` are the fields that are
    not as git says, as paths. ``estimated`` is what auto-migration believes that the member can run, None: all.
    """

    status: WorkloadInMember
    placed: int | None = None
    stale_since: str = ""
    drift: tuple[str, ...] = ()
    estimated: int | None = None

    @property
    def member(self) -> str:
        return self.status.member


class WorkloadView(Struct, frozen=True, kw_only=True):
    """One workload across all members, as if it were one. ``policy`` is what places it, empty: nothing does.

    ``labels`` are those in git. ``wanted`` is the total that git asks for, None where it is not divided. ``move`` is a
    move that goes on: its targets are not ready yet.
    """

    key: ObjectKey
    version: str
    health: Health
    labels: Mapping[str, str] = {}
    policy: str = ""
    wanted: int | None = None
    desired: int | None = None
    ready: int | None = None
    copies: tuple[CopyView, ...] = ()
    move: Move | None = None


class HeldView(Struct, frozen=True, kw_only=True):
    """What the daemon does not do by itself, why, and what releases it: a flag of ``kadm apply``, or what to mend."""

    member: str
    object: str
    action: Action | None
    why: str
    release: str


class PlanView(Struct, frozen=True, kw_only=True):
    """The last plan: when and why it was made, of which commit, and what it holds.

    ``changes`` counts by member. ``applied``: it was carried out, by this daemon. ``drift`` counts the changes that are
    only reported.
    """

    at: str
    because: tuple[str, ...] = ()
    commit: str = ""
    summary: Summary = Summary()
    changes: Mapping[str, int] = {}
    drift: int = 0
    moves: tuple[Move, ...] = ()
    applied: bool = False
    problems: tuple[Problem, ...] = ()


class SourceView(Struct, frozen=True, kw_only=True):
    """Where the desired state comes from. ``commit`` is in force since ``since``; ``seen`` is when it was last looked.

    ``problem`` says why it could not be looked at; the commit in force stays.
    """

    url: str
    branch: str = ""
    commit: str = ""
    since: str = ""
    seen: str = ""
    problem: Problem | None = None


class BrokenCommit(Struct, frozen=True, kw_only=True):
    """A newer commit that cannot be used, with everything that is wrong in it; the one before stays in force."""

    commit: str
    since: str
    problems: tuple[Problem, ...]


class WriterView(Struct, frozen=True, kw_only=True):
    """Who writes. ``here``: this daemon does. ``holder`` names who does, in words; empty: nobody does."""

    here: bool = False
    holder: str = ""
    since: str = ""


EventKind = Literal[
    "started",
    "commit",  # another commit is in force
    "broken",  # a commit cannot be used
    "source",  # git cannot be reached, or can again
    "writer",  # somebody else writes now
    "planned",
    "applied",
    "failed",  # a change was not carried out
    "held",  # something is held back
    "problem",  # something that a plan found, and that is not held back for it
    "drift",
    "lost",  # a member is not reachable any more
    "back",
    "migration",  # what auto-migration learned
    "moved",  # replicas that began to move, or have moved
    "failover",
    "files",  # the state directory or --status-dir cannot be used, or can again
]


class WatchEvent(Struct, frozen=True, kw_only=True):
    """Something that an operator wants to have read the next day. ``number`` rises by one with each."""

    number: int
    at: str
    kind: EventKind
    text: str
    severity: Severity | Literal["info"] = "info"
    member: str = ""
    object: str = ""


class Totals(Struct, frozen=True, kw_only=True):
    """What happened since the daemon started; never falls."""

    fetches: int = 0
    failed_fetches: int = 0
    rewrites: int = 0
    hooks: int = 0
    broken_commits: int = 0
    plans: int = 0
    failed_plans: int = 0
    applies: int = 0
    changes: int = 0
    failed_changes: int = 0
    migrations: int = 0
    failovers: int = 0
    last_plan_s: float = 0.0
    """How long the last plan took, carrying it out included."""


class Snapshot(Struct, frozen=True, kw_only=True):
    """Everything that the daemon knows at one moment. ``members`` and ``workloads`` are sorted.

    ``ready``: a commit is in force, and every member was read in full or found unreachable. ``version`` rises by one
    with each snapshot.
    """

    version: int
    at: str
    started: str
    fleet: str = ""
    ready: bool = False
    drift_mode: Literal["correct", "report"] = "correct"
    source: SourceView
    broken: BrokenCommit | None = None
    writer: WriterView = WriterView()
    members: tuple[MemberView, ...] = ()
    workloads: tuple[WorkloadView, ...] = ()
    plan: PlanView | None = None
    held: tuple[HeldView, ...] = ()
    events: tuple[WatchEvent, ...] = ()
    """The latest, oldest first."""
    totals: Totals = Totals()

    @property
    def status(self) -> FleetStatus:
        """The same workloads as ``kadm status`` shows them, without native objects."""
        return FleetStatus(
            fleet=self.fleet,
            workloads=tuple(
                WorkloadStatus(
                    key=one.key,
                    version=one.version,
                    health=one.health,
                    desired=one.desired,
                    ready=one.ready,
                    members=tuple(copy.status for copy in one.copies),
                )
                for one in self.workloads
            ),
            unread={one.name: one.problem for one in self.members if one.problem is not None},
        )


class Board:
    """Where the loop publishes snapshots, and everybody else reads them. Belongs to one event loop.

    ``native`` gives a workload as a native object with its aggregated ``.status``, or None where it is not known.
    """

    def __init__(self, first: Snapshot, native: Callable[[ObjectKey], JsonObject | None] = lambda _key: None) -> None:
        self.native = native
        self._latest = first
        self._next = asyncio.Event()
        self._closed = False

    @property
    def latest(self) -> Snapshot:
        return self._latest

    def publish(self, snapshot: Snapshot) -> None:
        """Put a snapshot in place of the latest one."""
        self._latest = snapshot
        self._wake()

    def close(self) -> None:
        """End every subscription."""
        self._closed = True
        self._wake()

    async def subscribe(self) -> AsyncIterator[Snapshot]:
        """The latest snapshot at once, then each newer one, until the board closes.

        Whoever is slow misses the ones in between, never the last.
        """
        seen: Snapshot | None = None
        while not self._closed:
            following = self._next
            if self._latest is not seen:
                seen = self._latest
                yield seen
            else:
                await following.wait()

    def _wake(self) -> None:
        self._next.set()
        self._next = asyncio.Event()
