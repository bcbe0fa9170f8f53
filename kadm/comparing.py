"""One member's part of a plan: what is live there, what the member answers to dry runs, what its namespaces hold.

Beside ``pipeline``, which calls it for every member. It holds no rule of its own: ``compare`` decides. Sends reads and
dry runs only.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from msgspec import Struct
from msgspec.structs import replace

from kadm.asking import ask
from kadm.compare import (
    REPLICAS,
    Contents,
    Leaving,
    MemberComparison,
    Permissions,
    Prover,
    Size,
    Terms,
    compare_member,
    folds,
    going,
    guard,
    is_secret,
    leave,
    questions,
)
from kadm.errors import MemberRefused, Problem
from kadm.members.autoscalers import read_autoscaled, scaled_by
from kadm.members.connection import Connection
from kadm.members.contents import foreign_or_unknown
from kadm.members.live import read_live, served
from kadm.members.record import RecordLost
from kadm.members.secret_key import read_secret_key
from kadm.members.stamps import read_stamps
from kadm.members.together import together
from kadm.members.traces import is_trace
from kadm.model.applyset import applyset_id
from kadm.model.definitions import defined_types
from kadm.model.desired import DesiredMember, DesiredObject
from kadm.model.live import DryRun, LiveMember, RawObject
from kadm.model.objects import GroupVersionKind, JsonObject, ObjectKey, at
from kadm.model.observation import MemberState
from kadm.model.record import RecordedObject
from kadm.model.repository import Repo
from kadm.model.stamps import Stamps, Taken, key_of_stamp
from kadm.model.workload import workload_kind
from kadm.render import adopts_in, is_released, retains_replicas


class Compared(Struct, frozen=True, kw_only=True):
    """A member's comparison, how many objects it is about, and what the member holds then: the desired objects without
    what is left to others."""

    comparison: MemberComparison
    size: Size
    desired: DesiredMember


async def compare_in_member(
    connection: Connection,
    state: MemberState,
    desired: DesiredMember,
    repo: Repo,
    permissions: Permissions,
    *,
    targets: Collection[ObjectKey] | None,
) -> Compared:
    """What would change in one member; of ``targets`` alone, and of the namespaces that they need, if there are any.

    Deletions are guarded one by one; how many of them may pass is to be looked at for all members (``bounded``).
    Raises MemberError where the member does not answer, RecordLost where its record is gone.
    """
    record = state.record
    wanted = desired
    if targets is not None:
        chosen = {*targets, *(ObjectKey("", "Namespace", "", key.namespace) for key in targets if key.namespace)}
        wanted = replace(desired, objects=tuple(one for one in desired.objects if one.key in chosen))
        kept = tuple(entry for entry in record.objects if entry.key in targets) if record else ()
        record = replace(record, objects=_with_namespaces(record.objects, kept, wanted)) if record else None
    recorded = {entry.key: entry for entry in record.objects} if record else {}
    reading = _Reading(connection, state, repo, permissions, wanted, recorded)
    await reading.begin()
    live = await reading.live()
    reading.refuse_lost_record(live)
    wanted = reading.reduced(live)
    terms = reading.terms(live)
    answers: dict[ObjectKey, DryRun] = {}

    async def answer(one: DesiredObject) -> None:
        answers[one.key] = await reading.answer(one, live.objects.get(one.key), terms)

    await together({f"{state.name} {one.key}": answer(one) for one in questions(wanted, live, record, terms)})
    comparison = compare_member(wanted, live, answers, record=record, terms=terms)
    guarded = guard(
        replace(comparison, problems=(*reading.problems, *comparison.problems)),
        live=live,
        contents=await _contents(
            connection, state, comparison, going(comparison, live, recorded.values(), permissions)
        ),
        permissions=permissions,
    )
    size = Size(
        recorded=len(state.record.objects) if state.record else 0, desired=len(desired.objects) + len(desired.frozen)
    )
    now = {one.key: one for one in wanted.objects}
    objects = tuple(now.get(one.key, one) for one in desired.objects)
    return Compared(comparison=guarded, size=size, desired=replace(desired, objects=objects))


class _Reading:
    """What is read of one member, step by step. Steps are called in the order in which they stand here."""

    def __init__(
        self,
        connection: Connection,
        state: MemberState,
        repo: Repo,
        permissions: Permissions,
        wanted: DesiredMember,
        recorded: Mapping[ObjectKey, RecordedObject],
    ) -> None:
        self._connection = connection
        self._state = state
        self._repo = repo
        self._permissions = permissions
        self._wanted = wanted
        self._recorded = recorded
        self._by_key = {one.key: one for one in wanted.objects if one.key not in wanted.frozen}
        self._reduced: dict[ObjectKey, DesiredObject] = {}
        self._set_id = applyset_id(repo.fleet.record_name)
        self._leaving = Leaving()
        self._prover: Prover | None = None
        self.problems: list[Problem] = []

    async def begin(self) -> None:
        """Read what proves objects unchanged, and who scales what."""
        fleet, state = self._repo.fleet, self._state
        stamps, secret_key = Stamps(fleet=fleet.name, member_uid=state.uid), None
        if state.record is not None:  # a member without record has no stamps either
            stamps = await read_stamps(self._connection, fleet.name, member_uid=state.uid)
            if any(map(is_secret, self._by_key)):
                secret_key = await read_secret_key(self._connection, fleet.name)
        self._prover = Prover(stamps, manager=fleet.field_manager, set_id=self._set_id, secret_key=secret_key)
        self._leaving = Leaving(
            rules=fleet.spec.ignore,
            autoscaled=await self._autoscaled(),
            retained=frozenset(one.key for one in self._repo.manifests if retains_replicas(one)),
            taken=self._contests(stamps),
        )

    async def live(self) -> LiveMember:
        """The desired and recorded objects as they are live; those that need nothing are only counted."""
        versions = {key: entry.version for key, entry in self._recorded.items()}
        versions |= {one.key: one.version for one in self._wanted.objects}
        return await read_live(self._connection, self._state, versions, set_id=self._set_id, settled=self._is_settled)

    def refuse_lost_record(self, live: LiveMember) -> None:
        """Raises RecordLost where the member holds no record, and live objects show that it did."""
        fleet = self._repo.fleet
        if self._state.record is None and any(
            is_trace(obj, set_id=self._set_id, manager=fleet.field_manager) for obj in live.objects.values()
        ):
            raise RecordLost(self._state.name, fleet.name)

    def reduced(self, live: LiveMember) -> DesiredMember:
        """What the member must hold, without what is left to others there."""
        objects = tuple(
            self._reduced.get(one.key) or self._left(one, live.objects.get(one.key)) for one in self._wanted.objects
        )
        return replace(self._wanted, objects=objects)

    def terms(self, live: LiveMember) -> Terms:
        """What holds for all objects of the comparison."""
        coming = {
            one.key
            for one in self._wanted.objects
            if one.key.kind in ("Namespace", "CustomResourceDefinition")
            and one.key not in live.objects
            and one.key not in live.settled
        }
        manifests = self._repo.manifests
        return Terms(
            member=self._state.name,
            manager=self._repo.fleet.field_manager,
            set_id=self._set_id,
            permissions=self._permissions,
            coming=frozenset(coming),
            adopting=frozenset(one.key for one in manifests if adopts_in(one, self._state.name)),
            released=frozenset(one.key for one in manifests if is_released(one)),
        )

    async def answer(self, one: DesiredObject, live: JsonObject | None, terms: Terms) -> DryRun:
        """What the member would make of one object."""
        resource = served(self._state, one.key, one.version)
        if resource is None or resource.version != one.version:
            if (crd := self._brings(one)) is not None:
                return DryRun(outcome="impossible", note=f"after CRD {crd}")
            return DryRun(outcome="refused", problem=_not_served(self._state, one))
        fold = folds(one, live, self._recorded.get(one.key), terms) if live is not None else ()
        return await ask(self._connection, resource, one, live, fold=fold, manager=terms.manager, set_id=self._set_id)

    def _brings(self, one: DesiredObject) -> str | None:
        """The CRD of the same plan that serves the object's version from then on; None where there is none."""
        wanted = GroupVersionKind(one.key.group, one.version, one.key.kind)
        definitions = (crd for crd in self._by_key.values() if crd.key.kind == "CustomResourceDefinition")
        return next((crd.key.name for crd in definitions if wanted in defined_types(crd.object)), None)

    def _is_settled(self, key: ObjectKey, raw: RawObject) -> bool:
        one, mine = self._by_key.get(key), self._recorded.get(key)
        if one is None or mine is None or mine.uid != raw.uid or mine.recreating or self._prover is None:
            return False
        if self._permissions.take_over or (self._permissions.adopt_prune and mine.origin == "adopted"):
            return False  # stamps say nothing of what others hold, and that is asked for
        rules = self._leaving.of(one)
        if rules:
            needed = any(rule.manager or rule.scales for rule in rules)
            one = self._reduced[key] = leave(one, rules, raw.decoded if needed else None)
        if any(left.contested for left in one.left):
            return False  # it is reported each time
        return self._prover.unchanged(one, raw)

    def _left(self, one: DesiredObject, live: JsonObject | None) -> DesiredObject:
        return leave(one, self._leaving.of(one), live)

    async def _autoscaled(self) -> dict[ObjectKey, str]:
        """Workload → who scales it: autoscalers of the repository, and live ones that stay."""
        if not any(_is_scalable(one) for one in self._by_key.values()):
            return {}
        wanted = {key: one for key, one in self._by_key.items() if key.kind == "HorizontalPodAutoscaler"}
        staying = {*wanted, *self._wanted.frozen}

        def counts(key: ObjectKey) -> bool:
            return key in staying or key not in self._recorded

        try:
            found = await read_autoscaled(self._connection, self._state, counts=counts)
        except MemberRefused as refused:
            found = {}
            self.problems.append(
                replace(
                    refused.problem,
                    what="which workloads are scaled by autoscalers could not be read: git's replicas win",
                    severity="warning",
                )
            )
        for key, one in wanted.items():
            if (target := scaled_by(one.object)) is not None:
                found[target] = f"HorizontalPodAutoscaler {key.name}"
        return found

    def _contests(self, stamps: Stamps) -> dict[ObjectKey, tuple[Taken, ...]]:
        """What was taken back so far, but from whom the user takes it for good."""
        return {
            key_of_stamp(text): tuple(one for one in taken if one.manager not in self._permissions.take_over)
            for text, taken in stamps.taken.items()
        }


