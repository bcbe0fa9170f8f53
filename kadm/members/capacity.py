"""What a member has and what is left of it, from its nodes and pods (propagation spec 8.5)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from fractions import Fraction

from msgspec import Struct, field

from kadm.errors import MemberRefused
from kadm.members import resources
from kadm.members.connection import Connection
from kadm.model.observation import Capacity
from kadm.model.quantity import QuantityError, format_quantity, parse_quantity, scaled

_NANO = 10**9
_FINISHED = ("Succeeded", "Failed")
_REPELLING = ("NoSchedule", "NoExecute")

Quantities = dict[str, str]
"""Resource name → quantity."""


class _Taint(Struct):
    effect: str = ""


class _NodeSpec(Struct):
    unschedulable: bool = False
    taints: list[_Taint] | None = None


class _Condition(Struct):
    type: str
    status: str


class _NodeStatus(Struct):
    allocatable: Quantities | None = None
    conditions: list[_Condition] | None = None


class Node(Struct):
    """What capacity needs of a node."""

    spec: _NodeSpec = field(default_factory=_NodeSpec)
    status: _NodeStatus = field(default_factory=_NodeStatus)


class _Resources(Struct):
    requests: Quantities | None = None
    limits: Quantities | None = None


class _Container(Struct):
    resources: _Resources = field(default_factory=_Resources)


class _PodSpec(Struct, rename="camel"):
    containers: list[_Container] | None = None
    init_containers: list[_Container] | None = None
    overhead: Quantities | None = None


class _PodStatus(Struct):
    phase: str = ""


class Pod(Struct):
    """What capacity needs of a pod."""

    spec: _PodSpec = field(default_factory=_PodSpec)
    status: _PodStatus = field(default_factory=_PodStatus)


async def read_capacity(connection: Connection) -> Capacity:
    """The member's capacity now. Costs one list of all nodes and one of all pods that are not finished.

    Raises MemberError; a quantity that is none makes the answer unusable, not zero.
    """
    unfinished = ",".join(f"status.phase!={phase}" for phase in _FINISHED)
    nodes = await resources.list_as(connection, resources.NODES, Node)
    pods = await resources.list_as(connection, resources.PODS, Pod, fields=unfinished)
    try:
        return capacity_of(nodes, pods)
    except QuantityError as error:
        raise MemberRefused(
            "a node or pod states no quantity", status=200, member=connection.name, why=str(error)
        ) from error


def capacity_of(nodes: Iterable[Node], pods: Iterable[Pod]) -> Capacity:
    """Allocatable of the nodes that take pods, and what the requests of all unfinished pods leave of it.

    Pods on nodes that take none count all the same, pending ones too: so ``available`` may be negative. Raises
    QuantityError.
    """
    amounts = Amounts()
    every_node = list(nodes)
    counted = [node for node in every_node if _takes_pods(node)]
    allocatable: dict[str, int] = defaultdict(int)
    binary: dict[str, bool] = {}
    for node in counted:
        for resource, text in (node.status.allocatable or {}).items():
            if resource == "pods":  # a number of pods, not an amount that requests use up
                continue
            amount = amounts[text]
            if amount and resource not in binary:  # the sum is written as its first summand that is not zero
                binary[resource] = text.endswith("i")
            allocatable[resource] += amount
    available = dict(allocatable)
    for pod in pods:
        if pod.status.phase in _FINISHED:
            continue
        for resource, amount in pod_request(pod, amounts).items():
            if resource in available:
                available[resource] -= amount
    return Capacity(
        nodes=len(every_node),
        schedulable_nodes=len(counted),
        allocatable=_texts(allocatable, binary),
        available=_texts(available, binary),
    )


class Amounts(dict[str, int]):
    """Quantity text → billionths. A member has few distinct texts and many pods, so each text is read once."""

    def __missing__(self, text: str) -> int:
        amount = self[text] = scaled(parse_quantity(text), _NANO)
        return amount


def pod_request(pod: Pod, amounts: Amounts) -> dict[str, int]:
    """Resource → billionths: the larger of the containers' sum and each init container, plus overhead.

    A container's limit counts where it requests nothing; an init container's does not.
    """
    total: dict[str, int] = defaultdict(int)
    for container in pod.spec.containers or ():
        for resource, text in {**(container.resources.limits or {}), **(container.resources.requests or {})}.items():
            total[resource] += amounts[text]
    for container in pod.spec.init_containers or ():
        for resource, text in (container.resources.requests or {}).items():
            total[resource] = max(total[resource], amounts[text])
    for resource, text in (pod.spec.overhead or {}).items():
        total[resource] += amounts[text]
    return total


def _takes_pods(node: Node) -> bool:
    """Whether new pods may land on the node. One without a Ready condition counts."""
    ready = next((condition for condition in node.status.conditions or () if condition.type == "Ready"), None)
    return (
        not node.spec.unschedulable
        and not any(taint.effect in _REPELLING for taint in node.spec.taints or ())
        and (ready is None or ready.status == "True")
    )


def _texts(amounts: Mapping[str, int], binary: Mapping[str, bool]) -> Quantities:
    return {
        resource: format_quantity(Fraction(amount, _NANO), "BinarySI" if binary.get(resource, False) else "DecimalSI")
        for resource, amount in sorted(amounts.items())
    }
