"""Deployments roll their pods over from ReplicaSet to ReplicaSet. Source: pkg/controller/deployment of Kubernetes 1.36.

The decision is one pure function, ``decide``. It makes at most one kind of step (create the new ReplicaSet, scale one
way) and states what the status is then; the ReplicaSets' answers wake it for the next step.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from kadm.sandbox.api import ApiServer, Event, Object
from kadm.sandbox.controllers.actions import Action, Create, Delete, Update, perform
from kadm.sandbox.controllers.deployment_status import (
    a_condition,
    calculated,
    counted,
    deadline_in,
    has_deadline,
    is_complete,
    max_surge,
    max_unavailable,
    replicas_of,
    rollout,
    with_condition,
)
from kadm.sandbox.controllers.hashes import pod_template_hash
from kadm.sandbox.controllers.loop import Key
from kadm.sandbox.controllers.objects import (
    annotations_of,
    being_deleted,
    condition,
    controller_of,
    controller_reference,
    labels_of,
    owned_by,
)
from kadm.sandbox.controllers.pods import finished
from kadm.sandbox.controllers.replicaset import adoptions, releases
from kadm.sandbox.label_selectors import selects

RESOURCE = "deployments.apps"
REPLICASETS = "replicasets.apps"

HASH_LABEL = "pod-template-hash"
REVISION = "deployment.kubernetes.io/revision"
REVISION_HISTORY = "deployment.kubernetes.io/revision-history"
DESIRED = "deployment.kubernetes.io/desired-replicas"
MAXIMUM = "deployment.kubernetes.io/max-replicas"
NOT_COPIED = frozenset(
    {"kubectl.kubernetes.io/last-applied-configuration", REVISION, REVISION_HISTORY, DESIRED, MAXIMUM}
)


@dataclass(frozen=True, slots=True)
class Rollout:
    """A Deployment with its ReplicaSets as they shall be; ``old`` from the oldest on. One to be made has no uid yet."""

    deployment: Object
    new: Object | None
    old: tuple[Object, ...]

    @property
    def all(self) -> tuple[Object, ...]:
        """All ReplicaSets, the new one first."""
        return ((self.new,) if self.new else ()) + self.old

    def scaled(self, sizes: Mapping[str, int], *, annotate: bool = False) -> Rollout:
        """With the ReplicaSets of these names at these sizes.

        One that has its size already stays as it is, or only learns the Deployment's wanted number if ``annotate``.
        """
        want, most = replicas_of(self.deployment), replicas_of(self.deployment) + max_surge(self.deployment)

        def resize(replicaset: Object) -> Object:
            size = sizes.get(replicaset["metadata"]["name"])
            if size is None or (size == replicas_of(replicaset) and not annotate):
                return replicaset
            annotations = {**annotations_of(replicaset), DESIRED: str(want), MAXIMUM: str(most)}
            return {
                **replicaset,
                "metadata": {**replicaset["metadata"], "annotations": annotations},
                "spec": {**replicaset["spec"], "replicas": size},
            }

        new = resize(self.new) if self.new else None
        return replace(self, new=new, old=tuple(resize(entry) for entry in self.old))


def decide(deployment: Object, replicasets: Sequence[Object], pods: Sequence[Object], now: datetime) -> list[Action]:
    """What to do about a Deployment now.

    ``replicasets`` are those it controls, ``pods`` those that these control (read only by strategy Recreate).
    """
    state = _sorted_out(deployment, replicasets)
    if being_deleted(deployment):
        status = calculated(deployment, state.new, state.old, now)
    elif _resized(state) or deployment["spec"].get("paused"):
        state = _rescaled(_with_revision(_with_pause_noted(state, now), now, create=False))
        if deployment["spec"].get("paused"):
            state = _trimmed(state)
        status = calculated(state.deployment, state.new, state.old, now)
    else:
        state = _with_pause_noted(state, now)
        recreates = (deployment["spec"].get("strategy") or {}).get("type") == "Recreate"
        state = _recreated(state, pods, now) if recreates else _rolled(_with_revision(state, now, create=True))
        if is_complete(deployment, deployment.get("status", {})):
            state = _trimmed(state)
        status = rollout(state.deployment, state.new, state.old, now)
    actions = _differences(replicasets, state.all)
    settled = {**state.deployment, "status": status}
    return actions if settled == deployment else [*actions, Update(RESOURCE, settled, "status")]


@dataclass(frozen=True)
class Deployments:
    """The Deployment controller."""

    api: ApiServer

    def wakes(self, event: Event) -> Iterable[Key]:
        metadata = event.object["metadata"]
        if event.resource == RESOURCE:
            yield metadata["namespace"], metadata["name"]
        elif event.resource == REPLICASETS:
            owners = [ref for state in (event.object, event.previous) if state and (ref := controller_of(state))]
            for ref in owners:
                if ref["kind"] == "Deployment":
                    yield metadata["namespace"], ref["name"]
            if not owners and event.type != "DELETED":
                for deployment in self.api.list(RESOURCE, metadata["namespace"]):
                    if selects(deployment["spec"]["selector"], labels_of(event.object)):
                        yield metadata["namespace"], deployment["metadata"]["name"]
        elif event.resource == "pods" and event.type == "DELETED":
            ref = controller_of(event.object)  # Recreate waits for the last old pod to be gone
            if ref and ref["kind"] == "ReplicaSet":
                replicaset = self.api.find(REPLICASETS, metadata["namespace"], ref["name"])
                owner = controller_of(replicaset) if replicaset else None
                if owner and owner["kind"] == "Deployment":
                    yield metadata["namespace"], owner["name"]

    def sync(self, namespace: str, name: str) -> float | None:
        deployment = self.api.find(RESOURCE, namespace, name)
        if deployment is None:
            return None
        selector = deployment["spec"]["selector"]
        replicasets = self.api.list(REPLICASETS, namespace)
        perform(self.api, adoptions(deployment, selector, replicasets, REPLICASETS))
        owned = owned_by(self.api.list(REPLICASETS, namespace), deployment)
        perform(self.api, releases(deployment, selector, owned, REPLICASETS))
        owned = owned_by(self.api.list(REPLICASETS, namespace), deployment)
        uids = {replicaset["metadata"]["uid"] for replicaset in owned}
        pods = [pod for pod in self.api.list("pods", namespace) if (ref := controller_of(pod)) and ref["uid"] in uids]
        now = self.api.clock()
        perform(self.api, decide(deployment, owned, pods, now))
        current = self.api.find(RESOURCE, namespace, name)
        return deadline_in(current, current.get("status", {}), now) if current else None


def _sorted_out(deployment: Object, replicasets: Sequence[Object]) -> Rollout:
    """Which ReplicaSet has the Deployment's template (the oldest if several have), and which are old."""
    by_age = sorted(replicasets, key=lambda entry: (entry["metadata"]["creationTimestamp"], entry["metadata"]["name"]))
    template = _without_hash(deployment["spec"]["template"])
    new = next((entry for entry in by_age if _without_hash(entry["spec"]["template"]) == template), None)
    return Rollout(deployment, new, tuple(entry for entry in by_age if entry is not new))


