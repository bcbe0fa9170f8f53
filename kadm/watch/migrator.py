"""Auto-migration and fail-over at work: what is seen in members becomes what is remembered there.

It decides nothing itself: ``migration`` and ``failover`` do. It looks where something changed, or where time alone may
have changed something, writes down what is new, and asks for a plan. Moving replicas is the plan's work alone.

Three clocks: what pods and conditions say is judged by their member's own time (``Connection.now``), how long somebody
is silent, and when to look again, by the loop's, which never jumps. Only evictions, which plans respect wherever they
are made, go by this machine's.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Protocol

from msgspec.structs import replace

from kadm.compare.desired_object import is_suspended
from kadm.errors import MemberError
from kadm.members.connection import Connection
from kadm.members.document import DocumentConflict
from kadm.members.migration import read_migration, write_migration
from kadm.members.together import together
from kadm.model.decision import Decision
from kadm.model.duration import duration_s
from kadm.model.migration import Estimate, Eviction, LearnedWorkload, MigrationEvent, MigrationState
from kadm.model.objects import JsonObject, ObjectKey, at
from kadm.model.policy import PropagationPolicy
from kadm.model.quantity import QuantityError
from kadm.model.repository import Manifest, Repo
from kadm.model.workload import pod_spec, workload_kind
from kadm.schedule import may_learn
from kadm.watch.failover import SINGLETON, Candidate, Leaving, fail_over
from kadm.watch.links import Links
from kadm.watch.member import MemberWatch
from kadm.watch.migration import Judgement, Rules, Sight, judge, seconds, text_of
from kadm.watch.room import Room, fits_or_unknown, read_room
from kadm.watch.sighting import counts_say, creates_no_more, desired_of, look, observed, ready_of
from kadm.watch.trail import time_text

_log = logging.getLogger(__name__)

SPACING_S = 1.0
"""A workload in a member is looked at no more often."""

LOOK_AGAIN_S = 30.0
"""While a member is lost, fail-over is considered so often at least."""

MOST_EVENTS = 20
KEEP_EVENTS_S = 86_400.0
"""What happened is told for so long, also when nothing is believed of the workload any more."""

SHORTEST_EVICTION_S = 600.0
_EVICTION_WRITERS = 3
_RETRY_S = 5.0

_NOTHING_THERE = Sight(desired=0, ready=0, pods=0)

Place = tuple[str, ObjectKey]
"""A member, and a workload in it."""


class Ground(Protocol):
    """What the daemon knows, and what it does about what was learned."""

    links: Links

    @property
    def repo(self) -> Repo | None:
        """What is in force."""

    @property
    def watches(self) -> Mapping[str, MemberWatch]:
        """The members."""

    @property
    def writing(self) -> bool:
        """Whether this daemon writes."""

    def manifest(self, key: ObjectKey) -> Manifest | None:
        """The repository's object of this key."""

    def rendered(self, member: str, key: ObjectKey) -> JsonObject | None:
        """The object as this member must hold it, overrides applied; None where it must not."""

    def decision(self, key: ObjectKey) -> Decision | None:
        """The last one about a workload."""

    def moving(self, key: ObjectKey) -> bool:
        """Whether a move of it goes on."""

    def migrated(self, member: str, key: ObjectKey, text: str) -> None:
        """Something was learned of a workload in a member."""

    def arrived(self, member: str, key: ObjectKey, replicas: int) -> None:
        """So many replicas of a workload that leaves a full member are ready in this one."""

    def failed_over(self, member: str, key: ObjectKey, text: str) -> None:
        """A workload leaves a lost member."""

    def doubts(self, text: str) -> None:
        """Fail-over is due, and does not happen."""


