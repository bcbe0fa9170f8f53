"""The daemon: it follows git, watches every member, plans when something changed, and applies what no guard holds back.

    git ──► what is in force ──┐
    members ──► watches ───────┼──► triggers ──► plan and apply ──► what is shown
    pods that do not fit ──────┘    (pipeline and execute, as the commands do)

Everything is read before anything is written: the first plan waits until each member was read in full, or found
unreachable. One plan or apply runs at a time; everything else goes on meanwhile.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from kadm.errors import KadmError, Problem
from kadm.execute import Delivery, Locked, deliver
from kadm.execute.stop import Stop
from kadm.members.connection import Connection
from kadm.model.applyset import applyset_id
from kadm.model.decision import Decision
from kadm.model.objects import JsonObject, ObjectKey
from kadm.model.plan import Move
from kadm.model.planned import Planned
from kadm.model.repository import Manifest, Repo
from kadm.model.workload import workload_kind
from kadm.pipeline import Choices
from kadm.watch.election import EVERY_S, Election
from kadm.watch.links import Links
from kadm.watch.member import MemberWatch
from kadm.watch.migrator import Migrator
from kadm.watch.outcome import Drifted, drifted, held_views, plan_view, unfinished
from kadm.watch.pausing import Failures
from kadm.watch.seen import Seen
from kadm.watch.source import Source, SourceError
from kadm.watch.state import (
    Board,
    BrokenCommit,
    HeldView,
    MemberView,
    PlanView,
    Snapshot,
    SourceView,
    Totals,
    WorkloadView,
    WriterView,
)
from kadm.watch.status_files import StatusFiles
from kadm.watch.store import Kept, Store
from kadm.watch.trail import Trail, time_text
from kadm.watch.triggers import Triggers
from kadm.watch.views import Known, pods_of, view

_log = logging.getLogger(__name__)

READY_WITHIN_S = 20.0
"""How long an apply waits for what it changed, unless there is something else to do: watches see what comes later, and
a move is resumed when it has come."""

LOCK_TIMEOUT_S = 5.0
PUBLISH_EVERY_S = 0.1
TICK_S = 1.0
SHOW_AGE_EVERY_S = 10.0
SAVE_EVERY_S = 5.0
SHORTEST_PAUSE_S = 0.2
LONGEST_PAUSE_S = 10.0
LISTS_AT_A_TIME = 16
VIEWS_AT_A_TIME = 100
RESIGN_WITHIN_S = 0.5

VERIFY = "to see that nothing is left to do"
RETRY = "not everything was done"


class WatchOptions(Struct, frozen=True, kw_only=True):
    """How the daemon works. ``drift`` says what becomes of what others change in members."""

    interval_s: float = 30.0
    drift: Literal["correct", "report"] = "correct"
    once: bool = False
    status_dir: Path | None = None
    request_timeout_s: float = 15.0
    parallel: int = 32


class Daemon:
    """One daemon. ``board`` is what it shows, ``run`` all that it does."""

    def __init__(self, source: Source, store: Store, kept: Kept, options: WatchOptions) -> None:
        self.options = options
        self.links = Links(request_timeout_s=options.request_timeout_s, parallel=options.parallel)
        self._source = source
        self._store = store
        self._trail = Trail(kept.events)
        self._triggers = Triggers()
        self._stop = Stop()
        self._ending = False
        self._planning_s = 0.0
        self._poke = asyncio.Event()
        self._started = _now_text()
        self._repo: Repo | None = None
        self._manifests: dict[ObjectKey, Manifest] = {}
        self._loaded = asyncio.Event()
        self._tried = ""
        self._source_view = SourceView(url=source.url, branch=source.branch)
        self._broken: BrokenCommit | None = None
        self._watches: dict[str, MemberWatch] = {}
        self._watching: dict[str, asyncio.Task[None]] = {}
        self._lists = asyncio.Semaphore(LISTS_AT_A_TIME)
        self._election: Election | None = None
        self._migrator = Migrator(self)
        self._planned: Planned | None = None
        self._plan_view: PlanView | None = None
        self._held: tuple[HeldView, ...] = ()
        self._drifted: Drifted = {}
        self._moving: dict[ObjectKey, Move] = {}
        self._idle = asyncio.Event()
        self._idle.set()
        self._ready = False
        self._views: dict[ObjectKey, WorkloadView] = {}
        self._holders: dict[ObjectKey, set[str]] = {}
        self._dirty: set[ObjectKey] = set()
        self._changed = asyncio.Event()
        self._ill_since: dict[str, float] = {}
        self._totals = Totals()
        self._delivery: Delivery | None = None
        self.board = Board(self._snapshot(1), self.native)
        self._group: asyncio.TaskGroup | None = None

    # What the migrator is told (``migrator.Ground``).

    @property
    def repo(self) -> Repo | None:
        return self._repo

    @property
    def watches(self) -> Mapping[str, MemberWatch]:
        return self._watches

    @property
    def writing(self) -> bool:
        return self._election is not None and self._election.view.here

    def manifest(self, key: ObjectKey) -> Manifest | None:
        return self._manifests.get(key)

    def decision(self, key: ObjectKey) -> Decision | None:
        return self._planned.decisions.by_key.get(key) if self._planned is not None else None

    def moving(self, key: ObjectKey) -> bool:
        return key in self._moving

    def migrated(self, member: str, key: ObjectKey, text: str) -> None:
        self._totals = replace(self._totals, migrations=self._totals.migrations + 1)
        self._trail.add("migration", text, member=member, about=str(key))
        self._hurry(f"{key} in {member}: {text}")
        self._show(key)

    def failed_over(self, member: str, key: ObjectKey, text: str) -> None:
        self._totals = replace(self._totals, failovers=self._totals.failovers + 1)
        self._trail.add("failover", text, severity="warning", member=member, about=str(key))
        self._hurry(text)

    def doubts(self, text: str) -> None:
        self._trail.add("failover", f"nothing fails over: {text}", severity="warning")

    # What members tell (``member.Told``).

    def changed(self, member: str, key: ObjectKey, before: Seen | None, now: Seen | None) -> None:
        holders = self._holders.setdefault(key, set())
        if now is None:
            holders.discard(member)
            if not holders:
                del self._holders[key]
        else:
            holders.add(member)
        if key in self._manifests and workload_kind(key.group, key.kind) is not None:
            self._show(key)
            self._migrator.touch(member, key)
            if key in self._moving and member in self._moving[key].arrives:
                self._triggers.later(f"the move of {key} may go on", 0.5)
        if self._watches[member].synced and _mark(before) != _mark(now):
            self._triggers.add(f"{key} changed in {member}")

    def record_changed(self, member: str) -> None:
        self._migrator.forget(member)
        if self._idle.is_set():
            self._triggers.add(f"kadm's record in {member} was written")

    def pods_changed(self, member: str) -> None:
        pods = self._watches[member].pods.values()
        namespaces = {pod["metadata"].get("namespace") for pod in pods}
        for key, shown in self._views.items():
            if shown.health.code != "Healthy" and (key.namespace in namespaces or not pods):
                self._show(key)
                self._migrator.touch(member, key)

    def synced(self, member: str) -> None:
        if not self._ready:
            return
        self._trail.add("back", "it answers, and everything in it was read", member=member)
        self._migrator.forget(member)
        self._triggers.add(f"{member} is back")
        self._migrator.touch_all()
        self._show_all()

    def lost(self, member: str, problem: Problem) -> None:
        why = f"{problem.what}: {problem.why}" if problem.why else problem.what
        self._trail.add("lost", why, severity="warning", member=member)
        self._migrator.forget(member)
        self._migrator.touch_lost()
        self._show_all()

    # What the command asks.

    def native(self, key: ObjectKey) -> JsonObject | None:
        """A workload as a native object with its aggregated status; None where the repository has none."""
        manifest = self._manifests.get(key)
        if manifest is None:
            return None
        _, status = view(manifest, self._known(key), now=_now_text())
        return status.aggregated

    def reload(self) -> None:
        """Look at git now, and try lost members now."""
        self._poke.set()
        for watch in self._watches.values():
            if watch.problem is not None:
                watch.try_now()

    async def idle(self, *, within_s: float) -> None:
        """Return when nothing is planned or applied, or after so long."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(within_s):
                await self._idle.wait()

    def end(self) -> None:
        """Begin nothing more; what was sent is waited for while the process is given time."""
        self._ending = True
        self._stop.ask()
        self._save()

    async def run(self) -> Delivery | None:
        """Work until cancelled; with ``once`` until the first plan was carried out, which is returned.

        Raises KadmError with ``once`` where nothing could be planned.
        """
        self._trail.add("started", f"following {self._source.url}")
        try:
            async with asyncio.TaskGroup() as group:
                self._group = group
                work = [
                    group.create_task(self._follow(), name="follow"),
                    group.create_task(self._migrator.run(), name="migrate"),
                    group.create_task(self._publish(), name="publish"),
                ]
                await self._work()
                for task in (*work, *self._watching.values()):
                    task.cancel()
        except BaseExceptionGroup as failures:
            raise failures.exceptions[0] from failures
        finally:
            await self._leave()
        return self._delivery

    async def _leave(self) -> None:
        """Give back what is held, close what is open, keep what is to be kept."""
        try:
            async with asyncio.timeout(RESIGN_WITHIN_S):
                if self._election is not None:
                    await self._election.resign()
                await self.links.close()
        except TimeoutError:
            _log.info("the Leases could not be given back in time: they expire")
        self._save()
        self.board.close()

    # Following git.

    async def _follow(self) -> None:
        """Look for a newer commit again and again, and put it in force where it can be used."""
        failures = Failures(first_s=2.0, longest_s=max(self.options.interval_s, 2.0))
        kept = await self._kept()
        while True:
            wait_s = self.options.interval_s
            try:
                state = await self._source.look()
            except SourceError as error:
                self._source_failed(error.problem)
                wait_s = failures.another()
                if self._repo is None and kept:
                    await self._take(kept)
            else:
                failures.none()
                self._source_seen()
                if state != self._tried:
                    await self._take(state)
                    if self._repo is None and kept and kept != state:
                        await self._take(kept, older=True)
                    self._tried = state
            if self.options.once and self._repo is None:
                raise self._nothing_to_plan()
            self._poke.clear()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(wait_s):
                    await self._poke.wait()

    async def _kept(self) -> str:
        try:
            return await self._source.kept()
        except SourceError as error:
            _log.info("what was in force is not known: %s", error.problem.what)
            return ""

    def _source_seen(self) -> None:
        if self._source_view.problem is not None:
            self._trail.add("source", f"{self._source.url} can be reached again")
        self._source_view = replace(self._source_view, problem=None, seen=_now_text())
        self._totals = replace(self._totals, fetches=self._totals.fetches + 1)
        self._changed.set()

    def _source_failed(self, problem: Problem) -> None:
        known = self._source_view.problem
        if known is None or known.what != problem.what:
            self._trail.add("source", str(problem), severity="error")
        self._source_view = replace(self._source_view, problem=problem)
        self._totals = replace(self._totals, failed_fetches=self._totals.failed_fetches + 1)
        self._changed.set()

    def _nothing_to_plan(self) -> KadmError:
        problem = self._broken.problems[0] if self._broken is not None else self._source_view.problem
        assert problem is not None, "it is broken, or could not be looked at"
        return KadmError(problem.what, where=problem.where, object=problem.object, why=problem.why, hint=problem.hint)

    async def _take(self, state: str, *, older: bool = False) -> None:
        """Put a state in force, if it can be used; else report it, and leave in force what is."""
        try:
            repo = await asyncio.to_thread(self._source.load, state)
            if not repo.clusters:
                raise KadmError("the fleet has no members", hint="kadm join NAME --context CONTEXT adds one")
        except KadmError as error:
            self._broken = BrokenCommit(commit=state, since=_now_text(), problems=error.problems)
            self._totals = replace(self._totals, broken_commits=self._totals.broken_commits + 1)
            more = len(error.problems) - 1
            text = f"commit {state[:12]} cannot be used: {error.problem}" + (f", and {more} more" if more else "")
            self._trail.add("broken", text, severity="error")
            self._changed.set()
            return
        if not older:
            self._broken = None
        commit = str(repo.revision) if repo.revision is not None else ""
        with contextlib.suppress(SourceError):  # a restarted daemon then begins with another commit, that is all
            await self._source.keep(state)
        self._source_view = replace(self._source_view, commit=commit, since=_now_text())
        self._trail.add("commit", f"commit {commit[:12] or state[:12]} is in force")
        self._put_in_force(repo)

    def _put_in_force(self, repo: Repo) -> None:
        before = self._repo
        self._repo = repo
        self._manifests = {manifest.key: manifest for manifest in repo.manifests}
        self.links.use(repo)
        names = [cluster.name for cluster in repo.clusters]
        if before is not None and before.fleet.name != repo.fleet.name:
            for name in list(self._watches):
                self._unwatch(name)
        for name in self._watches.keys() - set(names):
            self._unwatch(name)
        for name in names:
            if name not in self._watches:
                self._watch(name, repo)
        if self._election is None or self._election.fleet != repo.fleet.name:
            self._election = Election(repo.fleet.name, self.links, self._writer_changed)
        self._election.electors = names
        for warning in repo.warnings:
            _log.warning("%s", warning)
        self._loaded.set()
        if self._ready:
            self._hurry("another commit is in force")
        self._migrator.touch_all()
        self._views = {key: shown for key, shown in self._views.items() if key in self._manifests}
        self._show_all()

    def _watch(self, name: str, repo: Repo) -> None:
        assert self._group is not None, "it runs"

        async def connect() -> Connection:
            if watch.problem is not None:
                self.links.renew(name)
            return await self.links.reader(name)

        set_id = applyset_id(repo.fleet.record_name)
        watch = MemberWatch(repo.fleet.name, name, connect, self, set_id=set_id, lists=self._lists)
        self._watches[name] = watch
        self._watching[name] = self._group.create_task(watch.run(), name=f"member {name}")

    def _unwatch(self, name: str) -> None:
        self._watching.pop(name).cancel()
        gone = self._watches.pop(name)
        self._migrator.forget(name)
        self.links.renew(name)
        for key in gone.objects:
            self._holders.get(key, set()).discard(name)

    def _writer_changed(self) -> None:
        assert self._election is not None, "it has just changed"
        holder = self._election.view.holder
        self._trail.add("writer", f"{holder} writes" if holder else "nobody writes")
        self._triggers.add("who writes changed")
        self._migrator.touch_all()
        self._changed.set()

    # Planning and applying.

    def _hurry(self, reason: str) -> None:
        """Plan again for this reason; an apply that only waits for what it changed does not wait any longer."""
        self._triggers.add(reason)
        if self._stop.working:
            self._stop.ask()

    async def _work(self) -> None:
        """Plan and apply whenever there is a reason to, for ever; with ``once`` as often as it takes."""
        assert self._group is not None, "it runs"
        await self._loaded.wait()
        await asyncio.gather(*(watch.first_try.wait() for watch in self._watches.values()))
        self._ready = True
        assert self._election is not None, "a commit is in force"
        await self._election.round()
        electing = self._group.create_task(self._elect(), name="elect")
        self._triggers.add("start")
        failures, busy = Failures(first_s=2.0, longest_s=300.0), Failures(first_s=1.0, longest_s=300.0)
        loop = asyncio.get_running_loop()
        while True:
            reasons = await self._triggers.wait()
            began = loop.time()
            self._idle.clear()
            self._stop = Stop()
            try:
                clean, changed = await self._cycle(reasons)
            except KadmError as error:
                if self.options.once:
                    raise
                clean, changed = False, False
                self._failed(error)
            finally:
                self._idle.set()
                self._migrator.touch_all()
                self._show_all()
            took_s = loop.time() - began
            self._totals = replace(self._totals, last_plan_s=round(took_s, 3))
            if self.options.once and (clean or not changed):
                electing.cancel()
                return
            if changed:
                self._triggers.later(VERIFY, busy.another())
            else:
                busy.none()
                self._triggers.not_later(VERIFY)
            if clean:
                failures.none()
                self._triggers.not_later(RETRY)
            else:
                self._triggers.later(RETRY, failures.another())
            await self.links.sweep()
            await asyncio.sleep(min(max(self._planning_s, SHORTEST_PAUSE_S), LONGEST_PAUSE_S))

    async def _elect(self) -> None:
        while True:
            election = self._election
            assert election is not None, "a commit is in force"
            await asyncio.sleep(EVERY_S)
            await election.round()

    def _failed(self, error: KadmError) -> None:
        self._totals = replace(self._totals, failed_plans=self._totals.failed_plans + 1)
        severity: Literal["warning", "error"] = "warning" if isinstance(error, Locked) else "error"
        self._trail.add("failed", str(error.problem), severity=severity)

    async def _cycle(self, reasons: tuple[str, ...]) -> tuple[bool, bool]:
        """One plan, and its apply where this daemon writes: whether nothing is left to be done by itself, and whether
        something was changed. Raises KadmError where nothing could be planned, or another run holds a member."""
        repo = self._repo
        assert repo is not None, "a commit is in force"
        _log.info("planning: %s", "; ".join(reasons))
        lost = {name: watch.problem for name, watch in self._watches.items() if watch.problem is not None}
        pool = await self.links.pool(repo.fleet.name, lost=lost)

        began_s = asyncio.get_running_loop().time()

        async def accept(planned: Planned, why_again: str) -> bool:
            self._planning_s = asyncio.get_running_loop().time() - began_s
            if why_again:
                _log.info("%s", why_again)
            self._note_plan(planned, reasons)
            return self.writing and not self._ending

        delivery = await deliver(
            repo,
            pool,
            Choices(leave_drift=self.options.drift == "report"),
            accept=accept,
            timeout_s=READY_WITHIN_S,
            lock_timeout_s=LOCK_TIMEOUT_S,
            stop=self._stop,
        )
        self._delivery = delivery
        return self._note_report(delivery)

    def _note_plan(self, planned: Planned, reasons: tuple[str, ...]) -> None:
        """Take in a plan: what is shown, what is watched, what has drifted and what is held back since the last."""
        plan = planned.plan
        self._planned = planned
        self._totals = replace(self._totals, plans=self._totals.plans + 1)
        found = drifted(planned)
        for key, by_member in sorted(found.items()):
            for member, fields in by_member.items():
                if fields != self._drifted.get(key, {}).get(member):
                    text = f"it is not as git says: {', '.join(fields)}"
                    self._trail.add("drift", text, severity="warning", member=member, about=str(key))
        self._drifted = found
        held = held_views(planned)
        for one in held:
            if one not in self._held:
                text = f"held back ({one.action or 'change'}): {one.why}; released by: {one.release}"
                self._trail.add("held", text, severity="warning", member=one.member, about=one.object)
        self._held = held
        self._plan_view = plan_view(planned, reasons, at=_now_text())
        for move in plan.moves:
            if move.key not in self._moving:
                self._trail.add("moved", _move_text(move, "begin to move"), about=str(move.key))
        gone = [key for key in self._moving if key not in {move.key for move in plan.moves}]
        for key in gone:
            self._trail.add("moved", "its replicas have moved", about=str(key))
            del self._moving[key]
        self._moving |= {move.key: move for move in plan.moves}
        self._want(planned)
        self._show_all()

    def _note_report(self, delivery: Delivery) -> tuple[bool, bool]:
        """Take in what became of a plan."""
        planned, report = delivery.planned, delivery.report
        if report is None:
            return True, False
        done = [one for one in report.results if one.result in ("done", "not ready")]
        left = [one for one in report.results if one.result in ("failed", "skipped", "held")]
        self._totals = replace(
            self._totals,
            applies=self._totals.applies + bool(report.results),
            changes=self._totals.changes + len(done),
            failed_changes=self._totals.failed_changes + sum(one.result == "failed" for one in report.results),
        )
        if done:
            self._trail.add("applied", f"{len(done)} of {len(planned.plan.changes)} changes are done")
        for result in report.results:
            if result.result in ("failed", "not ready") and result.problem is not None:
                problem = result.problem
                text = f"{problem.what}: {problem.why}" if problem.why else problem.what
                self._trail.add(
                    "failed", text, severity="warning", member=result.change.cluster, about=str(result.change.key)
                )
        if self._plan_view is not None:
            self._plan_view = replace(self._plan_view, applied=True)
        moving = unfinished(planned, report)
        for key in [key for key in self._moving if key not in moving]:
            del self._moving[key]
            self._trail.add("moved", "its replicas have moved", about=str(key))
        self._held = held_views(planned, report)
        return not left and not moving, bool(done)

    def _want(self, planned: Planned) -> None:
        """Watch the types that are in use."""
        for name, watch in self._watches.items():
            desired = planned.desired.members.get(name)
            kinds = {(one.key.group, one.version, one.key.kind) for one in desired.objects} if desired else set()
            watch.want(kinds, pods=name in self._ill_since)

    # Showing.

    def _show(self, key: ObjectKey) -> None:
        self._dirty.add(key)
        self._changed.set()

    def _show_all(self) -> None:
        self._dirty |= {key for key in self._manifests if workload_kind(key.group, key.kind) is not None}
        self._changed.set()

    async def _publish(self) -> None:
        """Show what changed, soon after it changed; and from time to time how old everything is."""
        files = StatusFiles(self.options.status_dir) if self.options.status_dir is not None else None
        loop = asyncio.get_running_loop()
        shown_at = saved_at = loop.time()
        saved = self._trail.number
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(TICK_S):
                    await self._changed.wait()
            self._look_for_ill()
            if self._changed.is_set() or loop.time() - shown_at >= SHOW_AGE_EVERY_S:
                self._changed.clear()
                await self._rebuild(files)
                self.board.publish(self._snapshot(self.board.latest.version + 1))
                shown_at = loop.time()
            if self._trail.number != saved and loop.time() - saved_at >= SAVE_EVERY_S:
                saved, saved_at = self._trail.number, loop.time()
                await asyncio.to_thread(self._save)
            await asyncio.sleep(PUBLISH_EVERY_S)

    async def _rebuild(self, files: StatusFiles | None) -> None:
        """Make the views of what changed anew, and write their files."""
        dirty, self._dirty = sorted(self._dirty), set()
        now = _now_text()
        natives: dict[ObjectKey, JsonObject] = {}
        for number, key in enumerate(dirty, 1):
            manifest = self._manifests.get(key)
            if manifest is None:
                continue
            shown, status = view(manifest, self._known(key), now=now)
            if shown != self._views.get(key):
                self._views[key] = shown
            if files is not None and status.aggregated is not None:
                natives[key] = status.aggregated
            if number % VIEWS_AT_A_TIME == 0:
                await asyncio.sleep(0)
        if files is not None:
            try:
                await asyncio.to_thread(files.write, natives)
                for key in files.known - self._manifests.keys():
                    await asyncio.to_thread(files.remove, key)
            except OSError as error:
                _log.warning("%s cannot be written: %s", self.options.status_dir, error.strerror or error)

    def _known(self, key: ObjectKey) -> Known:
        decision = self.decision(key)
        names = self._holders.get(key, set()) | (decision.placement.keys() if decision is not None else set())
        live: dict[str, JsonObject] = {}
        pods: dict[str, Collection[JsonObject]] = {}
        lost: dict[str, tuple[str, str]] = {}
        for name in names:
            watch = self._watches.get(name)
            if watch is None:
                continue
            seen = watch.objects.get(key)
            if seen is not None and seen.slim:
                live[name] = seen.object
                if watch.pods:
                    pods[name] = pods_of(live[name], watch.pods.values())
            if watch.problem is not None:
                lost[name] = (time_text(watch.heard or watch.since), watch.problem.what)
        return Known(
            decision=decision,
            live=live,
            pods={name: tuple(found) for name, found in pods.items()},
            lost=lost,
            drift=self._drifted.get(key, {}),
            estimated=self._migrator.estimated(key),
            move=self._moving.get(key),
        )

    def _look_for_ill(self) -> None:
        """Watch waiting pods where a workload is not well: at once where its policy migrates it, else after a while."""
        ill = {
            copy.member
            for shown in self._views.values()
            if shown.health.code not in ("Healthy", "Suspended")
            for copy in shown.copies
            if copy.status.health.code in ("Progressing", "Failed")
        }
        now = asyncio.get_running_loop().time()
        before = self._ill_since
        self._ill_since = {name: before.get(name, now) for name in ill}
        if self._planned is not None and ill != before.keys():
            self._want(self._planned)

    def _snapshot(self, version: int) -> Snapshot:
        return Snapshot(
            version=version,
            at=_now_text(),
            started=self._started,
            fleet=self._repo.fleet.name if self._repo is not None else "",
            ready=self._ready,
            drift_mode=self.options.drift,
            source=self._source_view,
            broken=self._broken,
            writer=self._election.view if self._election is not None else WriterView(),
            members=tuple(self._member_view(name) for name in sorted(self._watches)),
            workloads=tuple(self._views[key] for key in sorted(self._views)),
            plan=self._plan_view,
            held=self._held,
            events=self._trail.events,
            totals=self._totals,
        )

    def _member_view(self, name: str) -> MemberView:
        watch = self._watches[name]
        state = watch.state
        record = state.record if state is not None else None
        if self._planned is not None and name in self._planned.observation.read:
            record = self._planned.observation.read[name].record or record
        cluster = self._repo.cluster(name) if self._repo is not None else None
        return MemberView(
            name=name,
            reachable=watch.reachable,
            synced=watch.synced,
            since=time_text(watch.since),
            problem=watch.problem,
            version=state.version if state is not None else "",
            ready=state.ready if state is not None else "Unknown",
            ready_reason=state.ready_reason if state is not None else "",
            heard=time_text(watch.heard) if watch.heard is not None else "",
            lag_s=round((datetime.now(UTC) - watch.heard).total_seconds(), 1) if watch.heard is not None else 0.0,
            suspended=cluster is not None and cluster.suspended,
            commit=record.commit if record is not None else "",
            objects=len(record.objects) if record is not None else 0,
            drifted=sum(name in members for members in self._drifted.values()),
            counts=watch.counts,
        )

    def _save(self) -> None:
        try:
            self._store.save(Kept(events=self._trail.events))
        except OSError as error:
            _log.warning("%s cannot be written: %s", self._store.directory, error.strerror or error)


def _mark(seen: Seen | None) -> bytes:
    return seen.mark if seen is not None else b""


def _move_text(move: Move, verb: str) -> str:
    leaves = ", ".join(f"{number} from {name}" for name, number in move.leaves.items())
    arrives = ", ".join(f"{number} to {name}" for name, number in move.arrives.items())
    return f"replicas {verb}: {leaves}; {arrives}"


def _now_text() -> str:
    return time_text(datetime.now(UTC))