def _without_hash(template: Object) -> Object:
    metadata = {key: value for key, value in (template.get("metadata") or {}).items() if value}
    labels = {key: value for key, value in metadata.get("labels", {}).items() if key != HASH_LABEL}
    return {**template, "metadata": {**metadata, "labels": labels}}


def _resized(state: Rollout) -> bool:
    """Whether spec.replicas has changed since the ReplicaSets in use were last scaled."""
    want = str(replicas_of(state.deployment))
    return any(replicas_of(entry) > 0 and annotations_of(entry).get(DESIRED, want) != want for entry in state.all)


def _with_pause_noted(state: Rollout, now: datetime) -> Rollout:
    """With the Progressing condition telling of a pause or of its end."""
    deployment = state.deployment
    if not has_deadline(deployment):
        return state
    current = condition(deployment, "Progressing")
    if current and current["reason"] == "ProgressDeadlineExceeded":
        return state
    was_paused = current is not None and current["reason"] == "DeploymentPaused"
    paused = bool(deployment["spec"].get("paused"))
    if paused == was_paused:
        return state
    entry = (
        a_condition("Progressing", "Unknown", "DeploymentPaused", "Deployment is paused", now)
        if paused
        else a_condition("Progressing", "Unknown", "DeploymentResumed", "Deployment is resumed", now)
    )
    return replace(state, deployment=_noting(deployment, entry))