def _is_scalable(one: DesiredObject) -> bool:
    kind = workload_kind(one.key.group, one.key.kind)
    return (kind is not None and kind.replicas_path == REPLICAS) or at(one.object, REPLICAS) is not None


def _with_namespaces(
    objects: Collection[RecordedObject], kept: Collection[RecordedObject], wanted: DesiredMember
) -> tuple[RecordedObject, ...]:
    """The recorded objects that a narrowed plan is about: the targets, and namespaces that stay."""
    staying = {one.key for one in wanted.objects}
    return tuple(entry for entry in objects if entry in kept or entry.key in staying)


async def _contents(
    connection: Connection, state: MemberState, comparison: MemberComparison, own_uids: Collection[str]
) -> dict[ObjectKey, Contents]:
    """What stands behind each namespace and CRD that would be deleted."""
    found = {}
    for change in comparison.changes:
        if change.action == "delete" and change.key.kind in ("Namespace", "CustomResourceDefinition"):
            foreign, unknown = await foreign_or_unknown(
                connection, state, change.key.kind, change.key.name, own_uids=own_uids
            )
            found[change.key] = Contents(foreign=foreign, unknown=unknown)
    return found


def _not_served(state: MemberState, one: DesiredObject) -> Problem:
    others = sorted(
        resource.gvk.api_version
        for resource in state.api_resources
        if (resource.group, resource.kind) == (one.key.group, one.key.kind)
    )
    return Problem(
        what=f"the member does not serve version {one.version} of this kind",
        where=one.location,
        member=state.name,
        object=str(one.key),
        hint=f"it serves {', '.join(others)}" if others else "install its CustomResourceDefinition first",
    )
