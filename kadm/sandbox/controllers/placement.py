"""Which node a pod goes to, and why it can go to no other: pure rules over nodes and what runs on them.

Source: the default plugins of kube-scheduler 1.36, those that a simulated node can honour. A pod goes to the fitting
node that would be the least full, then to the one with fewer pods, then to the first by name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

from kadm.model.quantity import QuantityError, parse_quantity
from kadm.sandbox.api import Object
from kadm.sandbox.controllers.objects import being_deleted, labels_of
from kadm.sandbox.label_selectors import meets, selects

UNEVEN = "node(s) didn't match pod topology spread constraints"

Resources = dict[str, Fraction]
Ports = set[tuple[str, int]]


class NodeState:
    """A node and what runs on it, kept up to date while pods are placed one after the other."""

    def __init__(self, node: Object) -> None:
        self.node = node
        self.name: str = node["metadata"]["name"]
        self.offered = amounts(node.get("status", {}).get("allocatable") or {})
        self.used: Resources = {}
        self.ports: Ports = set()
        self.pods: list[Object] = []
        self.guarded: list[Object] = []  # those of the pods that keep others away

    def place(self, pod: Object) -> None:
        """Count ``pod`` as running here."""
        self.pods.append(pod)
        self.used = added(self.used, requests(pod))
        self.ports |= _ports(pod)
        if _required((pod["spec"].get("affinity") or {}).get("podAntiAffinity")):
            self.guarded.append(pod)


def amounts(quantities: Mapping[str, str | int | float]) -> Resources:
    """Quantities as numbers; what is none counts as 0, as the server has let it pass."""
    found: Resources = {}
    for name, text in quantities.items():
        try:
            found[name] = parse_quantity(text)
        except QuantityError:
            found[name] = Fraction(0)
    return found


def added(one: Resources, other: Resources) -> Resources:
    """The sum by name."""
    return {name: one.get(name, Fraction(0)) + other.get(name, Fraction(0)) for name in (*one, *other)}


def requests(pod: Object) -> Resources:
    """What a pod takes on a node, itself included as ``pods: 1``.

    The containers' sum with the restartable init containers, or the largest init container where that is more, plus the
    overhead; a request of the pod itself comes before that of its containers (KEP-2837).
    """
    spec = pod["spec"]
    total: Resources = {}
    for container in spec.get("containers") or ():
        total = added(total, _container_requests(container))
    sidecars: Resources = {}
    peak: Resources = {}
    for container in spec.get("initContainers") or ():
        if container.get("restartPolicy") == "Always":
            sidecars = added(sidecars, _container_requests(container))
            step = sidecars
        else:
            step = added(sidecars, _container_requests(container))
        peak = {name: max(peak.get(name, Fraction(0)), step.get(name, Fraction(0))) for name in (*peak, *step)}
    total = added(total, sidecars)
    total = {name: max(total.get(name, Fraction(0)), peak.get(name, Fraction(0))) for name in (*total, *peak)}
    total |= amounts((spec.get("resources") or {}).get("requests") or {})
    return added(added(total, amounts(spec.get("overhead") or {})), {"pods": Fraction(1)})


def refusals(pod: Object, wanted: Resources, state: NodeState, nodes: Sequence[NodeState]) -> list[str]:
    """Why ``pod`` cannot go to that node, in the words of the first plugin that refuses; empty if it can.

    ``wanted`` is what the pod requests, ``nodes`` are all nodes.
    """
    spec, node = pod["spec"], state.node
    tolerations = spec.get("tolerations") or ()
    if node["spec"].get("unschedulable") and not tolerated(
        {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}, tolerations
    ):
        return ["node(s) were unschedulable"]
    for taint in node["spec"].get("taints") or ():
        if taint["effect"] in ("NoSchedule", "NoExecute") and not tolerated(taint, tolerations):
            value = taint.get("value", "")
            return [f"node(s) had untolerated taint {{{taint['key']}: {value}}}"]
    if not node_matches(spec, node):
        return ["node(s) didn't match Pod's node affinity/selector"]
    if _ports(pod) & state.ports:
        return ["node(s) didn't have free ports for the requested pod ports"]
    if lacking := _lacking(wanted, state):
        return lacking
    if uneven := _uneven(pod, state, nodes):
        return [uneven]
    return _pod_affinity_refusals(pod, state, nodes)


def choose(pod: Object, nodes: Sequence[NodeState]) -> tuple[NodeState | None, str]:
    """The node for ``pod``, or None and the message why there is none."""
    wanted = requests(pod)
    reasons: Counter[str] = Counter()
    fitting: list[NodeState] = []
    for state in nodes:
        if why := refusals(pod, wanted, state, nodes):
            reasons.update(why)
        else:
            fitting.append(state)
    if fitting:
        return min(fitting, key=lambda state: (_fullness(wanted, state), len(state.pods), state.name)), ""
    if not nodes:
        return None, "no nodes available to schedule pods"
    total = f"0/{len(nodes)} nodes are available"
    counted = ", ".join(sorted(f"{count} {reason}" for reason, count in reasons.items()))
    preemption = (
        f"preemption: 0/{len(nodes)} nodes are available: {len(nodes)} Preemption is not helpful for scheduling."
    )
    return None, f"{total}: {counted}. no new claims to deallocate, {preemption}"


def node_selected(selector: Mapping[str, object], node: Object) -> bool:
    """Whether one of a v1.NodeSelector's terms matches; a term without requirements matches nothing."""
    terms = selector.get("nodeSelectorTerms") or ()
    assert isinstance(terms, Sequence)
    return any(_term_matches(term, node) for term in terms)