class Migrator:
    """Looks, remembers, and tells. ``run`` works for ever; everything else only notes what there is to look at."""

    def __init__(self, ground: Ground) -> None:
        self._ground = ground
        self._memory: dict[str, MigrationState] = {}
        self._due: dict[Place, float] = {}
        self._looked: dict[Place, float] = {}
        self._missing: dict[Place, float] = {}
        self._fail_over_at: float | None = None
        self._doubt = ""
        self._recall_all = False
        self._wake = asyncio.Event()

    def touch(self, member: str, key: ObjectKey) -> None:
        """Something about a workload in a member changed."""
        if self._policy(key) is not None:
            self._look_at((member, key), _loop_s())

    def touch_all(self) -> None:
        """Anything may have changed: another commit, another writer, another plan."""
        repo = self._ground.repo
        for manifest in repo.manifests if repo is not None else ():
            if self._policy(manifest.key) is not None:
                for name, watch in self._ground.watches.items():
                    if manifest.key in watch.objects:
                        self._look_at((name, manifest.key), _loop_s())
        for name in self._memory:
            self._look_at_all(name)
        self._recall_all = True
        self.touch_lost()

    def touch_lost(self) -> None:
        """A member was lost, or is back."""
        self._fail_over_at = _loop_s()
        self._wake.set()

    def forget(self, member: str) -> None:
        """What is remembered of a member has to be read anew: it was lost, or somebody else wrote."""
        self._memory.pop(member, None)

    def estimated(self, key: ObjectKey) -> dict[str, int]:
        """What members are believed to run of a workload, for those that are not believed to run all."""
        found = {}
        for name, state in self._memory.items():
            known = state.of(key)
            if known is not None and known.estimate is not None and known.estimate.capacity is not None:
                found[name] = known.estimate.capacity
        return found

    def next_end(self, now: float) -> float | None:
        """When the next workload may come back to a member that was lost, in seconds since the epoch; None: none is
        to."""
        ends = (until for by_member in self._evictions().values() for until in by_member.values())
        return min((until for until in ends if until > now), default=None)

    async def run(self) -> None:
        """Look at what is due, for ever. Ends by cancellation alone."""
        while True:
            self._wake.clear()
            now = _loop_s()
            due = sorted(place for place, when in self._due.items() if when <= now)
            lost_due = self._fail_over_at is not None and self._fail_over_at <= now
            if not due and not lost_due and not self._recall_all:
                await self._sleep(now)
                continue
            for place in due:
                del self._due[place]
            if not self._ground.writing or self._ground.repo is None:
                self._fail_over_at, self._recall_all = None, False
                continue  # whoever begins to write looks at everything
            if self._recall_all:
                await self._recall_members()
            by_member: dict[str, list[ObjectKey]] = {}
            for name, key in due:
                by_member.setdefault(name, []).append(key)
            await together({f"look at {name}": self._member(name, keys) for name, keys in by_member.items()})
            if lost_due:
                await self._fail_over(now)

    async def _sleep(self, now: float) -> None:
        times = [*self._due.values(), *([self._fail_over_at] if self._fail_over_at is not None else ())]
        try:
            async with asyncio.timeout(min(times) - now if times else None):
                await self._wake.wait()
        except TimeoutError:
            return

    def _look_at(self, place: Place, when: float) -> None:
        when = max(when, self._looked.get(place, 0.0) + SPACING_S)
        if when < self._due.get(place, float("inf")):
            self._due[place] = when
            self._wake.set()

    async def _member(self, name: str, keys: list[ObjectKey]) -> None:
        """Look at some workloads of a member, and write down what is new. A member that fails is looked at later."""
        watch = self._ground.watches.get(name)
        if watch is None or watch.problem is not None or watch.state is None or not watch.synced:
            return  # once it is back, everything in it is looked at
        if self._is_suspended(name):
            return  # nothing is written there, a memory neither; another commit looks at everything
        try:
            connection = await self._ground.links.reader(name)
            memory = await self._recall(watch)
            room: Room | None = None
            after = {one.key: one for one in memory.workloads}
            told: list[tuple[ObjectKey, str]] = []
            for key in keys:
                self._looked[name, key] = _loop_s()
                judgement = await self._judge(watch, connection, key, after.get(key))
                if judgement is not None and judgement.probe:
                    room = room or await read_room(connection)
                    judgement = self._with_room(watch, key, after.get(key), room, now=connection.now())
                self._note(after, key, judgement, self._arrived(watch, key, judgement))
                if judgement is not None and judgement.event:
                    told.append((key, judgement.event))
                if judgement is not None and judgement.look_again is not None:
                    self._look_at((name, key), _loop_s() + judgement.look_again - connection.now())
            await self._remember(watch, memory, after, told)
        except (MemberError, QuantityError) as error:
            _log.warning("%s: auto-migration could not look: %s", name, error)
            self.forget(name)
            for key in keys:
                self._look_at((name, key), _loop_s() + _RETRY_S)

    async def _recall_members(self) -> None:
        """Read what is remembered in members of which it is not known, and look at all that it is about."""
        self._recall_all = False
        repo = self._ground.repo
        if repo is None or not may_learn(repo):
            return
        new = [
            watch
            for name, watch in self._ground.watches.items()
            if name not in self._memory and watch.problem is None and watch.synced
        ]
        await together({f"recall {watch.name}": self._recall_quietly(watch) for watch in new})
        for watch in new:
            self._look_at_all(watch.name)

    def _look_at_all(self, name: str) -> None:
        """Look at everything that is remembered of a member."""
        memory = self._memory.get(name)
        for workload in memory.workloads if memory is not None else ():
            self._look_at((name, workload.key), _loop_s())

    async def _recall(self, watch: MemberWatch) -> MigrationState:
        assert watch.state is not None, "it was observed"
        known = self._memory.get(watch.name)
        if known is None or known.member_uid != watch.state.uid:
            connection = await self._ground.links.reader(watch.name)
            known = await read_migration(connection, self._fleet, member_uid=watch.state.uid)
            self._memory[watch.name] = known
        return known

    async def _judge(
        self, watch: MemberWatch, connection: Connection, key: ObjectKey, known: LearnedWorkload | None
    ) -> Judgement | None:
        """What is believed now; None: nothing is to be believed of it, for its policy does not migrate it."""
        if self._policy(key) is None:
            return None
        rules = self._rules(key)
        estimate = known.estimate if known is not None else None
        if rules is None:  # what was learned stays
            return Judgement(estimate=estimate)
        live = watch.objects.get(key)
        seen = await self._sight(watch, connection, key, live.object) if live is not None else _NOTHING_THERE
        return judge(estimate, seen, rules, now=connection.now(), moving=self._ground.moving(key))

    async def _sight(
        self, watch: MemberWatch, connection: Connection, key: ObjectKey, workload: JsonObject
    ) -> Sight | None:
        place = (watch.name, key)
        if not creates_no_more(workload):
            self._missing.pop(place, None)
        elif place not in self._missing:
            self._missing[place] = _loop_s()
        if not observed(workload):
            return None
        plain = counts_say(workload)
        if plain is not None:
            return plain
        missing = self._missing.get(place)
        since = connection.now() - (_loop_s() - missing) if missing is not None else None
        return await look(connection, workload, missing_since=since)

    def _with_room(
        self, watch: MemberWatch, key: ObjectKey, known: LearnedWorkload | None, room: Room, *, now: float
    ) -> Judgement | None:
        """The judgement with a look at what is free; a workload that is not as it was a moment ago is looked at again
        when that is heard."""
        rules, live, manifest = self._rules(key), watch.objects.get(key), self._ground.manifest(key)
        estimate = known.estimate if known is not None else None
        if rules is None or manifest is None:
            return Judgement(estimate=estimate)
        seen = counts_say(live.object) if live is not None else _NOTHING_THERE
        wanted = self._ground.rendered(watch.name, key) or manifest.object
        spec = pod_spec(key.group, key.kind, wanted) or {}
        free = fits_or_unknown(room, spec, most=rules.total)
        return judge(estimate, seen, rules, now=now, moving=self._ground.moving(key), room=free)

    def _arrived(self, watch: MemberWatch, key: ObjectKey, judgement: Judgement | None) -> int | None:
        """How many replicas of the workload arrived in a member that takes what a full one cannot run.

        None where that does not count: nothing is full, or its strategy does not ask for it.
        """
        policy, live = self._policy(key), watch.objects.get(key)
        rules = self._rules(key)
        if policy is None or policy.spec.replicas_strategy != "Binpack" or rules is None or rules.waits:
            return None
        full = judgement is not None and judgement.estimate is not None and judgement.estimate.capacity is not None
        if full or live is None:
            return None
        if self._memory.keys() != self._ground.watches.keys():  # whether another one is full is not known
            known = self._memory[watch.name].of(key)
            return known.scheduled if known is not None else None
        if not self.estimated(key):
            return None
        return min(ready_of(live.object), desired_of(live.object))

    def _note(
        self,
        after: dict[ObjectKey, LearnedWorkload],
        key: ObjectKey,
        judgement: Judgement | None,
        scheduled: int | None,
    ) -> None:
        known = after.get(key)
        estimate = judgement.estimate if judgement is not None else None
        evictions = tuple(one for one in known.evictions if seconds(one.until) > _now()) if known is not None else ()
        events = known.events if known is not None else ()
        if judgement is not None and judgement.event:
            events = _with_event(events, judgement.event)
        told = bool(events) and seconds(events[-1].at) + KEEP_EVENTS_S > _now()
        if estimate is None and scheduled is None and not evictions and not told:
            after.pop(key, None)
            return
        after[key] = _learned(key, estimate, evictions, events, scheduled)

    async def _remember(
        self,
        watch: MemberWatch,
        before: MigrationState,
        after: Mapping[ObjectKey, LearnedWorkload],
        told: list[tuple[ObjectKey, str]],
    ) -> None:
        """Write down what is new, then tell: a plan reads what is written."""
        workloads = tuple(after[key] for key in sorted(after))
        if workloads == before.workloads:
            return
        connection = await self._ground.links.writer(watch.name)
        try:
            self._memory[watch.name] = await write_migration(connection, replace(before, workloads=workloads))
        except DocumentConflict:
            self.forget(watch.name)  # another daemon wrote: what it knows counts, and is looked at again
            raise
        for key, text in told:
            self._ground.migrated(watch.name, key, text)
            for name, other in self._ground.watches.items():
                if name != watch.name and key in other.objects:
                    self._look_at((name, key), _loop_s())
        for key, now in after.items():
            known = before.of(key)
            if now.scheduled is not None and (known is None or known.scheduled != now.scheduled):
                self._ground.arrived(watch.name, key, now.scheduled)

    async def _fail_over(self, now: float) -> None:
        """Let workloads leave members that are lost for long enough, and keep away while they are lost."""
        watches = self._ground.watches
        lost = {name: watch.silent_since_s for name, watch in watches.items() if watch.silent_since_s is not None}
        self._fail_over_at = None
        candidates = self._candidates()
        if not candidates:
            return
        reachable = sorted(
            name
            for name, watch in watches.items()
            if watch.problem is None and watch.synced and not self._is_suspended(name)
        )
        await together({f"recall {name}": self._recall_quietly(watches[name]) for name in reachable})
        evictions = self._evictions()
        candidates = [replace(one, left=evictions.get(one.key, {}).keys()) for one in candidates]
        found = fail_over(candidates, lost, members=len(watches), now=now)
        if found.doubt and found.doubt != self._doubt:
            self._ground.doubts(found.doubt)
        self._doubt = found.doubt
        again = [found.look_again] if found.look_again is not None else []
        if any(watch.problem is not None for watch in watches.values()):
            again.append(now + LOOK_AGAIN_S)  # one that refuses may fall silent
        after_s = {one.key: one.after_s for one in candidates}
        going = list(found.leaving)
        for key, by_member in evictions.items():
            for member, until in by_member.items():
                if member in lost and key in after_s:
                    rest_s = until - _now() - _eviction_s(after_s[key]) / 2
                    if rest_s < 0:
                        going.append(Leaving(key=key, member=member))
                    else:
                        again.append(now + rest_s)
        for one in going:
            await self._evict(one, after_s[one.key], reachable, now=now, renewed=one not in found.leaving)
        self._fail_over_at = min(again, default=None)

    async def _evict(
        self, leaving: Leaving, after_s: float, reachable: list[str], *, now: float, renewed: bool
    ) -> None:
        decision = self._ground.decision(leaving.key)
        holders = [name for name in reachable if decision is not None and name in decision.placement]
        begins = _now()
        eviction = Eviction(member=leaving.member, since=text_of(begins), until=text_of(begins + _eviction_s(after_s)))
        text = f"{leaving.member} did not answer for {after_s:g} s: {leaving.key} leaves it"
        written = False
        for name in holders or reachable[:_EVICTION_WRITERS]:
            watch = self._ground.watches[name]
            try:
                memory = await self._recall(watch)
                after = {one.key: one for one in memory.workloads}
                known = after.get(leaving.key)
                others = tuple(one for one in known.evictions if one.member != leaving.member) if known else ()
                events = known.events if known is not None else ()
                after[leaving.key] = _learned(
                    leaving.key,
                    known.estimate if known is not None else None,
                    (*others, eviction),
                    events if renewed else _with_event(events, text),
                    known.scheduled if known is not None else None,
                )
                await self._remember(watch, memory, after, [])
                written = True
            except MemberError as error:
                _log.warning("%s: the fail-over of %s could not be written: %s", name, leaving.key, error.problem.what)
        if written and not renewed:
            self._ground.failed_over(leaving.member, leaving.key, text)
        elif not written:
            self._fail_over_at = now + _RETRY_S

    async def _recall_quietly(self, watch: MemberWatch) -> None:
        try:
            await self._recall(watch)
        except MemberError as error:
            _log.warning("%s: what was learned there could not be read: %s", watch.name, error.problem.what)

    def _evictions(self) -> dict[ObjectKey, dict[str, float]]:
        """Workload → member that it left → until when, by all that is remembered."""
        found: dict[ObjectKey, dict[str, float]] = {}
        for state in self._memory.values():
            for workload in state.workloads:
                for eviction in workload.evictions:
                    known = found.setdefault(workload.key, {})
                    known[eviction.member] = max(seconds(eviction.until), known.get(eviction.member, 0.0))
        return found

    def _candidates(self) -> list[Candidate]:
        """The workloads whose policies permit that they leave lost members."""
        repo = self._ground.repo
        found = []
        for manifest in repo.manifests if repo is not None else ():
            policy = self._policy_of(manifest)
            decision = self._ground.decision(manifest.key)
            if policy is None or not policy.fail_over_after or decision is None:
                continue
            found.append(
                Candidate(
                    key=manifest.key,
                    holders=tuple(decision.placement),
                    after_s=duration_s(policy.fail_over_after),
                    singleton=_is_singleton(manifest),
                )
            )
        return found

    @property
    def _fleet(self) -> str:
        repo = self._ground.repo
        assert repo is not None, "nothing is looked at before a commit is in force"
        return repo.fleet.name

    def _policy_of(self, manifest: Manifest) -> PropagationPolicy | None:
        repo = self._ground.repo
        if repo is None or manifest.propagation is None:
            return None
        return repo.propagation_policies.get(manifest.propagation.policy)

    def _policy(self, key: ObjectKey) -> PropagationPolicy | None:
        """The workload's policy, if it migrates. A Job is divided once, and never again; of what is no workload, but
        is divided because its FederatedTypeConfig says how, nobody knows the pods."""
        manifest, repo = self._ground.manifest(key), self._ground.repo
        kind = workload_kind(key.group, key.kind)
        if manifest is None or repo is None or kind is None or (key.group, key.kind) == ("batch", "Job"):
            return None
        if not repo.migrates(manifest):
            return None
        policy = self._policy_of(manifest)
        return policy if policy is not None and policy.spec.auto_migration is not None else None

    def _is_suspended(self, member: str) -> bool:
        repo = self._ground.repo
        cluster = repo.cluster(member) if repo is not None else None
        return repo is None or repo.fleet.spec.suspend or (cluster is not None and cluster.suspended)

    def _rules(self, key: ObjectKey) -> Rules | None:
        """None: nothing is learned of it now. It was not divided yet, cannot be, or somebody suspended it."""
        policy, decision, manifest = self._policy(key), self._ground.decision(key), self._ground.manifest(key)
        if manifest is not None and is_suspended(manifest.object):
            return None
        if policy is None or policy.spec.auto_migration is None or decision is None or decision.replicas is None:
            return None
        migration = policy.spec.auto_migration
        avoids = policy.spec.reschedule_policy.replica_rescheduling.avoid_disruption
        return Rules(
            threshold_s=duration_s(migration.when.pod_unschedulable_for),
            cool_down_s=policy.migration_cool_down_s,
            total=decision.replicas,
            waits=migration.keep_unschedulable_replicas or not avoids,
        )


def _learned(
    key: ObjectKey,
    estimate: Estimate | None,
    evictions: tuple[Eviction, ...],
    events: tuple[MigrationEvent, ...],
    scheduled: int | None,
) -> LearnedWorkload:
    return LearnedWorkload(
        group=key.group,
        kind=key.kind,
        namespace=key.namespace,
        name=key.name,
        estimate=estimate,
        scheduled=scheduled,
        evictions=tuple(sorted(evictions, key=lambda one: one.member)),
        events=events,
    )


def _with_event(events: tuple[MigrationEvent, ...], text: str) -> tuple[MigrationEvent, ...]:
    return (*events, MigrationEvent(at=time_text(datetime.now(UTC)), text=text))[-MOST_EVENTS:]


def _eviction_s(after_s: float) -> float:
    """How long a workload stays away from a lost member, at least."""
    return max(after_s, SHORTEST_EVICTION_S)


def _is_singleton(manifest: Manifest) -> bool:
    return any(
        (at(manifest.object, ("metadata", where)) or {}).get(SINGLETON) == "true" for where in ("annotations", "labels")
    )


def _now() -> float:
    return datetime.now(UTC).timestamp()


def _loop_s() -> float:
    return asyncio.get_running_loop().time()
