"""Simulated kubelets: pods on a node start, become ready, finish and go, after short delays.

What a container does is decided by its image's tag, so that a manifest can ask for trouble:

    :broken   cannot be pulled: ErrImagePull, then ImagePullBackOff, never starts
    :crash    starts and exits with 1: CrashLoopBackOff, or a Failed pod under restartPolicy Never
    :unready  runs and never becomes ready
    any other runs; under restartPolicy Never or OnFailure it exits with 0 after a moment
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime

from kadm.sandbox.api import ApiServer, Event, Object
from kadm.sandbox.controllers.actions import Delete, Update, perform
from kadm.sandbox.controllers.loop import Key
from kadm.sandbox.controllers.objects import being_deleted, condition, timestamp
from kadm.sandbox.controllers.pods import finished, phase, ready

MANAGER = "kubelet"


@dataclass(frozen=True, slots=True)
class Delays:
    """Seconds that a pod's steps take: scheduled → running → ready (→ finished), and being deleted → gone."""

    start_s: float = 0.2
    ready_s: float = 0.2
    run_s: float = 0.2
    stop_s: float = 0.1


def tag(image: str) -> str:
    """The tag of an image reference, "" where it has none."""
    last = image.split("@", 1)[0].rsplit("/", 1)[-1]
    return last.rpartition(":")[2] if ":" in last else ""


def tags(pod: Object) -> set[str]:
    """The tags of all containers' images."""
    spec = pod["spec"]
    return {
        tag(entry.get("image", "")) for field in ("initContainers", "containers") for entry in spec.get(field) or ()
    }


def next_step(pod: Object, delays: Delays) -> tuple[str, float] | None:
    """The next thing that happens to a pod on a node, and after how many seconds; None if nothing does."""
    if being_deleted(pod):
        grace: int = pod["metadata"].get("deletionGracePeriodSeconds", 0)
        return "gone", min(delays.stop_s, grace)
    if finished(pod):
        return None
    trouble = tags(pod)
    waiting = _waiting_reason(pod)
    if phase(pod) != "Running":
        if "broken" not in trouble:
            return "running", delays.start_s
        return {"": ("ErrImagePull", delays.start_s), "ErrImagePull": ("ImagePullBackOff", delays.start_s)}.get(waiting)
    if "crash" in trouble:
        if pod["spec"].get("restartPolicy", "Always") == "Never":
            return "failed", delays.run_s
        return None if waiting else ("CrashLoopBackOff", delays.run_s)
    if "unready" in trouble:
        return None
    if not ready(pod):
        return "ready", delays.ready_s
    if pod["spec"].get("restartPolicy", "Always") != "Always":
        return "succeeded", delays.run_s
    return None


def after(pod: Object, step: str, node: Object, ip: str, now: datetime) -> Object:
    """The pod once ``step`` has happened to it."""
    moment = timestamp(now)
    status: Object = {
        **pod.get("status", {}),
        "observedGeneration": pod["metadata"].get("generation", 1),
        "hostIP": _address(node),
        "hostIPs": [{"ip": _address(node)}],
        "startTime": pod.get("status", {}).get("startTime", moment),
    }
    if step in ("ErrImagePull", "ImagePullBackOff"):
        status["phase"] = "Pending"
    else:
        status["phase"] = {"failed": "Failed", "succeeded": "Succeeded"}.get(step, "Running")
        status |= {"podIP": ip, "podIPs": [{"ip": ip}]}
    status["conditions"] = _conditions(pod, step, moment)
    before = {entry["name"]: entry for entry in pod.get("status", {}).get("containerStatuses") or ()}
    containers = pod["spec"]["containers"]
    status["containerStatuses"] = [_container(entry, before.get(entry["name"]), step, moment) for entry in containers]
    if inits := pod["spec"].get("initContainers"):
        done = "running" if step in ("ErrImagePull", "ImagePullBackOff") else "succeeded"
        known = {entry["name"]: entry for entry in pod.get("status", {}).get("initContainerStatuses") or ()}
        status["initContainerStatuses"] = [_container(entry, known.get(entry["name"]), done, moment) for entry in inits]
    return {**pod, "status": status}