def _noting(deployment: Object, entry: Object) -> Object:
    status = deployment.get("status", {})
    conditions = with_condition(status.get("conditions") or [], entry)
    return {**deployment, "status": {**status, "conditions": conditions}}


def _with_revision(state: Rollout, now: datetime, *, create: bool) -> Rollout:
    """With the new ReplicaSet marked as the latest revision, made first if ``create`` and there is none."""
    revision = max((_revision(entry) for entry in state.old), default=0) + 1
    if state.new is not None:
        marked = _marked(state.deployment, state.new, revision)
        if marked != state.new:
            return replace(state, new=marked)
        deployment = _annotated(state.deployment, str(_revision(state.new)))
        if has_deadline(deployment) and condition(deployment, "Progressing") is None:
            text = f'Found new replica set "{state.new["metadata"]["name"]}"'
            entry = a_condition("Progressing", "True", "FoundNewReplicaSet", text, now)
            deployment = _noting(deployment, entry)
        return replace(state, deployment=deployment)
    if not create:
        return state
    made = _new_replicaset(state, revision)
    deployment = _annotated(state.deployment, str(revision))
    if has_deadline(deployment):
        text = f'Created new replica set "{made["metadata"]["name"]}"'
        deployment = _noting(deployment, a_condition("Progressing", "True", "NewReplicaSetCreated", text, now))
    return Rollout(deployment, made, state.old)


def _revision(replicaset: Object) -> int:
    text = annotations_of(replicaset).get(REVISION, "")
    return int(text) if text.isdigit() else 0


def _annotated(deployment: Object, revision: str) -> Object:
    annotations = {**annotations_of(deployment), REVISION: revision}
    if annotations == annotations_of(deployment):
        return deployment
    return {**deployment, "metadata": {**deployment["metadata"], "annotations": annotations}}


def _marked(deployment: Object, replicaset: Object, revision: int) -> Object:
    """The ReplicaSet with the Deployment's annotations and minReadySeconds, and ``revision`` if it is newer."""
    copied = {key: value for key, value in annotations_of(deployment).items() if key not in NOT_COPIED}
    annotations = {**annotations_of(replicaset), **copied}
    before = annotations.get(REVISION)
    if _revision(replicaset) < revision:
        annotations[REVISION] = str(revision)
        if before:
            annotations[REVISION_HISTORY] = ",".join(filter(None, (annotations.get(REVISION_HISTORY), before)))
    spec = dict(replicaset["spec"])
    if spec.get("minReadySeconds", 0) != deployment["spec"].get("minReadySeconds", 0):
        spec["minReadySeconds"] = deployment["spec"].get("minReadySeconds", 0)
    return {**replicaset, "metadata": {**replicaset["metadata"], "annotations": annotations}, "spec": spec}


