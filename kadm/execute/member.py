"""Writing to one member: the record, then changes in order, then deletions, then the record again."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Literal

from msgspec.structs import replace

from kadm.errors import MemberRefused, Problem
from kadm.execute.bookkeeping import confirmed, trimmed
from kadm.execute.events import Event, Listener, Stage
from kadm.execute.extent import Extent
from kadm.execute.order import CRDS, rank
from kadm.execute.stamping import stamp_objects
from kadm.execute.stop import INTERRUPTED, Stop
from kadm.execute.wait import is_ready, wait_ready, waits_for
from kadm.execute.write import Written, refused, write
from kadm.members.connection import Connection
from kadm.members.discovery import discover
from kadm.members.live import served
from kadm.members.record import DocumentConflict, read_record, write_record
from kadm.members.refusal import ManifestRefused
from kadm.members.together import together
from kadm.model.applyset import applyset_id
from kadm.model.objects import GroupVersionKind, ObjectKey
from kadm.model.observation import ApiResource, MemberState
from kadm.model.plan import Change
from kadm.model.planned import Planned
from kadm.model.record import Record
from kadm.model.report import ChangeResult, Result
from kadm.model.status import Health

SCHEMA_SETTLES_S = 10.0
"""So long after a CRD was written a custom object that is refused is tried again, and so long after it was established
its kind is looked for: schema and discovery come a little later."""

SCHEMA_PAUSE_S = 0.3
CONFLICT_PAUSES_S = (0.1, 0.2, 0.4, 0.8)


@dataclass
class MemberRun:
    """The writes to one member, step by step. Steps are called in the order in which they stand here.

    ``results`` has an entry for every change that was tried or given up.
    """

    connection: Connection
    state: MemberState
    planned: Planned
    extent: Extent
    timeout_s: float
    listener: Listener
    stop: Stop
    results: dict[ObjectKey, ChangeResult] = field(default_factory=dict)
    finished: int = 0
    """How many changes are done."""
    problems: list[Problem] = field(default_factory=list)
    record: Record | None = None
    uids: dict[ObjectKey, str] = field(default_factory=dict)
    origins: dict[ObjectKey, Literal["created", "adopted"]] = field(default_factory=dict)
    versions: dict[ObjectKey, str] = field(default_factory=dict)
    digests: dict[ObjectKey, str] = field(default_factory=dict)
    removed: set[ObjectKey] = field(default_factory=set)
    written_s: dict[ObjectKey, float] = field(default_factory=dict)
    """When each object was written, as a time of the event loop: its readiness is waited for from then on."""
    storing: asyncio.Lock = field(default_factory=asyncio.Lock)
    health: dict[ObjectKey, Health] = field(default_factory=dict)
    """What was waited for already, each object at most once."""

    @property
    def name(self) -> str:
        return self.connection.name

    @property
    def changes(self) -> tuple[Change, ...]:
        """What the plan changes here."""
        return self.extent.changes(self.name)

    async def begin(self) -> None:
        """Write the record: intents for all that will be made, and the decisions. Nothing is sent where it says so,
        or where this was done already.

        Raises DocumentConflict where another writer was here since the plan: nothing may be written then.
        """
        async with self.storing:
            if self.record is None:
                self._tell("recording")
                self.uids |= self.planned.found.get(self.name, {})
                self.record = await self._store(self.extent.intent(self.state), self.state.record)

    async def apply(self, changes: Iterable[Change]) -> None:
        """Create and update, rank after rank. What fails is in ``results``; the rest goes on."""
        ordered = sorted(changes, key=lambda change: (rank(change.key), change.key))
        for at_rank, group in groupby(ordered, key=lambda change: rank(change.key)):
            todo = list(group)
            await together({f"{self.name} {change.key}": self._write(change, "writing") for change in todo})
            if at_rank == CRDS:
                await self._establish([change for change in todo if self._done(change.key)])

    async def confirm(self) -> None:
        """Write the uids of what was made into the record, before anything is deleted."""
        async with self.storing:
            assert self.record is not None, "begin comes first"
            record = confirmed(self.record, self.uids, self.origins, self.versions, self.digests)
            self.record = await self._store(record, self.record)

    async def wait(self, changes: Collection[Change]) -> None:
        """Wait until what was changed is ready; what is not becomes ``not ready`` in ``results``, with the reason."""
        health = await self.wait_for(waits_for([change.key for change in changes if self._done(change.key)]))
        for change in changes:
            seen = health.get(change.key)
            if seen is not None and not is_ready(seen):
                self._settle(change, "not ready", self._not_ready(change.key, seen))

    async def wait_for_earlier(self) -> None:
        """Wait for what an earlier apply left not ready: an apply that has nothing to change must not hide it.

        Only what is ready is stamped, so these are among the objects that no stamp proves.
        """
        keys = [key for key in self.planned.unproved.get(self.name, ()) if key not in self.results]
        for key, seen in (await self.wait_for(waits_for(keys))).items():
            if not is_ready(seen):
                self.problems.append(self._not_ready(key, seen))

    async def wait_for(self, keys: Collection[ObjectKey]) -> dict[ObjectKey, Health]:
        """The health of these objects, once they are ready or the time is over; none is waited for twice."""
        desired = self.planned.desired.members.get(self.name)
        versions = {one.key: one.version for one in desired.objects} if desired else {}
        now_s = asyncio.get_running_loop().time()
        due = {key: versions.get(key, "") for key in keys if key not in self.health}
        self.health |= await wait_ready(
            self.connection,
            self.state,
            due,
            deadlines={key: self.written_s.get(key, now_s) + self.timeout_s for key in due},
            finishing=self._finishing(),
            stop=self.stop,
            tell=lambda key, seen: self._tell("waiting", key, "" if is_ready(seen) else seen.reason),
        )
        return {key: self.health[key] for key in sorted(keys)}

    async def delete(self, changes: Iterable[Change]) -> None:
        """Delete and release, in the opposite order of writing."""
        ordered = sorted(changes, key=lambda change: (-rank(change.key), change.key))
        for _, group in groupby(ordered, key=lambda change: rank(change.key)):
            await together({f"{self.name} {change.key}": self._write(change, "deleting") for change in group})

    async def finish(self, *, unfinished: Collection[ObjectKey]) -> None:
        """Trim the record: what was removed and which moves are done. ``unfinished`` moves stay in it."""
        assert self.record is not None, "begin comes first"
        record = confirmed(self.record, self.uids, self.origins, self.versions, self.digests)
        record = trimmed(
            record,
            removed=self.removed,
            decisions=self.planned.decisions,
            moves=self.planned.plan.moves,
            unfinished=unfinished,
        )
        self.record = await self._store(record, self.record)
        self._tell("done")

    async def stamp(self) -> None:
        """Stamp what was changed, and what took a dry run to know that it is unchanged, as it stands now.

        The read comes after everything settled: what controllers and webhooks made of an object is part of its stamp.
        What is not ready is not stamped, so that the next apply waits for it. Stamps that cannot be stored are no
        fault of the member's: the next plan asks it instead.
        """
        for pause_s in (*CONFLICT_PAUSES_S, None):
            try:
                await stamp_objects(
                    self.connection,
                    self.state,
                    self.planned,
                    changed={key for key, one in self.results.items() if one.result == "done"},
                    removed=self.removed,
                    unready={key for key, seen in self.health.items() if not is_ready(seen)},
                )
            except DocumentConflict as conflict:
                if pause_s is None:
                    self.problems.append(replace(conflict.problem, severity="warning"))
                    return
                await asyncio.sleep(pause_s)
            else:
                return

    def give_up(self, changes: Iterable[Change], result: Result, why: str) -> None:
        """Note that changes were not tried, and why."""
        for change in changes:
            if change.key not in self.results:
                self._settle(change, result, Problem(what=why, member=self.name, object=str(change.key)))

    def ordered_results(self) -> Sequence[ChangeResult]:
        """The results in the plan's order."""
        return [self.results[change.key] for change in self.changes if change.key in self.results]

    async def _store(self, record: Record, stored: Record | None) -> Record:
        if stored is not None and record == stored:
            return stored
        for pause_s in CONFLICT_PAUSES_S:
            try:
                return await write_record(self.connection, record)
            except DocumentConflict:
                # Whoever only touched the ConfigMap's metadata is no other writer of the record.
                found = await read_record(self.connection, record.fleet, member_uid=record.member_uid)
                if stored is None or found is None:
                    raise
                if replace(found, resource_version=stored.resource_version) != stored:
                    raise
                record, stored = replace(record, resource_version=found.resource_version), found
                await asyncio.sleep(pause_s)
        return await write_record(self.connection, record)

    async def _write(self, change: Change, stage: Stage) -> None:
        if self.stop.asked:
            self._settle(change, "skipped", Problem(what=INTERRUPTED, member=self.name, object=str(change.key)))
            return
        resource = served(self.state, change.key, change.version)
        if resource is None or (change.desired is not None and resource.version != change.version):
            self._settle(change, "failed", self._not_served(change))
            return
        try:
            written = await self._written(resource, change)
        except MemberRefused as error:
            self._settle(change, "failed", refused(change, error))
            return
        self._note(change, written)
        self._settle(change, "done", None)
        self._tell(stage, change.key)

    async def _written(self, resource: ApiResource, change: Change) -> Written:
        """One change, tried again while the member may not have taken in a CRD that was just written."""
        fleet = self.planned.repo.fleet
        while True:
            try:
                return await write(
                    self.connection,
                    resource,
                    change,
                    manager=fleet.field_manager,
                    set_id=applyset_id(fleet.record_name),
                )
            except ManifestRefused:
                if asyncio.get_running_loop().time() >= self._schema_deadline_s(change.key.group) or self.stop.asked:
                    raise
            await self.stop.pause(SCHEMA_PAUSE_S)

    def _schema_deadline_s(self, group: str) -> float:
        """Until when the schema of this group may still be on its way; past where no CRD of it was written."""
        times = [
            written_s + SCHEMA_SETTLES_S
            for key, written_s in self.written_s.items()
            if key.kind == "CustomResourceDefinition" and key.name.partition(".")[2] == group
        ]
        return max(times, default=0.0)

    def _note(self, change: Change, written: Written) -> None:
        self.problems += written.notes
        if change.action in ("delete", "release"):
            self.removed.add(change.key)
            return
        self.uids[change.key] = written.uid
        self.versions[change.key] = change.version
        self.digests[change.key] = written.digest
        if written.origin is not None:
            self.origins[change.key] = written.origin

    async def _establish(self, crds: Sequence[Change]) -> None:
        """Wait until CRDs are served, and learn what they serve: what comes next may be of their kind.

        Discovery tells of a kind a little later than its CRD says that it is established.
        """
        if not crds:
            return
        await self.wait(crds)
        groups = {crd.key.name.partition(".")[2] for crd in crds if self._done(crd.key)}
        coming = {
            GroupVersionKind(change.key.group, change.version, change.key.kind)
            for change in self.changes
            if change.desired is not None and change.key.group in groups
        }
        loop = asyncio.get_running_loop()
        until_s = loop.time() + SCHEMA_SETTLES_S
        while True:
            discovered = await discover(self.connection)
            self.state = replace(self.state, api_resources=discovered.resources, undiscovered=discovered.failed)
            if all(map(self.state.serving, coming)) or self.stop.asked or loop.time() >= until_s:
                return
            await self.stop.pause(SCHEMA_PAUSE_S)

    def _finishing(self) -> frozenset[ObjectKey]:
        """The Jobs that the member removes once they have finished: those whose digest is recorded, or will be."""
        recorded = {entry.key: entry.digest for entry in self.record.objects} if self.record else {}
        return frozenset(key for key, digest in {**recorded, **self.digests}.items() if digest)

    def _done(self, key: ObjectKey) -> bool:
        return key in self.results and self.results[key].result == "done"

    def _settle(self, change: Change, result: Result, problem: Problem | None) -> None:
        if result == "done":
            self.written_s[change.key] = asyncio.get_running_loop().time()
        self.finished += (result == "done") - self._done(change.key)
        self.results[change.key] = ChangeResult(change=change, result=result, problem=problem)

    def _tell(self, stage: Stage, key: ObjectKey | None = None, text: str = "") -> None:
        self.listener(
            Event(member=self.name, stage=stage, finished=self.finished, total=len(self.changes), key=key, text=text)
        )

    def _not_ready(self, key: ObjectKey, seen: Health) -> Problem:
        return Problem(
            what="interrupted while waiting for it" if self.stop.asked else f"not ready after {self.timeout_s:g} s",
            member=self.name,
            object=str(key),
            why=f"{seen.code}: {seen.reason}" if seen.reason else seen.code,
            hint="kadm status shows how it goes on; --timeout waits longer",
        )

    def _not_served(self, change: Change) -> Problem:
        return Problem(
            what=f"the member does not serve version {change.version} of this kind",
            member=self.name,
            object=str(change.key),
            where=change.desired.location if change.desired else None,
        )
