"""A container's status as core/v1 writes it: fields that are always there, fields that are left out when empty.

What a member reports goes through KubeAdmiral's Go types, and comes out in their form (``lastState: {}``). Source: the
JSON tags of core/v1 ContainerStatus.
"""

from __future__ import annotations

from typing import Any

from kadm.model.objects import JsonObject
from kadm.status.times import utc

_ALWAYS: dict[str, Any] = {"name": "", "ready": False, "restartCount": 0, "image": "", "imageID": ""}
_IF_SET = (
    "containerID",
    "started",
    "allocatedResources",
    "resources",
    "volumeMounts",
    "user",
    "allocatedResourcesStatus",
    "stopSignal",
)
_ZERO_IS_SOMETHING = frozenset({"started"})
"""Pointers in Go: false is not the same as absent."""


def container_status(reported: JsonObject) -> JsonObject:
    """``reported`` in canonical form, without fields that core/v1 does not have."""
    found: JsonObject = {name: reported.get(name) or empty for name, empty in _ALWAYS.items()}
    found |= {"state": _state(reported.get("state")), "lastState": _state(reported.get("lastState"))}
    for name in _IF_SET:
        value = reported.get(name)
        if value or (value is not None and name in _ZERO_IS_SOMETHING):
            found[name] = value
    return found


def _state(reported: JsonObject | None) -> JsonObject:
    """One of waiting, running and terminated; empty where the container has no state yet."""
    found: JsonObject = {}
    given = reported or {}
    if (waiting := given.get("waiting")) is not None:
        found["waiting"] = _texts(waiting, "reason", "message")
    if (running := given.get("running")) is not None:
        found["running"] = {"startedAt": utc(running.get("startedAt"))}
    if (terminated := given.get("terminated")) is not None:
        found["terminated"] = {
            "exitCode": terminated.get("exitCode") or 0,
            **({"signal": terminated["signal"]} if terminated.get("signal") else {}),
            **_texts(terminated, "reason", "message"),
            "startedAt": utc(terminated.get("startedAt")),
            "finishedAt": utc(terminated.get("finishedAt")),
            **_texts(terminated, "containerID"),
        }
    return found


def _texts(given: JsonObject, *names: str) -> JsonObject:
    return {name: given[name] for name in names if given.get(name)}