def _new_replicaset(state: Rollout, revision: int) -> Object:
    deployment = state.deployment
    spec, metadata = deployment["spec"], deployment["metadata"]
    taken = {entry["metadata"]["name"] for entry in state.old}
    collisions = deployment.get("status", {}).get("collisionCount")
    digest = pod_template_hash(spec["template"], collisions)
    while f"{metadata['name']}-{digest}" in taken:
        collisions = (collisions or 0) + 1
        digest = pod_template_hash(spec["template"], collisions)
    template_metadata = spec["template"].get("metadata") or {}
    labels = {**(template_metadata.get("labels") or {}), HASH_LABEL: digest}
    selector = spec["selector"]
    want, surge = replicas_of(deployment), max_surge(deployment)
    copied = {key: value for key, value in annotations_of(deployment).items() if key not in NOT_COPIED}
    replicaset_spec: Object = {
        "replicas": _room_for_new(deployment, 0, state.old),
        "selector": {**selector, "matchLabels": {**(selector.get("matchLabels") or {}), HASH_LABEL: digest}},
        "template": {**spec["template"], "metadata": {**template_metadata, "labels": labels}},
    }
    if spec.get("minReadySeconds"):
        replicaset_spec["minReadySeconds"] = spec["minReadySeconds"]
    return {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {
            "name": f"{metadata['name']}-{digest}",
            "namespace": metadata["namespace"],
            "labels": labels,
            "annotations": {**copied, REVISION: str(revision), DESIRED: str(want), MAXIMUM: str(want + surge)},
            "ownerReferences": [controller_reference(deployment)],
        },
        "spec": replicaset_spec,
    }


def _room_for_new(deployment: Object, size: int, old: Sequence[Object]) -> int:
    """The size the new ReplicaSet may grow to, now that it has ``size`` and the old ones have theirs."""
    want = replicas_of(deployment)
    if (deployment["spec"].get("strategy") or {}).get("type") == "Recreate":
        return want
    total = size + sum(replicas_of(entry) for entry in old)
    most = want + max_surge(deployment)
    return size if total >= most else size + min(most - total, want - size)


def _rescaled(state: Rollout) -> Rollout:
    """After a change of spec.replicas: the one ReplicaSet in use follows; in mid-rollout all do, proportionally."""
    want = replicas_of(state.deployment)
    in_use = [entry for entry in state.all if replicas_of(entry) > 0]
    if len(in_use) <= 1:
        latest = in_use[0] if in_use else state.new or (state.old[-1] if state.old else None)
        return state.scaled({latest["metadata"]["name"]: want}) if latest else state
    new = state.new
    if (
        new
        and replicas_of(new) == want
        and annotations_of(new).get(DESIRED) == str(want)
        and counted(new, "availableReplicas") == want
    ):
        return state.scaled({entry["metadata"]["name"]: 0 for entry in state.old})
    if (state.deployment["spec"].get("strategy") or {}).get("type") == "Recreate":
        return state
    return state.scaled(_proportions(state.deployment, in_use), annotate=True)


def _proportions(deployment: Object, in_use: Sequence[Object]) -> dict[str, int]:
    """New sizes by name: what is to be added or taken away, shared by size; what is left over goes to the largest."""
    want = replicas_of(deployment)
    allowed = want + max_surge(deployment) if want else 0
    left = allowed - sum(replicas_of(entry) for entry in in_use)
    growing = left > 0
    by_age = sorted(in_use, key=lambda entry: entry["metadata"]["creationTimestamp"], reverse=growing)
    by_size = sorted(by_age, key=replicas_of, reverse=True)  # of equal sizes the newer grows, the older shrinks first
    sizes: dict[str, int] = {}
    for entry in by_size:
        size = replicas_of(entry)
        share = _share(deployment, entry, allowed) if left else 0
        share = min(max(share, 0), left) if growing else max(min(share, 0), left)
        sizes[entry["metadata"]["name"]] = size + share
        left -= share
    largest = by_size[0]["metadata"]["name"]
    sizes[largest] = max(0, sizes[largest] + left)
    return sizes


def _share(deployment: Object, replicaset: Object, allowed: int) -> int:
    """By how much one ReplicaSet would change if it kept its part of the total."""
    size = replicas_of(replicaset)
    annotated = annotations_of(replicaset).get(MAXIMUM, "")
    before = int(annotated) if annotated.isdigit() else 0
    before = before or deployment.get("status", {}).get("replicas", 0)
    if not allowed:
        return -size
    return (2 * size * allowed + before) // (2 * before) - size if before else 0


