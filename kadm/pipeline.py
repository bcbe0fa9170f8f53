"""The stages in order: observe, schedule, render, compare. Commands and the daemon both plan through here.

It holds no rule of its own: what is decided, is decided in a stage. I/O is done by ``members`` and ``webhooks`` alone.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Set
from datetime import datetime
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from kadm.compare import (
    Contents,
    MemberComparison,
    Permissions,
    Prover,
    compare_member,
    guard,
    is_secret,
    make_plan,
    questions,
)
from kadm.errors import Problem
from kadm.members.capacity import read_capacity
from kadm.members.connection import Connection
from kadm.members.contents import foreign_or_unknown
from kadm.members.dry_run import dry_run
from kadm.members.live import read_live, served
from kadm.members.pool import MemberPool
from kadm.members.secret_key import read_secret_key
from kadm.members.stamps import read_stamps
from kadm.members.together import together
from kadm.model.applyset import applyset_id, with_membership
from kadm.model.decision import Decisions
from kadm.model.desired import Desired, DesiredMember, DesiredObject
from kadm.model.live import DryRun, LiveMember, RawObject
from kadm.model.objects import JsonObject, ObjectKey
from kadm.model.observation import Capacity, MemberState, Observation, Unread
from kadm.model.planned import Planned
from kadm.model.repository import Repo
from kadm.model.stamps import Stamps
from kadm.render import render
from kadm.schedule import plugins_of, schedule
from kadm.webhooks import WebhookClient


class Choices(Struct, frozen=True, kw_only=True):
    """What the user asked for beside the repository: guards lifted, objects to place anew."""

    permissions: Permissions = Permissions()
    reschedule: frozenset[ObjectKey] | Literal["all"] = frozenset()


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
    with WebhookClient(repo.webhooks) as transport:

        async def decided() -> Decisions:
            return await asyncio.to_thread(  # it takes long enough that others must not wait for it
                schedule,
                repo,
                observation,
                now=now,
                reschedule=reschedule,
                allow_empty=allow_empty,
                plugins=plugins_of(repo, observation, transport),
            )

        decisions = await decided()
        if decisions.capacity_needed:
            observation = await _with_capacity(observation, pool, decisions.capacity_needed)
            decisions = await decided()
    return observation, decisions


async def _with_capacity(observation: Observation, pool: MemberPool, names: Collection[str]) -> Observation:
    measured = await pool.each(read_capacity, names=names)
    members = dict(observation.members)
    for name, found in measured.items():
        state = members[name]
        if isinstance(found, Capacity) and isinstance(state, MemberState):
            members[name] = replace(state, capacity=found)
    return Observation(members)


async def make(repo: Repo, pool: MemberPool, choices: Choices, *, now: datetime) -> Planned:
    """The plan for the members of ``pool``. Sends reads and dry runs only.

    Raises MemberError where the fleet as a whole cannot be planned (one cluster under two names, a foreign record).
    """
    permissions = choices.permissions
    observation, decisions = await decide(
        repo, pool, now=now, reschedule=choices.reschedule, allow_empty=permissions.allow_empty
    )
    desired = render(repo, decisions, observation)
    states = observation.read
    suspended = {cluster.name for cluster in repo.clusters if cluster.suspended or repo.fleet.spec.suspend}

    async def compare_one(connection: Connection) -> MemberComparison:
        state = states[connection.name]
        wanted = desired.members.get(state.name) or DesiredMember(name=state.name, objects=())
        return await _compare(connection, state, wanted, repo, permissions)

    compared = await pool.each(compare_one, names=[name for name in states if name not in suspended])
    comparisons = [found for found in compared.values() if isinstance(found, MemberComparison)]
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
            problems=[_suspended(name) for name in sorted(suspended)],
        ),
        gone={comparison.member: comparison.gone for comparison in comparisons if comparison.gone},
        found={comparison.member: comparison.found for comparison in comparisons if comparison.found},
        unproved={comparison.member: comparison.unproved for comparison in comparisons if comparison.unproved},
    )


async def _compare(
    connection: Connection, state: MemberState, wanted: DesiredMember, repo: Repo, permissions: Permissions
) -> MemberComparison:
    """One member's comparison: its live objects, its answers to dry runs, what its namespaces hold."""
    fleet = repo.fleet
    set_id = applyset_id(fleet.record_name)
    recorded = {entry.key: entry for entry in state.record.objects} if state.record else {}
    versions = {key: entry.version for key, entry in recorded.items()}
    versions |= {one.key: one.version for one in wanted.objects}
    by_key = {one.key: one for one in wanted.objects if one.key not in wanted.frozen}
    prover = await _prover(connection, state, repo, by_key)

    def settled(key: ObjectKey, raw: RawObject) -> bool:
        mine = recorded.get(key)
        return key in by_key and mine is not None and mine.uid == raw.uid and prover.unchanged(by_key[key], raw)

    live = await read_live(connection, state, versions, set_id=set_id, settled=settled)
    coming = frozenset(
        one.key
        for one in wanted.objects
        if one.key.kind in ("Namespace", "CustomResourceDefinition")
        and one.key not in live.objects
        and one.key not in live.settled
    )
    answers: dict[ObjectKey, DryRun] = {}

    async def ask(one: DesiredObject) -> None:
        resource = served(state, one.key, one.version)
        if resource is None or resource.version != one.version:
            answers[one.key] = DryRun(outcome="refused", problem=_not_served(state, one))
            return
        sent = to_send(one, live.objects.get(one.key), set_id)
        answers[one.key] = await dry_run(connection, resource, sent, manager=fleet.field_manager)

    asked = questions(wanted, live, coming=coming)
    await together({f"{state.name} {one.key}": ask(one) for one in asked})
    for one in wanted.objects:
        if one.key not in answers and one.key not in live.settled and not _will_be_served(state, one, coming):
            answers[one.key] = DryRun(outcome="refused", problem=_not_served(state, one))
    comparison = compare_member(
        wanted,
        live,
        answers,
        record=state.record,
        fleet=fleet.name,
        set_id=set_id,
        permissions=permissions,
    )
    return guard(
        comparison,
        live=live,
        recorded=len(recorded),
        desired=len(wanted.objects) + len(wanted.frozen),
        contents=await _contents(connection, state, comparison, live, {entry.uid for entry in recorded.values()}),
        deletions=fleet.spec.deletions,
        permissions=permissions,
    )


