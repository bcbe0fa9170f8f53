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
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from msgspec import Struct

from kadm.errors import KadmError, Problem
from kadm.execute import Delivery, Locked
from kadm.members.connection import Connection
from kadm.members.process import this_run
from kadm.model.applyset import applyset_id
from kadm.model.decision import Decision
from kadm.model.objects import JsonObject, ObjectKey
from kadm.model.observation import MemberState
from kadm.model.planned import Planned
from kadm.model.repository import Manifest, Repo
from kadm.schedule import next_end
from kadm.watch.election import EVERY_S, Election
from kadm.watch.following import Following
from kadm.watch.links import Links
from kadm.watch.member import MemberWatch
from kadm.watch.migrator import Migrator
from kadm.watch.pausing import Failures
from kadm.watch.planning import Planning, Round
from kadm.watch.seen import Seen
from kadm.watch.showing import Showing
from kadm.watch.source import Source
from kadm.watch.state import Board, MemberView, Snapshot, WriterView
from kadm.watch.store import Kept, Store
from kadm.watch.tally import Tally
from kadm.watch.trail import Trail, time_text
from kadm.watch.triggers import Triggers
from kadm.watch.views import Known, pods_of

_log = logging.getLogger(__name__)

SAVE_EVERY_S = 5.0
SHORTEST_PAUSE_S = 0.2
LONGEST_PAUSE_S = 10.0
"""After a plan that took long the next one waits as long, within these bounds."""

LISTS_AT_A_TIME = 16
RESIGN_WITHIN_S = 0.5
MOVE_SETTLES_S = 0.5

VERIFY = "to see that nothing is left to do"
RETRY = "not everything was done"
EVICTION_ENDS = "an eviction has ended"


class WatchOptions(Struct, frozen=True, kw_only=True):
    """How the daemon works. ``drift`` says what becomes of what others change in members."""

    interval_s: float = 30.0
    drift: Literal["correct", "report"] = "correct"
    once: bool = False
    status_dir: Path | None = None
    request_timeout_s: float = 15.0
    parallel: int = 32


