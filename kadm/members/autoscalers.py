"""Who scales the workloads of a member: its HorizontalPodAutoscalers, whatever made them."""

from __future__ import annotations

from collections.abc import Callable

from kadm.members.connection import Connection
from kadm.members.resources import key_in, list_objects
from kadm.model.objects import JsonObject, ObjectKey, at
from kadm.model.observation import MemberState


def scaled_by(autoscaler: JsonObject) -> ObjectKey | None:
    """The workload that a HorizontalPodAutoscaler of any version scales, or None where it names none."""
    target = at(autoscaler, ("spec", "scaleTargetRef"))
    if not isinstance(target, dict) or not target.get("name"):
        return None
    group = str(target.get("apiVersion") or "").rpartition("/")[0]
    namespace = autoscaler["metadata"].get("namespace") or ""
    return ObjectKey(group, str(target.get("kind")), namespace, str(target["name"]))


async def read_autoscaled(
    connection: Connection, state: MemberState, *, counts: Callable[[ObjectKey], bool]
) -> dict[ObjectKey, str]:
    """Workload → the autoscaler that scales it, in words; only autoscalers that ``counts`` says yes to.

    Any served version will do: the target stands in the same place in all of them. Raises MemberRefused where they may
    not be listed.
    """
    resource = next(
        (one for one in state.api_resources if (one.group, one.kind) == ("autoscaling", "HorizontalPodAutoscaler")),
        None,
    )
    if resource is None:
        return {}
    found = {}
    for live in await list_objects(connection, resource):
        metadata = live["metadata"]
        key = key_in(resource, metadata.get("namespace") or "", metadata["name"])
        target = scaled_by(live)
        if target is not None and counts(key):
            found[target] = f"HorizontalPodAutoscaler {key.name}"
    return found
