"""DaemonSets keep one pod on every node they select. Source: pkg/controller/daemon of Kubernetes 1.36."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from kadm.sandbox.api import ApiServer, Event, Object
from kadm.sandbox.controllers.actions import Action, Create, Delete, Update, perform
from kadm.sandbox.controllers.loop import Key
from kadm.sandbox.controllers.objects import being_deleted, condition, labels_of, owned_by, scaled, without_zeros
from kadm.sandbox.controllers.placement import node_matches, tolerated
from kadm.sandbox.controllers.pods import available, finished, next_available_in, pod_from_template, ready
from kadm.sandbox.controllers.replicaset import adoptions
from kadm.sandbox.controllers.revisions import HASH_LABEL, History, excess, history
from kadm.sandbox.controllers.revisions import RESOURCE as REVISIONS
from kadm.sandbox.controllers.waking import itself_or_pod_owner
from kadm.sandbox.kinds.defaults.workloads import TEMPLATE_GENERATION

RESOURCE = "daemonsets.apps"
GENERATION_LABEL = "pod-template-generation"

TOLERATIONS = (
    ("node.kubernetes.io/not-ready", "NoExecute"),
    ("node.kubernetes.io/unreachable", "NoExecute"),
    ("node.kubernetes.io/disk-pressure", "NoSchedule"),
    ("node.kubernetes.io/memory-pressure", "NoSchedule"),
    ("node.kubernetes.io/pid-pressure", "NoSchedule"),
    ("node.kubernetes.io/unschedulable", "NoSchedule"),
)


def daemon_pod(daemonset: Object, node: str, digest: str) -> Object:
    """The pod for one node: bound to it by affinity, tolerating what daemons must."""
    template = daemonset["spec"]["template"]
    pod = pod_from_template(template, daemonset)
    annotations = daemonset["metadata"].get("annotations") or {}
    generation = annotations.get(TEMPLATE_GENERATION) or str(daemonset["metadata"].get("generation", 1))
    pod["metadata"]["labels"] = {
        **(pod["metadata"].get("labels") or {}),
        HASH_LABEL: digest,
        GENERATION_LABEL: generation,
    }
    spec = pod["spec"]
    affinity = dict(spec.get("affinity") or {})
    here = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]}
    required = ((affinity.get("nodeAffinity") or {}).get("requiredDuringSchedulingIgnoredDuringExecution")) or {}
    terms = [{**term, **here} for term in required.get("nodeSelectorTerms") or ()] or [here]
    affinity["nodeAffinity"] = {
        **(affinity.get("nodeAffinity") or {}),
        "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms},
    }
    pod["spec"] = {**spec, "affinity": affinity, "tolerations": tolerations(spec)}
    return pod


def tolerations(spec: Object) -> list[Object]:
    """The tolerations of a daemon's pod: its own, and those every daemon has."""
    keys = [
        *TOLERATIONS,
        *([("node.kubernetes.io/network-unavailable", "NoSchedule")] if spec.get("hostNetwork") else []),
    ]
    have = {(entry.get("key"), entry.get("effect")) for entry in spec.get("tolerations") or ()}
    added = [{"key": key, "operator": "Exists", "effect": effect} for key, effect in keys if (key, effect) not in have]
    return [*(spec.get("tolerations") or ()), *added]


def wants(daemonset: Object, node: Object) -> bool:
    """Whether a pod of the set belongs on that node."""
    spec = daemonset["spec"]["template"]["spec"]
    if not node_matches(spec, node):
        return False
    hard = [taint for taint in node["spec"].get("taints") or () if taint["effect"] in ("NoSchedule", "NoExecute")]
    return all(tolerated(taint, tolerations(spec)) for taint in hard)


def target(pod: Object) -> str:
    """The node that a daemon's pod is on or is meant for, "" if it names none."""
    bound: str = pod["spec"].get("nodeName", "")
    if bound:
        return bound
    affinity = ((pod["spec"].get("affinity") or {}).get("nodeAffinity")) or {}
    required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution") or {}
    for term in required.get("nodeSelectorTerms") or ():
        for field in term.get("matchFields") or ():
            if field["key"] == "metadata.name" and field.get("values"):
                value: str = field["values"][0]
                return value
    return ""


def decide(
    daemonset: Object, nodes: Sequence[Object], pods: Sequence[Object], found: History, now: datetime
) -> list[Action]:
    """What to do about a DaemonSet now: pods on the wrong nodes go, missing ones come, then old ones are replaced."""
    digest = found.update["metadata"]["labels"][HASH_LABEL]
    by_node: dict[str, list[Object]] = {}
    for pod in pods:
        by_node.setdefault(target(pod), []).append(pod)
    actions: list[Action] = []
    wanted = [node["metadata"]["name"] for node in nodes if wants(daemonset, node)]
    for name in wanted:
        here = by_node.get(name, [])
        failed = [pod for pod in here if finished(pod) and not being_deleted(pod)]
        actions += [Delete("pods", pod) for pod in failed]
        if not here:
            actions.append(Create("pods", daemon_pod(daemonset, name, digest)))
    for name, there in by_node.items():
        if name not in wanted:
            actions += [Delete("pods", pod) for pod in there if not being_deleted(pod)]
    if actions or (daemonset["spec"].get("updateStrategy") or {}).get("type") == "OnDelete":
        return actions
    return _updates(daemonset, [pod for name in wanted for pod in by_node.get(name, [])], len(wanted), digest, now)