def node_matches(spec: Object, node: Object) -> bool:
    """Whether the node is one that the pod spec's nodeSelector and required node affinity ask for."""
    labels = labels_of(node)
    if any(labels.get(key) != value for key, value in (spec.get("nodeSelector") or {}).items()):
        return False
    affinity = (spec.get("affinity") or {}).get("nodeAffinity") or {}
    required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution")
    return required is None or node_selected(required, node)


def tolerated(taint: Object, tolerations: Iterable[Object]) -> bool:
    """Whether one of the tolerations is about that taint."""
    return any(
        (not toleration.get("effect") or toleration["effect"] == taint["effect"])
        and (not toleration.get("key") or toleration["key"] == taint["key"])
        and (
            toleration.get("operator", "Equal") == "Exists"
            or (bool(toleration.get("key")) and toleration.get("value", "") == taint.get("value", ""))
        )
        for toleration in tolerations
    )


def _term_matches(term: Mapping[str, Sequence[Object]], node: Object) -> bool:
    labels, fields = term.get("matchExpressions") or (), term.get("matchFields") or ()
    if not labels and not fields:
        return False
    name = {"metadata.name": node["metadata"]["name"]}
    return all(meets(expression, labels_of(node)) for expression in labels) and all(
        meets(expression, name) for expression in fields
    )


def _container_requests(container: Object) -> Resources:
    return amounts((container.get("resources") or {}).get("requests") or {})


def _ports(pod: Object) -> Ports:
    return {
        (port.get("protocol", "TCP"), port["hostPort"])
        for container in pod["spec"].get("containers") or ()
        for port in container.get("ports") or ()
        if port.get("hostPort")
    }


def _lacking(wanted: Resources, state: NodeState) -> list[str]:
    lacking: list[str] = []
    for name, amount in wanted.items():
        if amount and state.used.get(name, Fraction(0)) + amount > state.offered.get(name, Fraction(0)):
            lacking.append("Too many pods" if name == "pods" else f"Insufficient {name}")
    return lacking