async def _prover(
    connection: Connection, state: MemberState, repo: Repo, wanted: Mapping[ObjectKey, DesiredObject]
) -> Prover:
    """What proves objects of this member unchanged. A member without record has no stamps either."""
    fleet = repo.fleet.name
    if state.record is None:
        stamps, secret_key = Stamps(fleet=fleet, member_uid=state.uid), None
    else:
        stamps = await read_stamps(connection, fleet, member_uid=state.uid)
        secret_key = await read_secret_key(connection, fleet) if any(map(is_secret, wanted)) else None
    return Prover(
        stamps, manager=repo.fleet.field_manager, set_id=applyset_id(repo.fleet.record_name), secret_key=secret_key
    )


def to_send(one: DesiredObject, live: JsonObject | None, set_id: str) -> JsonObject:
    """The object as it is sent: with the set's label, and with the uid of the live object that it updates.

    The uid keeps an update from recreating, or hitting another object of the same name (design, section 7).
    """
    sent = with_membership(one.object, set_id)
    if live is None:
        return sent
    return {**sent, "metadata": {**sent["metadata"], "uid": live["metadata"]["uid"]}}


async def _contents(
    connection: Connection,
    state: MemberState,
    comparison: MemberComparison,
    live: LiveMember,
    own_uids: Collection[str],
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


def _will_be_served(state: MemberState, one: DesiredObject, coming: Collection[ObjectKey]) -> bool:
    """Whether the member serves the object's version, or a CRD of its group comes with the same plan."""
    resource = served(state, one.key, one.version)
    if resource is not None and resource.version == one.version:
        return True
    return any(key.kind == "CustomResourceDefinition" and key.name.partition(".")[2] == one.key.group for key in coming)


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


def _suspended(name: str) -> Problem:
    return Problem(
        what="suspended: nothing is planned or written here",
        severity="warning",
        member=name,
        hint="kadm.io/suspend on the FederatedCluster, or spec.suspend in kadm.yaml",
    )
