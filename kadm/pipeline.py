"""The stages in order: observe, schedule, render, compare. Commands and the daemon both plan through here.

It holds no rule of its own: what is decided, is decided in a stage. I/O is done by ``members`` and ``webhooks`` alone.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence, Set
from datetime import datetime
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from kadm.compare import MemberComparison, Permissions, bounded, make_plan
from kadm.compare.drift import without_drift
from kadm.compare.moves import moves
from kadm.compare.suspension import suspended_members
from kadm.compare.waves import waves_of
from kadm.comparing import Compared, compare_in_member
from kadm.errors import Problem, UsageError
from kadm.members.capacity import read_capacity
from kadm.members.connection import Connection
from kadm.members.migration import read_migration
from kadm.members.pool import MemberPool
from kadm.members.record import RecordLost, read_record
from kadm.model.decision import Decisions
from kadm.model.desired import Desired, DesiredMember
from kadm.model.migration import MigrationState
from kadm.model.objects import ObjectKey
from kadm.model.observation import Capacity, MemberState, Observation, Unread
from kadm.model.planned import Planned
from kadm.model.repository import Repo
from kadm.model.target import Target
from kadm.render import render
from kadm.schedule import Learned, learned_of, may_learn, plugins_of, schedule
from kadm.webhooks import WebhookClient


class Choices(Struct, frozen=True, kw_only=True):
    """What the user asked for beside the repository: guards lifted, objects to place anew, objects to plan alone.

    ``targets`` None: everything. Else nothing but these objects changes, by deletion neither, and the namespaces that
    they need. ``leave_drift``: what others changed in members is held back instead of corrected. ``assume_lost`` are
    members that the repository was planned without (``Repo.without``), to be told.
    """

    permissions: Permissions = Permissions()
    targets: tuple[Target, ...] | None = None
    reschedule: frozenset[ObjectKey] | Literal["all"] = frozenset()
    leave_drift: bool = False
    assume_lost: tuple[str, ...] = ()


def place(
    repo: Repo,
    observation: Observation,
    *,
    now: datetime,
    reschedule: Set[ObjectKey] | Literal["all"] = frozenset(),
    allow_empty: bool = False,
) -> tuple[Decisions, Desired]:
    """Where everything goes, and what each member must hold: schedule and render. Pure: no webhook is called."""
    decisions = schedule(
        repo,
        observation,
        now=now,
        reschedule=reschedule,
        allow_empty=allow_empty,
        plugins=plugins_of(repo, observation),
    )
    return decisions, render(repo, decisions, observation)


async def decide(
    repo: Repo,
    pool: MemberPool,
    *,
    now: datetime,
    reschedule: Set[ObjectKey] | Literal["all"] = frozenset(),
    allow_empty: bool = False,
) -> tuple[Observation, Decisions]:
    """The members as they are, and where everything goes; webhook plugins are asked.

    Nodes and pods are read only where something is decided by capacity, and then it is decided again. A member whose
    capacity cannot be read stays without: what is decided by it is frozen, with the reason.
    """
    observation = await pool.observe()
    learned: Mapping[ObjectKey, Learned] = {}
    if may_learn(repo):
        observation, learned = await _with_memory(observation, pool)
    with WebhookClient(repo.webhooks) as transport:

        async def decided() -> Decisions:
            return await asyncio.to_thread(  # it takes long enough that others must not wait for it
                schedule,
                repo,
                observation,
                now=now,
                reschedule=reschedule,
                allow_empty=allow_empty,
                learned=learned,
                plugins=plugins_of(repo, observation, transport),
            )

        decisions = await decided()
        if decisions.capacity_needed:
            observation = await _with_capacity(observation, pool, decisions.capacity_needed)
            decisions = await decided()
    return observation, decisions


async def _with_memory(observation: Observation, pool: MemberPool) -> tuple[Observation, Mapping[ObjectKey, Learned]]:
    """What auto-migration learned in the members that hold a record. One whose memory cannot be read is unread."""
    states = observation.read

    async def recall(connection: Connection) -> MigrationState:
        return await read_migration(connection, pool.fleet, member_uid=states[connection.name].uid)

    found = await pool.each(recall, names=[name for name, state in states.items() if state.record is not None])
    lost = {name: one for name, one in found.items() if isinstance(one, Unread)}
    learned = learned_of({name: one for name, one in found.items() if isinstance(one, MigrationState)})
    return (replace(observation, members={**observation.members, **lost}) if lost else observation), learned


async def _with_capacity(observation: Observation, pool: MemberPool, names: Collection[str]) -> Observation:
    measured = await pool.each(read_capacity, names=names)
    members = dict(observation.members)
    for name, found in measured.items():
        state = members[name]
        if isinstance(found, Capacity) and isinstance(state, MemberState):
            members[name] = replace(state, capacity=found)
    return Observation(members)


class _FirstWritten(Exception):
    """Another run wrote to a member for the first time, after its record was looked for and before its objects were."""


async def make(repo: Repo, pool: MemberPool, choices: Choices, *, now: datetime) -> Planned:
    """The plan for the members of ``pool``. Sends reads and dry runs only.

    Raises MemberError where the fleet as a whole cannot be planned (one cluster under two names, a foreign record).
    """
    while True:  # no member is written for the first time twice
        try:
            return await _make(repo, pool, choices, now=now)
        except _FirstWritten:
            continue


async def _make(repo: Repo, pool: MemberPool, choices: Choices, *, now: datetime) -> Planned:
    """As ``make``. Raises _FirstWritten where what was read is of two times."""
    permissions = choices.permissions
    observation, decisions = await decide(
        repo, pool, now=now, reschedule=choices.reschedule, allow_empty=permissions.allow_empty
    )
    desired = render(repo, decisions, observation)
    states = observation.read
    targets = None if choices.targets is None else _targets(choices.targets, repo, states)
    suspended = suspended_members(repo)

    async def compare_one(connection: Connection) -> Compared:
        state = states[connection.name]
        wanted = desired.members.get(state.name) or DesiredMember(name=state.name, objects=())
        try:
            return await compare_in_member(connection, state, wanted, repo, permissions, targets=targets)
        except RecordLost:
            if await read_record(connection, pool.fleet, member_uid=state.uid) is None:
                raise
            raise _FirstWritten from None

    compared = await pool.each(compare_one, names=[name for name in states if name not in suspended])
    read = {name: found for name, found in compared.items() if isinstance(found, Compared)}
    comparisons = bounded(
        [found.comparison for found in read.values()],
        {name: found.size for name, found in read.items()},
        deletions=repo.fleet.spec.deletions,
        permissions=permissions,
        joined={name for decision in decisions.by_key.values() for name in decision.joined},
    )
    if choices.leave_drift:
        comparisons = _without_drift(comparisons, decisions, states)
    reduced = {name: found.desired for name, found in read.items()}
    desired = replace(desired, members=dict(sorted({**desired.members, **reduced}.items())))
    if targets is not None:
        decisions, desired = _of_targets(decisions, targets), _only_targets(desired, targets)
    lost = {name: found for name, found in compared.items() if isinstance(found, Unread)}
    if lost:
        observation = replace(observation, members={**observation.members, **lost})
    return Planned(
        repo=repo,
        observation=observation,
        decisions=decisions,
        desired=desired,
        plan=make_plan(
            comparisons,
            fleet=repo.fleet.name,
            commit=str(repo.revision) if repo.revision else "",
            decisions=decisions,
            desired=desired,
            observation=observation,
            waves=waves_of(repo.fleet.spec.rollout, repo.clusters),
            problems=[*suspended.values(), *map(_assumed_lost, choices.assume_lost)],
        ),
        gone={comparison.member: comparison.gone for comparison in comparisons if comparison.gone},
        found={comparison.member: comparison.found for comparison in comparisons if comparison.found},
        unproved={comparison.member: comparison.unproved for comparison in comparisons if comparison.unproved},
    )


def _targets(asked: Sequence[Target], repo: Repo, states: Mapping[str, MemberState]) -> frozenset[ObjectKey]:
    """The objects of the repository and of the records that are meant. Raises UsageError where there are none."""
    known = {manifest.key for manifest in repo.manifests}
    known |= {entry.key for state in states.values() if state.record for entry in state.record.objects}
    for target in asked:
        if not any(map(target.names, known)):
            raise UsageError(
                f"nothing in the repository, and nothing that kadm placed, is called {target.text}",
                hint="KIND/NAME, for example deploy/web",
            )
    return frozenset(key for key in known if any(target.names(key) for target in asked))


def _without_drift(
    comparisons: Sequence[MemberComparison], decisions: Decisions, states: Mapping[str, MemberState]
) -> list[MemberComparison]:
    records = {name: state.record for name, state in states.items()}
    moving = {move.key for move in moves(decisions, records)}
    return [
        without_drift(
            one,
            {entry.key: entry for entry in record.objects} if (record := records[one.member]) else {},
            moving=moving,
        )
        for one in comparisons
    ]


def _of_targets(decisions: Decisions, targets: Set[ObjectKey]) -> Decisions:
    """The decisions with those about anything but the targets left as they are recorded."""
    return replace(
        decisions,
        by_key={
            key: one if key in targets else replace(one, outcome="frozen", unplaced_replicas=0)
            for key, one in decisions.by_key.items()
        },
    )


def _only_targets(desired: Desired, targets: Set[ObjectKey]) -> Desired:
    """What is desired, with placements of the targets alone: nothing else is placed by this plan."""
    return replace(
        desired,
        members={
            name: replace(one, replicas={key: number for key, number in one.replicas.items() if key in targets})
            for name, one in desired.members.items()
        },
        unplaced={key: why for key, why in desired.unplaced.items() if key in targets},
    )


def _assumed_lost(name: str) -> Problem:
    return Problem(
        what="assumed lost: planned as if it were gone",
        severity="warning",
        member=name,
        why="nothing is read or written there, and what still runs there runs twice",
        hint="once it is back, an apply without --assume-lost takes from it what has moved",
    )