@dataclass
class Kubelets:
    """The kubelets of all nodes of a member. ``clock`` counts seconds and only runs forward."""

    api: ApiServer
    delays: Delays = Delays()
    clock: Callable[[], float] = time.monotonic
    _due: dict[str, tuple[str, float]] = field(default_factory=dict)  # pod uid → its next step and when
    _addresses: int = 0

    def wakes(self, event: Event) -> Iterable[Key]:
        metadata = event.object["metadata"]
        if event.resource == "pods":
            if event.type == "DELETED":
                self._due.pop(metadata["uid"], None)
            elif event.object["spec"].get("nodeName"):
                yield metadata["namespace"], metadata["name"]
        elif event.resource == "nodes" and event.type != "DELETED" and _changed_readiness(event):
            for pod in self.api.list("pods"):
                if pod["spec"].get("nodeName") == metadata["name"]:
                    yield pod["metadata"]["namespace"], pod["metadata"]["name"]

    def sync(self, namespace: str, name: str) -> float | None:
        pod = self.api.find("pods", namespace, name)
        node = self.api.find("nodes", "", pod["spec"].get("nodeName", "")) if pod else None
        if pod is None or node is None:
            return None
        heard = condition(node, "Ready")
        if heard is None or heard["status"] != "True":
            return None  # a node without a working kubelet: its pods stay as they are
        uid = pod["metadata"]["uid"]
        following = next_step(pod, self.delays)
        if following is None:
            self._due.pop(uid, None)
            return None
        step, delay = following
        planned = self._due.get(uid)
        if planned is None or planned[0] != step:
            planned = self._due[uid] = (step, self.clock() + delay)
        if (left := planned[1] - self.clock()) > 0:
            return left
        self._due.pop(uid, None)
        if step == "gone":
            perform(self.api, [Delete("pods", pod, grace_period_s=0)], MANAGER)
        else:
            ip = pod.get("status", {}).get("podIP") or self._new_address(pod, node)
            perform(self.api, [Update("pods", after(pod, step, node, ip, self.api.clock()), "status")], MANAGER)
        return None

    def _new_address(self, pod: Object, node: Object) -> str:
        if pod["spec"].get("hostNetwork"):
            return _address(node)
        self._addresses += 1
        return f"10.{244 + self._addresses // 64_000 % 8}.{self._addresses // 250 % 256}.{self._addresses % 250 + 2}"


def _address(node: Object) -> str:
    addresses = node.get("status", {}).get("addresses") or ()
    return next((entry["address"] for entry in addresses if entry["type"] == "InternalIP"), "127.0.0.1")


def _changed_readiness(event: Event) -> bool:
    before = condition(event.previous, "Ready") if event.previous else None
    now = condition(event.object, "Ready")
    return (before or {}).get("status") != (now or {}).get("status")


def _waiting_reason(pod: Object) -> str:
    for entry in pod.get("status", {}).get("containerStatuses") or ():
        reason: str = ((entry.get("state") or {}).get("waiting") or {}).get("reason", "")
        if reason:
            return reason
    return ""


def _conditions(pod: Object, step: str, moment: str) -> list[Object]:
    """The conditions a kubelet writes, with the transition times of those that stay as they are."""
    pulled = step not in ("ErrImagePull", "ImagePullBackOff")
    is_ready = step == "ready"
    reason = {"succeeded": "PodCompleted", "failed": "PodFailed"}.get(step, "ContainersNotReady")
    names = ", ".join(entry["name"] for entry in pod["spec"]["containers"])
    why = {} if is_ready else {"reason": reason}
    if not is_ready and reason == "ContainersNotReady":
        why["message"] = f"containers with unready status: [{names.replace(', ', ' ')}]"
    states: list[tuple[str, bool, dict[str, str]]] = [
        ("PodReadyToStartContainers", pulled and step not in ("succeeded", "failed"), {}),
        ("Initialized", True, {"reason": "PodCompleted"} if step == "succeeded" else {}),
        ("Ready", is_ready, why),
        ("ContainersReady", is_ready, why),
        ("PodScheduled", True, {}),
    ]
    known = {entry["type"]: entry for entry in pod.get("status", {}).get("conditions") or ()}
    conditions: list[Object] = []
    for kind, holds, extra in states:
        before = known.get(kind)
        state = "True" if holds else "False"
        since = before["lastTransitionTime"] if before and before["status"] == state else moment
        conditions.append(
            {
                "type": kind,
                "observedGeneration": pod["metadata"].get("generation", 1),
                "status": state,
                "lastProbeTime": None,
                "lastTransitionTime": since,
                **extra,
            }
        )
    ours = {kind for kind, _, _ in states}
    return conditions + [entry for kind, entry in known.items() if kind not in ours]


def _container(container: Object, before: Object | None, step: str, moment: str) -> Object:
    """The status of one container after ``step``."""
    started = (((before or {}).get("state") or {}).get("running") or {}).get("startedAt", moment)
    restarts: int = (before or {}).get("restartCount", 0)
    image = container.get("image", "")
    running = step in ("running", "ready")
    state: Object
    match step:
        case "running" | "ready":
            state = {"running": {"startedAt": started}}
        case "succeeded" | "failed":
            exited = (
                {"exitCode": 0, "reason": "Completed"} if step == "succeeded" else {"exitCode": 1, "reason": "Error"}
            )
            state = {"terminated": {**exited, "startedAt": started, "finishedAt": moment}}
        case "CrashLoopBackOff":
            restarts += 1
            state = {
                "waiting": {"reason": step, "message": f"back-off 10s restarting failed container={container['name']}"}
            }
        case "ErrImagePull":
            state = {"waiting": {"reason": step, "message": f'failed to pull and unpack image "{image}": not found'}}
        case _:
            state = {"waiting": {"reason": step, "message": f'Back-off pulling image "{image}"'}}
    last = (before or {}).get("state") if step == "CrashLoopBackOff" else None
    pulled = step not in ("ErrImagePull", "ImagePullBackOff")
    return {
        "name": container["name"],
        "state": state,
        "lastState": {"terminated": {"exitCode": 1, "reason": "Error", "startedAt": started, "finishedAt": moment}}
        if last
        else {},
        "ready": step == "ready" or (step == "succeeded" and before is None),
        "restartCount": restarts,
        "image": image,
        "imageID": f"sandbox://{image}" if pulled else "",
        "started": running,
    }
