"""What a plan and its report mean to whoever looks at the daemon: drift, what is held back, moves that go on. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from kadm.compare.drift import REPORTED, is_drift
from kadm.errors import Problem
from kadm.model.objects import ObjectKey
from kadm.model.plan import Change
from kadm.model.planned import Planned
from kadm.model.report import Report
from kadm.watch.state import HeldView, PlanView

Drifted = Mapping[ObjectKey, Mapping[str, tuple[str, ...]]]
"""Object → member → the fields that are not as git says, as paths; ``(deleted)`` where it is gone."""

DELETED = "(deleted)"


def drifted(planned: Planned) -> Drifted:
    """What others changed in members, whether it is corrected or only reported."""
    records = {
        name: {entry.key: entry for entry in state.record.objects} if state.record is not None else {}
        for name, state in planned.observation.read.items()
    }
    found: dict[ObjectKey, dict[str, tuple[str, ...]]] = {}
    held = [one.change for one in planned.plan.held if one.why == REPORTED]
    for change in (*planned.plan.changes, *held):
        if is_drift(change, records.get(change.cluster, {})):
            found.setdefault(change.key, {})[change.cluster] = _paths(change)
    return found


def held_views(planned: Planned, report: Report | None = None) -> tuple[HeldView, ...]:
    """What is not done by itself, and what releases it: guards, suspension, frozen objects, unplaced replicas, and what
    an apply left undone."""
    plan = planned.plan
    found = [
        HeldView(
            member=one.change.cluster,
            object=str(one.change.key),
            action=one.change.action,
            why=one.why,
            release=_release(one.flag),
        )
        for one in plan.held
    ]
    about = {(one.member, one.object): one for one in plan.problems if one.severity == "error"}
    for member, objects in sorted(plan.frozen.items()):
        for key, why in objects.items():
            problem = about.get((member, str(key))) or about.get(("", str(key)))
            found.append(
                HeldView(
                    member=member,
                    object=str(key),
                    action=None,
                    why=why if problem is None else _with_reason(why, problem),
                    release=(problem.hint if problem is not None else "") or "mend what it needs",
                )
            )
    found += [
        HeldView(
            member="",
            object=str(one.key),
            action=None,
            why=one.why if one.replicas is None else f"{one.replicas} replicas find no place: {one.why}",
            release="let its policy allow more members, or make one fit",
        )
        for one in plan.unplaced
        if one.replicas
    ]
    for result in report.results if report is not None else ():
        if result.result in ("held", "failed", "paused") and result.problem is not None:
            found.append(
                HeldView(
                    member=result.change.cluster,
                    object=str(result.change.key),
                    action=result.change.action,
                    why=result.problem.what,
                    release="kadm apply" if result.result == "paused" else result.problem.hint or "it is tried again",
                )
            )
    return tuple(found)


def untold(planned: Planned, held: Iterable[HeldView]) -> tuple[Problem, ...]:
    """The problems of a plan that nothing which is held back tells of."""
    told = {(one.member, one.object) for one in held}
    everywhere = {object_ for _, object_ in told}
    return tuple(
        one
        for one in dict.fromkeys(planned.plan.problems)
        if not one.object or ((one.member, one.object) not in told if one.member else one.object not in everywhere)
    )


def plan_view(planned: Planned, reasons: tuple[str, ...], *, at: str) -> PlanView:
    """The plan in short."""
    plan = planned.plan
    counts = Counter(change.cluster for change in plan.changes)
    return PlanView(
        at=at,
        because=reasons,
        commit=plan.commit,
        summary=plan.summary,
        changes=dict(sorted(counts.items())),
        drift=sum(one.why == REPORTED for one in plan.held),
        moves=plan.moves,
        problems=plan.problems,
    )


def unfinished(planned: Planned, report: Report) -> frozenset[ObjectKey]:
    """The moved workloads of which something was not done: their sources keep what they have."""
    moving = {move.key: move for move in planned.plan.moves}
    left = {one.change.key for one in report.results if one.result in ("held", "failed", "skipped", "paused")}
    lost = {problem.member for problem in report.unread}
    return frozenset(key for key, move in moving.items() if key in left or lost & {*move.leaves, *move.arrives})


def _paths(change: Change) -> tuple[str, ...]:
    return tuple(field.path for field in change.fields) if change.action == "update" else (DELETED,)


def _with_reason(why: str, problem: Problem) -> str:
    """Why an object is frozen, with what the member or the check said, and the place of the fault."""
    more = [text for text in (problem.what, problem.why) if text and text not in why]
    text = ": ".join([why, *more])
    return f"{text} ({problem.where})" if problem.where is not None else text


def _release(flag: str) -> str:
    """What permits it, as a person types it."""
    if flag == "none":
        return "nothing: it is never done"
    return flag if not flag.startswith("--") else f"kadm apply {flag}"
