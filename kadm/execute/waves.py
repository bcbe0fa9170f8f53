"""What one wave must show before the next may begin. Pure (design, section 7; api-servers, 29).

A wave is well when everything that was changed in it is ready, and when every workload that a later wave would change
is ready in it, whichever run changed it there: so a rollout that failed yesterday does not go on today.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from kadm.errors import Problem
from kadm.model.objects import ObjectKey
from kadm.model.plan import Plan, PlannedWave
from kadm.model.report import ChangeResult
from kadm.model.status import Health

ALL = "all members"


def sequence(plan: Plan) -> tuple[PlannedWave, ...]:
    """The plan's waves; a single one of all members where kadm.yaml names none."""
    return plan.waves or (PlannedWave(name=ALL, members=plan.members),)


def changed_in(plan: Plan, members: Collection[str]) -> frozenset[ObjectKey]:
    """The objects that the plan changes in any of these members."""
    return frozenset(change.key for change in plan.changes if change.cluster in members)


def why_not_well(
    wave: PlannedWave,
    plan: Plan,
    *,
    results: Iterable[ChangeResult],
    lost: Mapping[str, Problem],
    standing: Mapping[str, Mapping[ObjectKey, Health]],
    later: Collection[ObjectKey],
) -> str:
    """Why the next wave may not begin, in words: the first reason by member and object; empty where it may.

    ``results`` are those of the wave's members; ``lost`` members that stopped answering; ``standing`` the health of
    unchanged workloads that are not ready; ``later`` the objects that later waves change. What a move keeps in a member
    is not the wave's fault. Members that could not be read from the start are no reason while the wave has others:
    nothing was tried there. A wave of which nothing could be read shows nothing.
    """
    inside = frozenset(wave.members)
    unread = {problem.member: problem for problem in plan.unread}
    reasons = {(name, ""): problem.what for name, problem in lost.items() if name in inside}
    if inside <= unread.keys():
        reasons |= {(name, ""): unread[name].what for name in wave.members}
    for one in results:
        if one.result in ("failed", "not ready"):
            reasons[one.change.cluster, str(one.change.key)] = _words(one.problem) or one.result
    for name, health in standing.items():
        for key, seen in health.items():
            reasons[name, str(key)] = f"{seen.code}: {seen.reason}" if seen.reason else seen.code
    for name, frozen in plan.frozen.items():
        for key, why in frozen.items():
            if name in inside and key in later:
                reasons[name, str(key)] = f"frozen: {why}"
    for held in plan.held:
        if held.change.cluster in inside and held.change.key in later:
            reasons[held.change.cluster, str(held.change.key)] = f"held back: {held.why}"
    if not reasons:
        return ""
    (member, what), why = min(reasons.items())
    more = f" (and {len(reasons) - 1} more)" if len(reasons) > 1 else ""
    return f"{wave.name} is not well: {' '.join(part for part in (member, what) if part)}: {why}{more}"


def _words(problem: Problem | None) -> str:
    if problem is None:
        return ""
    return f"{problem.what}: {problem.why}" if problem.why else problem.what
