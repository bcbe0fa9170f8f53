"""Pinning a plan: digests of what it was made from, so that another run can tell whether it would do the same.

A digest of a Secret is keyed with the member's key: whoever has the file cannot guess weak values from it. A live
Secret is read again for it, for a plan holds no values of Secrets.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import datetime

import msgspec

import kadm
from kadm.compare import Permissions, is_secret
from kadm.members.connection import Connection
from kadm.members.pool import MemberPool
from kadm.members.resources import get
from kadm.members.secret_key import SECRETS, read_secret_key
from kadm.model.objects import JsonObject, ObjectKey
from kadm.model.observation import Unread
from kadm.model.plan import Change
from kadm.model.planned import Planned
from kadm.model.record import Record
from kadm.model.saved import SavedChange, SavedChoices, SavedFrozen, SavedHeld, SavedPermissions, SavedPlan
from kadm.pipeline import Choices

_ENCODER = msgspec.json.Encoder(order="sorted")
_BYTES = 16


class _Secrets(msgspec.Struct, frozen=True):
    """What is needed to pin the Secrets of one member: its key, and those that change as they are live."""

    key: bytes | None
    live: Mapping[ObjectKey, JsonObject]


async def pin(
    planned: Planned, pool: MemberPool, choices: Choices, *, clusters: tuple[str, ...] | None, now: datetime
) -> SavedPlan:
    """The plan as it is saved. Sends reads only. Raises MemberError where a member with Secrets does not answer."""
    plan = planned.plan
    changing = [*plan.changes, *(held.change for held in plan.held)]
    wanted: dict[str, set[ObjectKey]] = {}
    for change in changing:
        if is_secret(change.key):
            wanted.setdefault(change.cluster, set()).add(change.key)

    async def read(connection: Connection) -> _Secrets:
        live = {}
        for key in sorted(wanted[connection.name]):
            found = await get(connection, SECRETS, key.namespace, key.name)
            if found is not None:
                live[key] = found
        return _Secrets(await read_secret_key(connection, pool.fleet), live)

    secrets = await pool.each(read, names=list(wanted))
    unknown = _Secrets(None, {})

    def pinned(change: Change) -> SavedChange:
        found = secrets.get(change.cluster, unknown)
        return _pinned(change, unknown if isinstance(found, Unread) else found)

    return SavedPlan(
        kadm=kadm.__version__,
        fleet=plan.fleet,
        commit=plan.commit,
        saved=now.strftime("%Y-%m-%dT%H:%M:%SZ"),
        choices=_choices(choices, clusters),
        members=plan.members,
        changes=tuple(map(pinned, plan.changes)),
        held=tuple(SavedHeld(change=pinned(held.change), why=held.why, flag=held.flag) for held in plan.held),
        placements=plan.placements,
        moves=plan.moves,
        waves=plan.waves,
        summary=plan.summary,
        unread=plan.unread,
        unplaced=plan.unplaced,
        frozen=tuple(
            SavedFrozen(cluster=member, key=key, reason=reason)
            for member, objects in plan.frozen.items()
            for key, reason in objects.items()
        ),
        problems=plan.problems,
        records={name: _scheduled(state.record) for name, state in planned.observation.read.items()},
        unpinned=tuple(name for name, found in secrets.items() if isinstance(found, Unread) or (found.key is None)),
    )


def choices_of(saved: SavedPlan) -> Choices:
    """What was asked for when the plan was made."""
    kept, flags = saved.choices, msgspec.structs.asdict(saved.choices.permissions)
    flags |= {"adopt": frozenset(flags["adopt"]), "take_over": frozenset(flags["take_over"])}
    return Choices(
        permissions=Permissions(**flags),
        targets=kept.targets,
        reschedule="all" if kept.reschedule == "all" else frozenset(kept.reschedule),
        assume_lost=kept.assume_lost,
    )


def _choices(choices: Choices, clusters: tuple[str, ...] | None) -> SavedChoices:
    flags = msgspec.structs.asdict(choices.permissions)
    flags |= {"adopt": tuple(sorted(flags["adopt"])), "take_over": tuple(sorted(flags["take_over"]))}
    again = choices.reschedule
    return SavedChoices(
        permissions=SavedPermissions(**flags),
        clusters=clusters,
        targets=choices.targets,
        reschedule="all" if again == "all" else tuple(sorted(again)),
        assume_lost=choices.assume_lost,
    )


def _pinned(change: Change, secrets: _Secrets) -> SavedChange:
    secret = is_secret(change.key)
    desired = live = ""
    if not secret or secrets.key is not None:
        key = secrets.key if secret and secrets.key is not None else b""
        wanted = change.desired
        desired = _digest([wanted.object, wanted.complete], key) if wanted is not None else ""
        if change.uid:
            values = _values(change, secrets.live.get(change.key)) if secret else None
            fields = [[field.path, field.before, field.manager] for field in change.fields]
            live = _digest([change.uid, fields, values], key)
    return SavedChange(
        cluster=change.cluster,
        key=change.key,
        version=change.version,
        action=change.action,
        fields=change.fields,
        uid=change.uid,
        note=change.note,
        desired=desired,
        live=live,
    )


def _values(change: Change, live: JsonObject | None) -> JsonObject:
    """The live values of a Secret that git has values for, too."""
    held, wanted = (live or {}).get("data") or {}, (change.desired.object.get("data") if change.desired else None) or {}
    return {name: held.get(name) for name in wanted}


def _scheduled(record: Record | None) -> str:
    """What the scheduler goes by: its decisions, not the commit nor the ConfigMap's version."""
    return _digest(record.workloads, b"") if record is not None else ""


def _digest(value: object, key: bytes) -> str:
    return hashlib.blake2b(_ENCODER.encode(value), digest_size=_BYTES, key=key).hexdigest()
