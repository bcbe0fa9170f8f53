"""Stamping objects after an apply, so that the next plan can prove that they need nothing."""

from __future__ import annotations

from collections.abc import Collection

from msgspec.structs import replace

from kadm.compare import Prover, contest_digest, is_secret
from kadm.members.connection import Connection
from kadm.members.live import read_live
from kadm.members.secret_key import ensure_secret_key
from kadm.members.stamps import read_stamps, write_stamps
from kadm.model.applyset import applyset_id
from kadm.model.live import RawObject
from kadm.model.objects import ObjectKey
from kadm.model.observation import MemberState
from kadm.model.planned import Planned
from kadm.model.stamps import Stamps, Taken, stamp_key


async def stamp_objects(
    connection: Connection,
    state: MemberState,
    planned: Planned,
    *,
    changed: Collection[ObjectKey],
    removed: Collection[ObjectKey],
    unready: Collection[ObjectKey],
) -> None:
    """Read the objects that have no valid stamp, and store their stamps. Nothing is sent where there are none.

    ``removed`` and ``unready`` objects lose theirs.

    Raises DocumentConflict where another writer stamped meanwhile, MemberError where the member does not answer.
    """
    unproved = planned.unproved.get(state.name, ())
    if not changed and not removed and not unready and not unproved:
        return
    fleet = planned.repo.fleet
    desired = planned.desired.members.get(state.name)
    stampless = {*removed, *unready}
    due = {*changed, *unproved} - stampless
    wanted = {one.key: one for one in desired.objects if one.key in due} if desired else {}
    secret_key = await ensure_secret_key(connection, fleet.name) if any(map(is_secret, wanted)) else None
    stamps = await read_stamps(connection, fleet.name, member_uid=state.uid)
    set_id = applyset_id(fleet.record_name)
    prover = Prover(stamps, manager=fleet.field_manager, set_id=set_id, secret_key=secret_key)
    dropped = {stamp_key(key) for key in stampless}
    stamped = {text: stamp for text, stamp in stamps.objects.items() if text not in dropped}

    def stamp(key: ObjectKey, live: RawObject) -> bool:
        found = prover.stamp(wanted[key], live)
        if found is None:
            stamped.pop(stamp_key(key), None)
        else:
            stamped[stamp_key(key)] = found
        return True  # seen: nothing of it needs to be kept

    await read_live(connection, state, {key: one.version for key, one in wanted.items()}, set_id=set_id, settled=stamp)
    after = replace(stamps, objects=dict(sorted(stamped.items())), taken=_taken(stamps, planned, state.name, changed))
    if after != stamps:
        await write_stamps(connection, after)


def _taken(
    stamps: Stamps, planned: Planned, member: str, changed: Collection[ObjectKey]
) -> dict[str, tuple[Taken, ...]]:
    """What kadm took back from others, with what this run took; forgotten where git wants something else now."""
    desired = planned.desired.members.get(member)
    digests = {stamp_key(one.key): contest_digest(one) for one in desired.objects} if desired else {}
    counts = {
        (text, one.path, one.manager): one.times
        for text, taken in stamps.taken.items()
        for one in taken
        if one.digest == digests.get(text)
    }
    for change in planned.plan.changes:
        if change.cluster == member and change.key in changed and change.action == "update":
            for path, manager in change.takes:
                taken_from = (stamp_key(change.key), path, manager)
                counts[taken_from] = counts.get(taken_from, 0) + 1
    found: dict[str, tuple[Taken, ...]] = {}
    for (text, path, manager), times in sorted(counts.items()):
        one = Taken(path=path, manager=manager, times=times, digest=digests[text])
        found[text] = (*found.get(text, ()), one)
    return found
