"""What the record of a member says before, during and after its writes (design, section 5). Pure.

Before the first create: every object that will be made is in it as an intent, so that a crash never loses track of one.
After the last delete: what is gone is out of it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Literal

from msgspec.structs import replace

from kadm.model.decision import Decision, Decisions
from kadm.model.objects import ObjectKey
from kadm.model.plan import Change, Move
from kadm.model.record import Record, RecordedObject, RecordedWorkload


def intended(
    record: Record | None,
    *,
    fleet: str,
    member: str,
    member_uid: str,
    commit: str,
    changes: Collection[Change],
    decisions: Decisions,
    moves: Collection[Move],
    gone: Collection[ObjectKey],
    kept: Mapping[ObjectKey, bool] = {},
) -> Record:
    """The record to write before the first change: intents for what will be made, and the new decisions.

    ``kept``: object of the repository → whether its manifest asks that it is released, never deleted. The record
    remembers that for when the manifest is gone.

    What was decided of a workload that nobody decides about any more stays while its object does: its deletion may be
    held back, and once it is in the repository again it keeps its place.
    """
    base = record or Record(fleet=fleet, member_uid=member_uid)
    objects = {
        entry.key: replace(entry, keep=kept.get(entry.key, entry.keep))
        for entry in base.objects
        if entry.key not in gone
    }
    for change in changes:
        if change.action == "recreate" and change.key in objects:
            objects[change.key] = replace(objects[change.key], recreating=True)
        if change.action in ("create", "adopt"):
            key = change.key
            objects[key] = RecordedObject(
                group=key.group,
                version=change.version,
                kind=key.kind,
                namespace=key.namespace,
                name=key.name,
                uid=change.uid if change.action == "adopt" else "",
                origin="adopted" if change.action == "adopt" else "created",
                keep=kept.get(key, False),
                adopting=change.action == "adopt",
            )
    workloads = {
        entry.key: entry for entry in base.workloads if entry.key in objects and entry.key not in decisions.by_key
    }
    workloads |= {entry.key: entry for entry in _workloads(base, member, decisions, moves, leaving=True)}
    return replace(
        base,
        member=member,
        commit=commit,
        objects=_sorted(objects),
        workloads=tuple(workloads[key] for key in sorted(workloads)),
    )


def confirmed(
    record: Record,
    uids: Mapping[ObjectKey, str],
    origins: Mapping[ObjectKey, Literal["created", "adopted"]],
    versions: Mapping[ObjectKey, str],
    digests: Mapping[ObjectKey, str] = {},
) -> Record:
    """The record with what the member answered: uids, versions applied, and what turned out to exist already.

    What is another object than before, and was to be made anew, is kadm's own from then on. ``digests`` are those of
    Jobs that the member removes once they have finished.
    """
    objects = {
        entry.key: replace(
            entry,
            uid=uids.get(entry.key, entry.uid),
            origin=origins.get(entry.key, "created" if _is_made_anew(entry, uids) else entry.origin),
            version=versions.get(entry.key, entry.version),
            digest=digests.get(entry.key, entry.digest),
            adopting=entry.adopting and entry.key not in uids,
            recreating=entry.recreating and entry.key not in uids,
        )
        for entry in record.objects
    }
    return replace(record, objects=_sorted(objects))


def trimmed(
    record: Record,
    *,
    removed: Collection[ObjectKey],
    decisions: Decisions,
    moves: Collection[Move],
    unfinished: Collection[ObjectKey],
) -> Record:
    """The record after the last delete: without what was removed, and without the moves that are done.

    ``unfinished`` are workloads whose move goes on: they stay as they are, in the member that they leave too.
    """
    objects = {entry.key: entry for entry in record.objects if entry.key not in removed}
    still = [move for move in moves if move.key in unfinished]
    settled = {entry.key: entry for entry in _workloads(record, record.member, decisions, still, leaving=False)}
    for entry in record.workloads:
        if entry.key in unfinished or (entry.key in objects and entry.key not in settled):
            settled[entry.key] = entry
    return replace(record, objects=_sorted(objects), workloads=tuple(settled[key] for key in sorted(settled)))


def _workloads(
    record: Record, member: str, decisions: Decisions, moves: Collection[Move], *, leaving: bool
) -> tuple[RecordedWorkload, ...]:
    """What the record says of every scheduled workload; frozen ones stay as they are."""
    moving = {move.key: move for move in moves}
    before = {entry.key: entry for entry in record.workloads}
    found: dict[ObjectKey, RecordedWorkload] = {}
    for key, decision in decisions.by_key.items():
        if decision.outcome == "frozen":
            if key in before:
                found[key] = before[key]
        elif member in decision.placement or (leaving and key in before):
            found[key] = _workload(key, decision, member, moving.get(key), before.get(key))
    return tuple(found[key] for key in sorted(found))


def _workload(
    key: ObjectKey, decision: Decision, member: str, move: Move | None, before: RecordedWorkload | None
) -> RecordedWorkload:
    divided = any(replicas is not None for replicas in decision.placement.values())
    return RecordedWorkload(
        group=key.group,
        kind=key.kind,
        namespace=key.namespace,
        name=key.name,
        replicas=decision.placement.get(member, 0 if divided or (before and before.replicas is not None) else None),
        policy=str(decision.policy.policy) if decision.policy else "",
        triggers=dict(sorted(decision.triggers.items())),
        placement=dict(sorted(decision.placement.items())),
        blocks=dict(sorted(decision.blocks.items())),
        moving=_before(move, decision) if move else {},
    )


def _before(move: Move, decision: Decision) -> dict[str, int]:
    """The division before the move: what each member had, from what it has now and what changed. Copies where it moves
    whole."""
    now = {name: 1 if move.whole else replicas or 0 for name, replicas in decision.placement.items()}
    names = sorted({*now, *move.leaves, *move.arrives})
    had = {name: now.get(name, 0) + move.leaves.get(name, 0) - move.arrives.get(name, 0) for name in names}
    return {name: number for name, number in had.items() if number}


def _is_made_anew(entry: RecordedObject, uids: Mapping[ObjectKey, str]) -> bool:
    return entry.recreating and uids.get(entry.key, entry.uid) != entry.uid


def _sorted(objects: Mapping[ObjectKey, RecordedObject]) -> tuple[RecordedObject, ...]:
    return tuple(objects[key] for key in sorted(objects))