def _rolled(state: Rollout) -> Rollout:
    """Strategy RollingUpdate: the new ReplicaSet grows, or else the old ones shrink."""
    new, old, deployment = state.new, state.old, state.deployment
    assert new is not None, "made by _with_revision"
    want = replicas_of(deployment)
    size = replicas_of(new)
    target = want if size > want else _room_for_new(deployment, size, old)
    if target != size:
        return state.scaled({new["metadata"]["name"]: target})
    if not sum(replicas_of(entry) for entry in old):
        return state
    return _shrunk(state, want - max_unavailable(deployment))


def _shrunk(state: Rollout, at_least: int) -> Rollout:
    """The old ReplicaSets smaller by what ``at_least`` available pods permit, unavailable pods first."""
    assert state.new is not None
    total = sum(replicas_of(entry) for entry in state.all)
    not_yet = replicas_of(state.new) - counted(state.new, "availableReplicas")
    may_go = total - at_least - not_yet
    if may_go <= 0:
        return state
    sizes = {entry["metadata"]["name"]: replicas_of(entry) for entry in state.old}
    gone = 0
    for entry in state.old:
        unavailable = max(0, replicas_of(entry) - counted(entry, "availableReplicas"))
        count = min(may_go - gone, unavailable)
        sizes[entry["metadata"]["name"]] -= count
        gone += count
    spare = sum(counted(entry, "availableReplicas") for entry in state.all) - at_least
    for entry in state.old:
        count = max(0, min(spare, sizes[entry["metadata"]["name"]]))
        sizes[entry["metadata"]["name"]] -= count
        spare -= count
    return state.scaled(sizes)


def _recreated(state: Rollout, pods: Sequence[Object], now: datetime) -> Rollout:
    """Strategy Recreate: all old pods go before the first new one comes."""
    state = _with_revision(state, now, create=False)
    if any(replicas_of(entry) for entry in state.old):
        return state.scaled({entry["metadata"]["name"]: 0 for entry in state.old})
    new_uid = state.new["metadata"]["uid"] if state.new else ""
    remaining = [pod for pod in pods if not finished(pod) and (ref := controller_of(pod)) and ref["uid"] != new_uid]
    if remaining or any(counted(entry, "replicas") for entry in state.old):
        return state
    state = _with_revision(state, now, create=True)
    assert state.new is not None
    return state.scaled({state.new["metadata"]["name"]: replicas_of(state.deployment)})


def _trimmed(state: Rollout) -> Rollout:
    """Without the oldest ReplicaSets beyond revisionHistoryLimit; only those at rest count."""
    limit = state.deployment["spec"].get("revisionHistoryLimit")
    if limit is None:
        return state
    idle = [
        entry
        for entry in state.old
        if not being_deleted(entry)
        and not replicas_of(entry)
        and not counted(entry, "replicas")
        and counted(entry, "observedGeneration") >= entry["metadata"]["generation"]
    ]
    excess = sorted(idle, key=_revision)[: max(0, len(idle) - limit)]
    names = {entry["metadata"]["name"] for entry in excess}
    return replace(state, old=tuple(entry for entry in state.old if entry["metadata"]["name"] not in names))


def _differences(before: Sequence[Object], after: Sequence[Object]) -> list[Action]:
    """What turns the ReplicaSets ``before`` into those ``after``."""
    known = {entry["metadata"]["name"]: entry for entry in before}
    kept = {entry["metadata"]["name"] for entry in after}
    actions: list[Action] = []
    for entry in after:
        live = known.get(entry["metadata"]["name"])
        if live is None:
            actions.append(Create(REPLICASETS, entry))
        elif live != entry:
            actions.append(Update(REPLICASETS, entry))
    return actions + [Delete(REPLICASETS, entry) for name, entry in known.items() if name not in kept]