def _fullness(wanted: Resources, state: NodeState) -> Fraction:
    """How full CPU and memory would be with the pod, as the mean of the two shares."""
    offered = state.offered
    shares = [
        (state.used.get(name, Fraction(0)) + wanted.get(name, Fraction(0))) / offered[name]
        for name in ("cpu", "memory")
        if offered.get(name)
    ]
    return sum(shares, Fraction(0)) / len(shares) if shares else Fraction(0)


def _uneven(pod: Object, state: NodeState, nodes: Sequence[NodeState]) -> str:
    """Why a DoNotSchedule topology spread constraint would not hold with the pod on that node, "" if all do."""
    for constraint in pod["spec"].get("topologySpreadConstraints") or ():
        if constraint.get("whenUnsatisfiable") != "DoNotSchedule":
            continue
        key = constraint["topologyKey"]
        here = labels_of(state.node).get(key)
        if here is None:
            return f"{UNEVEN} (missing required label)"
        counts = {
            zone: 0
            for other in nodes
            if (zone := labels_of(other.node).get(key)) and node_matches(pod["spec"], other.node)
        }
        for other in nodes:
            zone = labels_of(other.node).get(key)
            if zone in counts:
                counts[zone] += sum(1 for peer in other.pods if _is_peer(peer, pod, constraint.get("labelSelector")))
        itself = 1 if selects(constraint.get("labelSelector"), labels_of(pod)) else 0
        if counts.get(here, 0) + itself - min(counts.values(), default=0) > constraint["maxSkew"]:
            return UNEVEN
    return ""


def _is_peer(peer: Object, pod: Object, selector: Object | None) -> bool:
    same = peer["metadata"]["namespace"] == pod["metadata"]["namespace"]
    return same and not being_deleted(peer) and selects(selector, labels_of(peer))


def _pod_affinity_refusals(pod: Object, state: NodeState, nodes: Sequence[NodeState]) -> list[str]:
    """The required pod (anti-)affinity of the pod, and the anti-affinity of the pods that are there already."""
    affinity = pod["spec"].get("affinity") or {}
    for term in _required(affinity.get("podAffinity")):
        anywhere = any(_term_selects(term, pod, peer) for other in nodes for peer in other.pods)
        first_of_its_kind = not anywhere and _term_selects(term, pod, pod)
        if not first_of_its_kind and not any(_term_selects(term, pod, peer) for peer in _beside(term, state, nodes)):
            return ["node(s) didn't match pod affinity rules"]
    for term in _required(affinity.get("podAntiAffinity")):
        if any(_term_selects(term, pod, peer) for peer in _beside(term, state, nodes)):
            return ["node(s) didn't match pod anti-affinity rules"]
    for other in nodes:
        for peer in other.guarded:
            for term in _required((peer["spec"].get("affinity") or {}).get("podAntiAffinity")):
                key = term["topologyKey"]
                zone = labels_of(other.node).get(key)
                if zone and zone == labels_of(state.node).get(key) and _term_selects(term, peer, pod):
                    return ["node(s) didn't satisfy existing pods anti-affinity rules"]
    return []


def _required(affinity: Object | None) -> Sequence[Object]:
    return (affinity or {}).get("requiredDuringSchedulingIgnoredDuringExecution") or ()


def _beside(term: Object, state: NodeState, nodes: Sequence[NodeState]) -> list[Object]:
    """The pods in the node's topology domain."""
    zone = labels_of(state.node).get(term["topologyKey"])
    if zone is None:
        return []
    return [peer for other in nodes if labels_of(other.node).get(term["topologyKey"]) == zone for peer in other.pods]


def _term_selects(term: Object, owner: Object, peer: Object) -> bool:
    namespaces = term.get("namespaces") or ()
    if not namespaces and term.get("namespaceSelector") is None:
        namespaces = (owner["metadata"]["namespace"],)
    named = peer["metadata"]["namespace"] in namespaces or term.get("namespaceSelector") == {}
    return named and selects(term.get("labelSelector"), labels_of(peer))
