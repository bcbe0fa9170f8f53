"""What would move if members were gone: the fleet is scheduled as it is, and once more without them.

Both times the same scheduler decides that decides for a plan, and nothing is written. In between the first decisions
count as applied, so that what git changes anyway is no part of the answer.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from datetime import datetime

from msgspec.structs import replace

from kadm import pipeline
from kadm.errors import Problem
from kadm.execute.bookkeeping import intended
from kadm.members.capacity import read_capacity
from kadm.members.pool import MemberPool
from kadm.model.decision import Decision, Decisions
from kadm.model.observation import Capacity, MemberState, Observation, Unread
from kadm.model.repository import Repo
from kadm.model.simulation import Fate, Loss, Simulation
from kadm.schedule import plugins_of, schedule
from kadm.schedule.profile import Plugins
from kadm.webhooks import WebhookClient


async def simulate_live(
    repo: Repo, pool: MemberPool, lost: Collection[str], *, now: datetime
) -> tuple[Simulation, tuple[Problem, ...]]:
    """The answer for the members as they are, with what the others have free, and which of those could not be read.

    Sends reads alone.
    """
    observation, decisions = await pipeline.decide(repo, pool, now=now)
    left = [name for name in observation.read if name not in lost]
    measured = await pool.each(read_capacity, names=left)
    members = dict(observation.members)
    for name, found in measured.items():
        state = members[name]
        if isinstance(found, Capacity) and isinstance(state, MemberState):
            members[name] = replace(state, capacity=found)
    seen = Observation(members)
    with WebhookClient(repo.webhooks) as transport:
        simulation = await asyncio.to_thread(
            simulate, repo, seen, decisions, lost, now=now, plugins=plugins_of(repo, seen, transport)
        )
    return simulation, tuple(one.problem for name, one in observation.unread.items() if name not in lost)


def simulate(
    repo: Repo,
    observation: Observation,
    decisions: Decisions,
    lost: Collection[str],
    *,
    now: datetime,
    plugins: Plugins,
) -> Simulation:
    """What becomes of what ``decisions`` place in members that are ``lost``. Pure."""
    applied = _applied(repo, observation, decisions)
    rest = {name: state for name, state in applied.members.items() if name not in lost}
    after = schedule(repo.without(lost), Observation(rest), now=now, plugins=plugins)
    losses, untouched = [], 0
    for key, before in decisions.by_key.items():
        if any(name in lost for name in before.placement):
            losses.append(_loss(before, after.by_key[key], lost))
        elif before.placement:
            untouched += 1
    concerned = {str(loss.key) for loss in losses}
    return Simulation(
        lost=tuple(sorted(lost)),
        losses=tuple(losses),
        untouched=untouched,
        problems=tuple(
            dict.fromkeys(
                one
                for one in (*decisions.problems, *(one for one in after.problems if one.object in concerned))
                if one.severity == "error"
            )
        ),
    )


def _applied(repo: Repo, observation: Observation, decisions: Decisions) -> Observation:
    """The observation once ``decisions`` were carried out in every member that was read."""
    members: dict[str, MemberState | Unread] = {}
    for name, state in observation.members.items():
        if isinstance(state, MemberState):
            record = intended(
                state.record,
                fleet=repo.fleet.name,
                member=name,
                member_uid=state.uid,
                commit="",
                changes=(),
                decisions=decisions,
                moves=(),
                gone=(),
            )
            members[name] = replace(state, record=record)
        else:
            members[name] = state
    return Observation(members)


def _loss(before: Decision, after: Decision, lost: Collection[str]) -> Loss:
    left = {name: number for name, number in after.placement.items() if name not in lost}
    return Loss(
        key=before.key,
        fate=_fate(before, after, left),
        before=before.placement,
        after=left,
        unplaced=after.unplaced_replicas,
        why="; ".join(after.reasons) if after.outcome in ("frozen", "unplaced") or after.unplaced_replicas else "",
    )


def _fate(before: Decision, after: Decision, left: Collection[str]) -> Fate:
    if after.outcome == "frozen":
        return "stuck"
    if not left:
        return "gone"
    if after.unplaced_replicas:
        return "short"
    divided = any(number is not None for number in before.placement.values())
    return "moves" if divided or len(left) >= len(before.placement) else "fewer"
