"""All writes to one member: what its wave has it do, and, beside it, what moves have it do.

    its wave    record → create and update → record → arrivals told → ready → deletions
    its moves   for each workload that leaves: arrived everywhere else → shrink
    then        deletions near what left → record → stamps

A shrink is in no wave, for its wave could wait for the one that its replicas go to (api-servers, 29). One that changes
more than the number of replicas follows the changes of its member's own wave: what it refers to must be there.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from kadm.execute.arrivals import Arrivals
from kadm.execute.member import MemberRun
from kadm.execute.turns import Turns
from kadm.execute.wait import is_ready
from kadm.members.together import together
from kadm.model.objects import ObjectKey, path_text
from kadm.model.plan import Change
from kadm.model.workload import workload_kind

REMOVALS = ("delete", "release")


@dataclass(frozen=True)
class _Parts:
    """The changes of one member: those of its wave, those that moves bring, and deletions that come after both."""

    first: list[Change]
    pruned: list[Change]
    shrinking: list[Change]
    late: list[Change]

    @classmethod
    def of(cls, changes: Iterable[Change], leaving: Iterable[ObjectKey]) -> _Parts:
        """Deletions in a namespace that a workload leaves, and of what has no namespace, wait for the move."""
        gone = frozenset(leaving)
        near = {key.namespace for key in gone} | {""}
        parts = cls([], [], [], [])
        for change in changes:
            if change.key in gone:
                parts.shrinking.append(change)
            elif change.action not in REMOVALS:
                parts.first.append(change)
            elif gone and change.key.namespace in near:
                parts.late.append(change)
            else:
                parts.pruned.append(change)
        return parts


async def write_member(run: MemberRun, arrivals: Arrivals, turns: Turns, *, wait: bool) -> None:
    """Carry out all changes of one member. Raises MemberError where it is lost on the way."""
    parts = _Parts.of(run.changes, arrivals.leaving(run.name))
    outcome = await together(
        {
            f"{run.name} wave": _in_its_wave(run, arrivals, turns, parts, wait=wait),
            f"{run.name} moves": _leave(run, arrivals, turns, parts),
        }
    )
    unfinished = {key for keys in outcome.values() for key in keys}
    if run.record is None:
        return  # its turn did not come, and no move needed it
    if wait:
        await run.wait([change for change in parts.shrinking if change.action not in REMOVALS])
    if why := await turns.until_come(run.name):
        run.give_up(parts.late, turns.refused_as, why)
    await _prune(run, parts.late)
    for key in arrivals.expected_in(run.name):
        # Whoever arrives sooner than another waits for it: its record would else tell of a move that is done.
        if await arrivals.all_arrived(key):
            unfinished.add(key)
    await run.finish(unfinished=unfinished)
    if not run.stop.asked:
        await run.stamp()


async def _in_its_wave(
    run: MemberRun, arrivals: Arrivals, turns: Turns, parts: _Parts, *, wait: bool
) -> set[ObjectKey]:
    """What the member does when its turn comes; always the empty set: moves are the other part's."""
    if why := await turns.until_come(run.name):
        run.give_up([*parts.first, *parts.pruned], turns.refused_as, why)
        arrivals.lost(run.name, why)
        return set()
    await run.begin()
    await run.apply(parts.first)
    await run.confirm()
    turns.applied(run.name)
    await _report_arrivals(run, arrivals)
    if wait:
        await run.wait(parts.first)
        await run.wait_for_earlier()
    await _prune(run, parts.pruned)
    turns.over(run.name)
    return set()


async def _report_arrivals(run: MemberRun, arrivals: Arrivals) -> None:
    """Wait for what moves here, changed in this run or before, and tell the members that it leaves.

    What this run leaves as it is in the member has not arrived, however well that is: it may be somebody else's.
    """
    plan = run.planned.plan
    left = {held.change.key: f"held back: {held.why}" for held in plan.held if held.change.cluster == run.name}
    left |= plan.frozen.get(run.name, {})
    for key in arrivals.expected_in(run.name):
        if key in left:
            arrivals.say(run.name, key, left[key])
        elif (result := run.results.get(key)) is not None and result.result in ("failed", "skipped"):
            arrivals.say(run.name, key, result.problem.what if result.problem else "it failed")
    for key, seen in (await run.wait_for([key for key in arrivals.expected_in(run.name) if key not in left])).items():
        arrivals.say(run.name, key, "" if is_ready(seen) else f"{seen.code}: {seen.reason}")


async def _leave(run: MemberRun, arrivals: Arrivals, turns: Turns, parts: _Parts) -> set[ObjectKey]:
    """Shrink each workload that has arrived wherever it goes; the others keep their replicas and are returned."""

    async def one(key: ObjectKey) -> bool:
        own = [change for change in parts.shrinking if change.key == key]
        if why_not := await arrivals.all_arrived(key):
            run.give_up(own, "held", f"it keeps its replicas here until they are ready elsewhere; {why_not}")
            return False
        if not all(map(_only_shrinks, own)) and (why_not := await turns.until_applied(run.name)):
            run.give_up(own, turns.refused_as, why_not)
            return False
        await run.begin()
        await run.apply([change for change in own if change.action not in REMOVALS])
        await run.delete([change for change in own if change.action in REMOVALS])
        return True

    leaving = sorted(arrivals.leaving(run.name))
    done = await together({f"{run.name} {key} leaves": one(key) for key in leaving})
    return {key for key, left in zip(leaving, done.values(), strict=True) if not left}


def _only_shrinks(change: Change) -> bool:
    """Whether a change takes replicas away and does nothing else."""
    known = workload_kind(change.key.group, change.key.kind)
    if change.action in REMOVALS or known is None or known.replicas_path is None:
        return change.action in REMOVALS
    return {field.path for field in change.fields} <= {path_text(known.replicas_path)}


async def _prune(run: MemberRun, removals: list[Change]) -> None:
    """Delete what left the repository, but nothing in a namespace where something new is not well: it may be needed."""
    ill = {
        one.change.key.namespace for one in run.results.values() if one.result != "done" and one.change.key.namespace
    }
    left = [change for change in removals if change.key not in run.results]
    kept = [
        change
        for change in left
        if change.key.namespace in ill or (change.key.kind == "Namespace" and change.key.name in ill)
    ]
    await run.delete([change for change in left if change not in kept])
    run.give_up(kept, "held", "it stays until everything else in its namespace is well")