class Daemon:
    """One daemon. ``board`` is what it shows, ``run`` all that it does.

    It is what members and the migrator talk to (``member.Told``, ``migrator.Ground``).
    """

    def __init__(self, source: Source, store: Store, kept: Kept, options: WatchOptions) -> None:
        self.options = options
        self.links = Links(request_timeout_s=options.request_timeout_s, parallel=options.parallel)
        self._store = store
        self._started = time_text(datetime.now(UTC))
        self._trail = Trail(kept.events)
        if store.damage:
            self._trail.add("files", f"{store.damage}: what was known of earlier events is lost", severity="warning")
        self._tally = Tally()
        self._triggers = Triggers()
        self._showing = Showing(self._known, self._publish, directory=options.status_dir, told=self._files_told)
        self._following = Following(
            source,
            interval_s=options.interval_s,
            trail=self._trail,
            tally=self._tally,
            put=self._put_in_force,
            changed=self._showing.rest,
        )
        self._planning = Planning(
            self._trail,
            self._tally,
            leave_drift=options.drift == "report",
            stood=kept.rollout,
            on_plan=self._on_plan,
            touched=self._showing.some,
        )
        self._migrator = Migrator(self)
        self._me = this_run()
        self._election: Election | None = None
        self._repo: Repo | None = None
        self._manifests: dict[ObjectKey, Manifest] = {}
        self._loaded = asyncio.Event()
        self._ready = False
        self._watches: dict[str, MemberWatch] = {}
        self._watching: dict[str, asyncio.Task[None]] = {}
        self._lists = asyncio.Semaphore(LISTS_AT_A_TIME)
        self._holders: dict[ObjectKey, set[str]] = {}
        self._uids: dict[str, str] = {}
        self._ill: frozenset[str] = frozenset()
        self._saved = self._trail.number
        self._saved_s = 0.0
        self._saved_rollout = kept.rollout
        self._unsaved = ""
        self._group: asyncio.TaskGroup | None = None
        self.board = Board(self._snapshot(1), self._showing.native)

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

    def rendered(self, member: str, key: ObjectKey) -> JsonObject | None:
        planned = self._planning.planned
        desired = planned.desired.members.get(member) if planned is not None else None
        return next((one.object for one in desired.objects if one.key == key), None) if desired is not None else None

    def decision(self, key: ObjectKey) -> Decision | None:
        return self._planning.decision(key)

    def moving(self, key: ObjectKey) -> bool:
        return key in self._planning.moving

    def migrated(self, member: str, key: ObjectKey, text: str) -> None:
        self._tally.add(migrations=1)
        self._trail.add("migration", text, member=member, about=str(key))
        self._showing.some((key,))
        self._hurry(f"auto-migration has learned of {key} in {member}")

    def arrived(self, member: str, key: ObjectKey, replicas: int) -> None:
        self._hurry(f"{replicas} replicas of {key} are ready in {member}")

    def failed_over(self, member: str, key: ObjectKey, text: str) -> None:
        self._tally.add(failovers=1)
        self._trail.add("failover", text, severity="warning", member=member, about=str(key))
        self._hurry(text)

    def doubts(self, text: str) -> None:
        self._trail.add("failover", f"nothing fails over: {text}", severity="warning")

    def changed(self, member: str, key: ObjectKey, before: Seen | None, now: Seen | None) -> None:
        holders = self._holders.setdefault(key, set())
        if now is not None:
            holders.add(member)
        else:
            holders.discard(member)
            if not holders:
                del self._holders[key]
        if self._showing.shows(key):
            self._showing.some((key,))
            self._migrator.touch(member, key)
            move = self._planning.moving.get(key)
            if move is not None and member in move.arrives:
                self._triggers.later(f"the move of {key} may go on", MOVE_SETTLES_S)
        if self._watches[member].synced and _mark(before) != _mark(now):
            self._triggers.add(f"{key} changed in {member}")

    def record_changed(self, member: str) -> None:
        if not self._planning.busy:
            self._triggers.add(f"kadm's record in {member} was written")

    def pods_changed(self, member: str) -> None:
        pods = self._watches[member].pods.values()
        namespaces = {pod["metadata"].get("namespace") for pod in pods}
        for key, shown in self._showing.views.items():
            if shown.health.code != "Healthy" and (key.namespace in namespaces or not pods):
                self._showing.some((key,))
                self._migrator.touch(member, key)

    def synced(self, member: str) -> None:
        self._recognise(member)
        if not self._ready:
            return
        self._trail.add("back", "it answers, and everything in it was read", member=member)
        self._migrator.forget(member)
        self._migrator.touch_all()
        self._triggers.add(f"{member} is back")
        self._showing.all()

    def _recognise(self, member: str) -> None:
        """Tell where another cluster answers than the one that was there: it is filled as git says, like any member."""
        state = self._watches[member].state
        assert state is not None, "everything in it was read"
        before = self._uids.get(member)
        self._uids[member] = state.uid
        if before not in (None, state.uid):
            text = "it is another cluster than before: the uid of namespace kube-system is another one"
            self._trail.add(
                "back", f"{text}; check its kubeconfig if that is not meant", severity="warning", member=member
            )

    def lost(self, member: str, problem: Problem) -> None:
        why = f"{problem.what}: {problem.why}" if problem.why else problem.what
        self._trail.add("lost", why, severity="warning", member=member)
        self._migrator.forget(member)
        self._migrator.touch_lost()
        self._showing.all()

    def reload(self) -> None:
        """Look at git now, and try lost members now."""
        self._following.look_now()
        for watch in self._watches.values():
            if watch.problem is not None:
                watch.try_now()

    def pushed(self) -> None:
        """Look at git now: its server says that something was pushed."""
        self._tally.add(hooks=1)
        self._following.look_now()

    def end(self) -> None:
        """Begin nothing more; what was sent is waited for while the process is given time."""
        self._planning.end()
        self._save()

    async def idle(self, *, within_s: float) -> None:
        """Return when nothing is planned or applied, or after so long."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(within_s):
                await self._planning.until_idle()

    async def run(self) -> Delivery | None:
        """Work until cancelled; with ``once`` until the first plan was carried out, which is returned.

        Raises KadmError with ``once`` where nothing could be planned.
        """
        self._trail.add("started", f"following {self._following.view.url}")
        try:
            async with asyncio.TaskGroup() as group:
                self._group = group
                beside = [
                    group.create_task(self._following.run(once=self.options.once), name="follow"),
                    group.create_task(self._migrator.run(), name="migrate"),
                    group.create_task(self._showing.run(self._tick), name="show"),
                ]
                await self._work(group)
                for task in (*beside, *self._watching.values()):
                    task.cancel()
        except BaseExceptionGroup as failures:
            raise failures.exceptions[0] from failures
        finally:
            await self._leave()
        return self._planning.delivery

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

    # What is in force, and its members.

    def _put_in_force(self, repo: Repo) -> None:
        before, self._repo = self._repo, repo
        self._manifests = {manifest.key: manifest for manifest in repo.manifests}
        self.links.use(repo)
        names = [cluster.name for cluster in repo.clusters]
        another = before is not None and before.fleet.name != repo.fleet.name
        reached = {cluster.name: cluster.spec.kubeconfig for cluster in before.clusters} if before is not None else {}
        now = {cluster.name: cluster.spec.kubeconfig for cluster in repo.clusters}
        for name in list(self._watches):
            if another or name not in now:
                self._uids.pop(name, None)
                self._unwatch(name)
            elif now[name] != reached[name]:
                self._unwatch(name)  # and watched anew, by the way that leads there now
        for name in names:
            if name not in self._watches:
                self._watch(name, repo)
        if self._election is None or another:
            self._election = Election(repo.fleet.name, self.links, self._writer_changed, me=self._me)
        self._election.electors = names
        for warning in repo.warnings:
            _log.warning("%s", warning)
        self._showing.use(self._manifests)
        self._migrator.touch_all()
        self._loaded.set()
        if self._ready:
            self._hurry("another commit is in force")

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
        view = self._election.view
        who = "this daemon" if view.here else view.holder or "nobody"
        self._trail.add("writer", f"{who} writes")
        for name in self._watches:
            self._migrator.forget(name)  # whoever wrote before may have learned more
        self._triggers.add("who writes changed")
        self._migrator.touch_all()
        self._showing.rest()

    # Planning and applying.

    def _hurry(self, reason: str) -> None:
        """Plan again for this reason, and soon."""
        self._triggers.add(reason)
        self._planning.hurry()

    async def _work(self, group: asyncio.TaskGroup) -> None:
        """Plan and apply whenever there is a reason to, for ever; with ``once`` as often as it takes."""
        await self._loaded.wait()
        await asyncio.gather(*(watch.first_try.wait() for watch in self._watches.values()))
        self._ready = True
        assert self._election is not None, "a commit is in force"
        await self._election.round()
        electing = group.create_task(self._elect(), name="elect")
        self._triggers.add("start")
        failures, busy = Failures(first_s=2.0, longest_s=300.0), Failures(first_s=1.0, longest_s=300.0)
        loop = asyncio.get_running_loop()
        while True:
            reasons = await self._triggers.wait()
            began_s = loop.time()
            done = await self._round(reasons)
            self._tally.took(loop.time() - began_s)
            if self._planning.stands != self._saved_rollout:
                self._save()
            self._migrator.touch_all()
            self._showing.rest()
            if self.options.once and (done.clean or not done.changed):
                self._leave_to_the_writer()
                electing.cancel()
                return
            if done.changed:
                self._triggers.later(VERIFY, busy.another())
            else:
                busy.none()
                self._triggers.not_later(VERIFY)
            if done.clean:
                failures.none()
                self._triggers.not_later(RETRY)
            else:
                self._triggers.later(RETRY, failures.another())
            await self.links.sweep()
            await asyncio.sleep(min(max(done.planning_s, SHORTEST_PAUSE_S), LONGEST_PAUSE_S))

    def _leave_to_the_writer(self) -> None:
        """Tell where nothing was carried out because another daemon writes."""
        planned = self._planning.planned
        left = len(planned.plan.changes) if planned is not None else 0
        if left and not self.writing:
            assert self._election is not None, "it was planned"
            holder = self._election.view.holder or "nobody"
            text = f"{left} changes are left undone: {holder} writes, not this run"
            self._trail.add("writer", text, severity="warning")

    async def _round(self, reasons: tuple[str, ...]) -> Round:
        """One plan and its apply. What could not be done is noted; with ``once`` it is raised (KadmError)."""
        repo = self._repo
        assert repo is not None, "a commit is in force"
        lost = {name: watch.problem for name, watch in self._watches.items() if watch.problem is not None}
        try:
            pool = await self.links.pool(repo.fleet.name, lost=lost)
            return await self._planning.round(repo, pool, reasons, writes=lambda: self.writing)
        except KadmError as error:
            if self.options.once:
                raise
            self._tally.add(failed_plans=1)
            severity: Literal["warning", "error"] = "warning" if isinstance(error, Locked) else "error"
            self._trail.add("failed", str(error.problem), severity=severity)
            return Round(clean=False)

    async def _elect(self) -> None:
        while True:
            await asyncio.sleep(EVERY_S)
            assert self._election is not None, "a commit is in force"
            await self._election.round()

    def _on_plan(self, planned: Planned) -> None:
        self._want(planned)
        self._plan_when_an_eviction_ends(planned.repo)
        self._showing.rest()

    def _plan_when_an_eviction_ends(self, repo: Repo) -> None:
        """Nothing but time changes then: neither git nor a member would tell."""
        now = datetime.now(UTC)
        asked, own = next_end(repo, now=now), self._migrator.next_end(now.timestamp())
        ends = [*([asked.timestamp()] if asked is not None else ()), *([own] if own is not None else ())]
        if ends:
            self._triggers.later(EVICTION_ENDS, min(ends) - now.timestamp() + 1)
        else:
            self._triggers.not_later(EVICTION_ENDS)

    def _want(self, planned: Planned) -> None:
        """Watch the types that are in use, and the pods that wait where a workload is not well."""
        for name, watch in self._watches.items():
            desired = planned.desired.members.get(name)
            kinds = {(one.key.group, one.version, one.key.kind) for one in desired.objects} if desired else set()
            watch.want(kinds, pods=name in self._ill)

    # Showing and keeping.

    def _tick(self) -> None:
        ill = frozenset(
            copy.member
            for shown in self._showing.views.values()
            if shown.health.code not in ("Healthy", "Suspended")
            for copy in shown.copies
            if copy.status.health.code in ("Progressing", "Failed")
        )
        if ill != self._ill:
            self._ill = ill
            if self._planning.planned is not None:
                self._want(self._planning.planned)
        now_s = asyncio.get_running_loop().time()
        if self._trail.number != self._saved and now_s - self._saved_s >= SAVE_EVERY_S:
            self._saved_s = now_s
            self._save()

    def _save(self) -> None:
        number, kept = self._trail.number, Kept(events=self._trail.events, rollout=self._planning.stands)
        try:
            self._store.save(kept)
        except OSError as error:
            why = error.strerror or str(error)
        else:
            why, self._saved, self._saved_rollout = "", number, kept.rollout
        if why != self._unsaved:
            self._unsaved = why
            self._files_told(str(self._store.directory), why)

    def _files_told(self, directory: str, why: str) -> None:
        """Tell once that a directory cannot be written, and once that it can again."""
        if why:
            self._trail.add("files", f"{directory} cannot be written: {why}; all else goes on", severity="warning")
        else:
            self._trail.add("files", f"{directory} can be written again")

    def _publish(self) -> None:
        self.board.publish(self._snapshot(self.board.latest.version + 1))

    def _known(self, key: ObjectKey) -> Known:
        decision = self._planning.decision(key)
        names = self._holders.get(key, set()) | (decision.placement.keys() if decision is not None else set())
        live: dict[str, JsonObject] = {}
        pods: dict[str, tuple[JsonObject, ...]] = {}
        lost: dict[str, tuple[str, str]] = {}
        for name in names:
            watch = self._watches.get(name)
            if watch is None:
                continue
            seen = watch.objects.get(key)
            if seen is not None and seen.slim:
                live[name] = seen.object
                if watch.pods:
                    pods[name] = tuple(pods_of(live[name], watch.pods.values()))
            if watch.problem is not None:
                lost[name] = (time_text(watch.heard or watch.since), watch.problem.what)
        return Known(
            decision=decision,
            live=live,
            pods=pods,
            lost=lost,
            drift=self._planning.drifted.get(key, {}),
            estimated=self._migrator.estimated(key),
            move=self._planning.moving.get(key),
        )

    def _snapshot(self, version: int) -> Snapshot:
        now = datetime.now(UTC)
        return Snapshot(
            version=version,
            at=time_text(now),
            started=self._started,
            fleet=self._repo.fleet.name if self._repo is not None else "",
            ready=self._ready,
            drift_mode=self.options.drift,
            source=self._following.view,
            broken=self._following.broken,
            writer=self._election.view if self._election is not None else WriterView(),
            members=tuple(self._member_view(name, now) for name in sorted(self._watches)),
            workloads=self._showing.ordered,
            plan=self._planning.view,
            held=self._planning.held,
            events=self._trail.events,
            totals=self._tally.totals,
        )

    def _member_view(self, name: str, now: datetime) -> MemberView:
        watch, planned = self._watches[name], self._planning.planned
        state = watch.state
        record = state.record if state is not None else None
        read = planned.observation.members.get(name) if planned is not None else None
        if isinstance(read, MemberState):
            record = read.record or record
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
            lag_s=round((now - watch.heard).total_seconds(), 1) if watch.heard is not None else 0.0,
            pulse_s=round(watch.pulse_took_s, 3) if watch.pulse_took_s is not None else None,
            suspended=cluster is not None and cluster.suspended,
            commit=record.commit if record is not None else "",
            objects=len(record.objects) if record is not None else 0,
            drifted=sum(name in members for members in self._planning.drifted.values()),
            counts=watch.counts,
        )


def _mark(seen: Seen | None) -> bytes:
    return seen.mark if seen is not None else b""
