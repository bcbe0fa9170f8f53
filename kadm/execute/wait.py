"""Waiting until objects are ready, each by what its kind means by it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping

from kadm.errors import MemberError
from kadm.execute.stop import Stop
from kadm.members.connection import Connection
from kadm.members.live import served
from kadm.members.resources import PODS, get, list_objects
from kadm.model.objects import JsonObject, ObjectKey, at
from kadm.model.observation import MemberState
from kadm.model.status import Health
from kadm.model.workload import workload_kind
from kadm.status import health, troubles

FIRST_POLL_S = 0.2
LONGEST_POLL_S = 2.0


async def wait_ready(
    connection: Connection,
    state: MemberState,
    keys: Mapping[ObjectKey, str],
    *,
    deadlines: Mapping[ObjectKey, float],
    finishing: Collection[ObjectKey] = (),
    stop: Stop,
    tell: Callable[[ObjectKey, Health], None],
) -> dict[ObjectKey, Health]:
    """The health of each object (key → version) once it is ready, or when its time is over; sorted.

    ``deadlines`` are times of the event loop, one per key. ``finishing`` are Jobs that the member removes once they
    have finished: one that is gone is done. An object that is not ready in time has its reason, that of its pods
    included; so have all once the end is asked for. ``tell`` hears of every change of mind. Raises MemberError where
    the member does not answer.
    """
    loop = asyncio.get_running_loop()
    results: dict[ObjectKey, Health] = {}
    pause_s = FIRST_POLL_S
    waiting = sorted(keys)
    while waiting:
        for key in waiting:
            seen = await _health(connection, state, key, keys[key], gone_is_done=key in finishing)
            if results.get(key) != seen:
                results[key] = seen
                tell(key, seen)
        now = loop.time()
        waiting = [key for key in waiting if not is_ready(results[key]) and deadlines[key] > now]
        if stop.asked:
            break
        if waiting:
            await stop.pause(min(pause_s, max(deadlines[key] for key in waiting) - now))
            pause_s = min(pause_s * 1.3, LONGEST_POLL_S)
    return {key: results[key] for key in sorted(results)}


def is_ready(found: Health) -> bool:
    """Whether waiting is over for good: a suspended object is as ready as it gets."""
    return found.code in ("Healthy", "Suspended")


def waits_for(keys: Collection[ObjectKey]) -> list[ObjectKey]:
    """The objects whose readiness is worth waiting for: those that a controller brings to life."""
    return [key for key in keys if workload_kind(key.group, key.kind) or key.kind == "CustomResourceDefinition"]


async def _health(
    connection: Connection, state: MemberState, key: ObjectKey, version: str, *, gone_is_done: bool
) -> Health:
    resource = served(state, key, version)
    if resource is None:
        return Health("Unknown", "its kind is not served")
    live = await get(connection, resource, key.namespace, key.name)
    if live is None:
        return Health("Healthy", "it has finished") if gone_is_done else Health("Missing", "it is not there any more")
    found = health(live)
    if not is_ready(found) and (trouble := await pods_trouble(connection, live)):
        return Health(found.code, f"{found.reason}; {trouble}" if found.reason else trouble)
    return found


async def pods_trouble(connection: Connection, live: JsonObject) -> str:
    """What keeps a workload's pods from running, in words; empty where nothing does, or its pods may not be read."""
    labels = at(live, ("spec", "selector", "matchLabels"))
    if not isinstance(labels, dict) or not labels:
        return ""
    selector = ",".join(f"{name}={value}" for name, value in sorted(labels.items()))
    try:
        pods = await list_objects(connection, PODS, namespace=live["metadata"].get("namespace", ""), labels=selector)
    except MemberError as error:
        return f"its pods could not be read: {error.problem.what}"
    return troubles(pods)
