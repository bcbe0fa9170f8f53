"""How many more pods of a workload would find a node in a member, by a fresh look at its nodes and pods.

It looks at what most refusals come from: requests, the number of pods, node selectors and required node affinity,
taints, cordons. What it cannot see (volumes, spreading, quotas) shows when a replica is tried.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec
from msgspec import Raw, Struct

from kadm.members import resources
from kadm.members.capacity import Amounts, Pod, pod_request
from kadm.members.connection import Connection
from kadm.model.objects import JsonObject
from kadm.model.policy import SelectorTerm
from kadm.model.quantity import QuantityError
from kadm.model.selector import SelectorError, term_matches

_REPELLING = ("NoSchedule", "NoExecute")
_UNFINISHED = "status.phase!=Succeeded,status.phase!=Failed"


class _Where(Struct, rename="camel"):
    node_name: str = ""


class Placed(Struct):
    """Where a pod is."""

    spec: _Where = msgspec.field(default_factory=_Where)


class Room(Struct, frozen=True):
    """A member's nodes, each with what is left of it: node → resource → billionths, ``pods`` among them."""

    nodes: Mapping[str, JsonObject]
    free: Mapping[str, Mapping[str, int]]


async def read_room(connection: Connection) -> Room:
    """The nodes and what is left of them. Costs a list of both. Raises MemberError, QuantityError."""
    nodes = await resources.list_objects(connection, resources.NODES)
    pods = await resources.list_as(connection, resources.PODS, Raw, fields=_UNFINISHED)
    return room_of(nodes, pods)


def room_of(nodes: Iterable[JsonObject], pods: Iterable[Raw]) -> Room:
    """The same from what was listed. Raises QuantityError."""
    amounts = Amounts()
    by_name = {node["metadata"]["name"]: node for node in nodes}
    free: dict[str, dict[str, int]] = {
        name: {
            resource: amounts[text] for resource, text in ((node.get("status") or {}).get("allocatable") or {}).items()
        }
        for name, node in by_name.items()
    }
    one_pod = amounts["1"]
    for raw in pods:
        where = msgspec.json.decode(raw, type=Placed).spec.node_name
        if where in free:
            left = free[where]
            for resource, amount in pod_request(msgspec.json.decode(raw, type=Pod), amounts).items():
                if resource in left:
                    left[resource] -= amount
            if "pods" in left:
                left["pods"] -= one_pod
    return Room(by_name, free)


def fits(room: Room, pod_spec: JsonObject, *, most: int) -> int:
    """How many pods of this spec the nodes take, but no more than ``most``. Raises QuantityError."""
    request = defaultdict(int, pod_request(msgspec.convert({"spec": pod_spec}, Pod), Amounts()))
    request["pods"] = Amounts()["1"]
    count = 0
    for name, node in room.nodes.items():
        if not _takes(node, pod_spec):
            continue
        free = room.free[name]
        count += max(0, min(free.get(resource, 0) // amount for resource, amount in request.items() if amount > 0))
        if count >= most:
            return most
    return count


def fits_or_unknown(room: Room, pod_spec: JsonObject, *, most: int) -> int:
    """As ``fits``; what cannot be understood fits nowhere."""
    try:
        return fits(room, pod_spec, most=most)
    except (QuantityError, SelectorError, msgspec.ValidationError):
        return 0


def _takes(node: JsonObject, pod_spec: JsonObject) -> bool:
    """Whether the node takes new pods of this spec at all."""
    spec, status = node.get("spec") or {}, node.get("status") or {}
    ready = next((one for one in status.get("conditions") or () if one.get("type") == "Ready"), None)
    if spec.get("unschedulable") or (ready is not None and ready.get("status") != "True"):
        return False
    tolerations = pod_spec.get("tolerations") or ()
    if any(
        taint.get("effect") in _REPELLING and not _tolerated(taint, tolerations) for taint in spec.get("taints") or ()
    ):
        return False
    labels = node["metadata"].get("labels") or {}
    if any(labels.get(name) != value for name, value in (pod_spec.get("nodeSelector") or {}).items()):
        return False
    affinity = ((pod_spec.get("affinity") or {}).get("nodeAffinity") or {}).get(
        "requiredDuringSchedulingIgnoredDuringExecution"
    )
    if not affinity:
        return True
    terms = msgspec.convert(
        [_with_values(term) for term in affinity.get("nodeSelectorTerms") or ()], list[SelectorTerm]
    )
    return any(term_matches(term, name=node["metadata"]["name"], labels=labels) for term in terms)


def _with_values(term: JsonObject) -> JsonObject:
    """A node selector term with the field that Kubernetes lets out for Exists."""
    return {
        field: [{"values": [], **requirement} for requirement in requirements]
        for field, requirements in term.items()
        if requirements
    }


def _tolerated(taint: Mapping[str, Any], tolerations: Iterable[Mapping[str, Any]]) -> bool:
    for one in tolerations:
        if one.get("effect") not in (None, "", taint.get("effect")):
            continue
        if one.get("operator") == "Exists" and one.get("key") in (None, "", taint.get("key")):
            return True
        if one.get("key") == taint.get("key") and one.get("value", "") == taint.get("value", ""):
            return True
    return False