def status(daemonset: Object, nodes: Sequence[Object], pods: Sequence[Object], found: History, now: datetime) -> Object:
    """The status that these pods make."""
    digest = found.update["metadata"]["labels"][HASH_LABEL]
    min_ready = daemonset["spec"].get("minReadySeconds", 0)
    by_node: dict[str, list[Object]] = {}
    for pod in pods:
        by_node.setdefault(target(pod), []).append(pod)
    wanted = {node["metadata"]["name"] for node in nodes if wants(daemonset, node)}
    first = [min(by_node[name], key=_by_age) for name in sorted(wanted & by_node.keys())]
    is_available = sum(1 for pod in first if ready(pod) and available(pod, min_ready, now))
    counts = {
        "observedGeneration": daemonset["metadata"]["generation"],
        "updatedNumberScheduled": sum(1 for pod in first if labels_of(pod).get(HASH_LABEL) == digest),
        "numberAvailable": is_available,
        "numberUnavailable": len(wanted) - is_available,
        "collisionCount": daemonset.get("status", {}).get("collisionCount"),
    }
    return {
        "currentNumberScheduled": len(first),
        "numberMisscheduled": len(by_node.keys() - wanted - {""}),
        "desiredNumberScheduled": len(wanted),
        "numberReady": sum(1 for pod in first if ready(pod)),
        **without_zeros(counts),
    }


@dataclass(frozen=True)
class DaemonSets:
    """The DaemonSet controller."""

    api: ApiServer

    def wakes(self, event: Event) -> Iterable[Key]:
        yield from itself_or_pod_owner(self.api, event, "DaemonSet", RESOURCE)
        if event.resource == "nodes":
            for daemonset in self.api.list(RESOURCE):
                yield daemonset["metadata"]["namespace"], daemonset["metadata"]["name"]

    def sync(self, namespace: str, name: str) -> float | None:
        daemonset = self.api.find(RESOURCE, namespace, name)
        if daemonset is None or being_deleted(daemonset):
            return None
        perform(self.api, adoptions(daemonset, daemonset["spec"]["selector"], self.api.list("pods", namespace), "pods"))
        pods = owned_by(self.api.list("pods", namespace), daemonset)
        nodes = [node for node in self.api.list("nodes") if condition(node, "Ready") is not None]
        found = history(daemonset, owned_by(self.api.list(REVISIONS, namespace), daemonset))
        now = self.api.clock()
        perform(self.api, [*found.actions, *decide(daemonset, nodes, pods, found, now)])
        pods = owned_by(self.api.list("pods", namespace), daemonset)
        fresh = status(daemonset, nodes, pods, found, now)
        if fresh != daemonset.get("status"):
            perform(self.api, [Update(RESOURCE, {**daemonset, "status": fresh}, "status")])
        used = {labels_of(pod).get(HASH_LABEL) for pod in pods}
        in_use = [e["metadata"]["name"] for e in found.revisions if e["metadata"]["labels"].get(HASH_LABEL) in used]
        perform(self.api, excess(found, in_use, daemonset["spec"].get("revisionHistoryLimit", 10)))
        return next_available_in(pods, daemonset["spec"].get("minReadySeconds", 0), now)


def _by_age(pod: Object) -> tuple[str, str]:
    return pod["metadata"]["creationTimestamp"], pod["metadata"]["name"]


def _updates(daemonset: Object, pods: Sequence[Object], wanted: int, digest: str, now: datetime) -> list[Action]:
    """Deletions of pods of an older template: the unavailable at once, the others while maxUnavailable permits."""
    rolling = (daemonset["spec"].get("updateStrategy") or {}).get("rollingUpdate") or {}
    most = max(1, scaled(rolling.get("maxUnavailable", 1), wanted, up=True))
    min_ready = daemonset["spec"].get("minReadySeconds", 0)
    old = [pod for pod in pods if labels_of(pod).get(HASH_LABEL) != digest and not being_deleted(pod)]
    broken = [pod for pod in old if not available(pod, min_ready, now)]
    good = [pod for pod in old if available(pod, min_ready, now)]
    missing = sum(1 for pod in pods if being_deleted(pod) or not available(pod, min_ready, now))
    return [Delete("pods", pod) for pod in [*broken, *good[: max(0, most - missing)]]]
