"""Jobs run pods to completion. Source: pkg/controller/job of Kubernetes 1.36.

Left out: podFailurePolicy, successPolicy, backoffLimitPerIndex and maxFailedIndexes; failed pods are replaced at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from kadm.sandbox.api import ApiServer, Event, Object
from kadm.sandbox.controllers.actions import Action, Create, Delete, Update, perform
from kadm.sandbox.controllers.loop import Key
from kadm.sandbox.controllers.objects import (
    annotations_of,
    being_deleted,
    condition,
    controller_of,
    owned_by,
    seconds_until,
    timestamp,
    without_zeros,
)
from kadm.sandbox.controllers.pods import active, phase, pod_from_template, ready

RESOURCE = "jobs.batch"
TRACKING = "batch.kubernetes.io/job-tracking"
INDEX = "batch.kubernetes.io/job-completion-index"

Reason = tuple[str, str, str]  # condition type, reason, message


@dataclass(frozen=True, slots=True)
class Decision:
    """What to do, the status it makes, and after how many seconds time alone changes something."""

    actions: tuple[Action, ...]
    status: Object
    again: float | None = None


def is_finished(job: Object) -> bool:
    """Whether the Job is Complete or Failed."""
    found = [condition(job, kind) for kind in ("Complete", "Failed")]
    return any(entry and entry["status"] == "True" for entry in found)


def decide(job: Object, pods: Sequence[Object], now: datetime) -> Decision:
    """What to do about a Job now; ``pods`` are those it owns."""
    status = job.get("status", {})
    released = _releases(pods)
    if is_finished(job):
        stale = [Delete("pods", pod) for pod in pods if active(pod)]
        return Decision((*released, *stale), {**status, **_no_more(pods)}, _expires_in(job, now))
    spec = job["spec"]
    succeeded = _succeeded(job, pods)
    failed = _failed(job, pods)
    verdict = _verdict(job, succeeded, failed, now)
    running = [pod for pod in pods if active(pod)]
    actions: list[Action] = list(released)
    suspended = bool(spec.get("suspend"))
    if verdict or suspended:
        actions += [Delete("pods", pod) for pod in running]
        running = []
    elif not being_deleted(job):
        actions += _creations(job, pods, running, succeeded)
        actions += _surplus(job, running, succeeded)
    fresh: Object = {
        **_timed(job, now),
        "active": 0 if verdict or suspended else len(running) + sum(isinstance(entry, Create) for entry in actions),
        "succeeded": succeeded,
        "failed": failed,
    }
    fresh = without_zeros(fresh)
    if _indexed(job) and (indexes := compressed(_done_indexes(job, pods))):
        fresh["completedIndexes"] = indexes
    fresh |= {
        "ready": sum(1 for pod in running if ready(pod)),
        "terminating": sum(1 for pod in pods if being_deleted(pod)),
        "uncountedTerminatedPods": {},
    }
    conditions = _conditions(job, verdict, now)
    if conditions:
        fresh["conditions"] = conditions
    if verdict and verdict[0] == "Complete":
        fresh["completionTime"] = timestamp(now)
    return Decision(tuple(actions), fresh, _deadline_in(job, now) if not verdict else _ttl(job))


def compressed(indexes: Iterable[int]) -> str:
    """Indexes as text: ``0-2,5``."""
    runs: list[list[int]] = []
    for index in sorted(set(indexes)):
        if runs and runs[-1][1] == index - 1:
            runs[-1][1] = index
        else:
            runs.append([index, index])
    return ",".join(
        str(first) if first == last else f"{first},{last}" if last == first + 1 else f"{first}-{last}"
        for first, last in runs
    )


def expanded(text: str) -> set[int]:
    """The indexes that ``compressed`` has written."""
    found: set[int] = set()
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        found.update(range(int(first), int(last or first) + 1))
    return found


@dataclass(frozen=True)
class Jobs:
    """The Job controller, and the one that removes Jobs whose time to live is over."""

    api: ApiServer

    def wakes(self, event: Event) -> Iterable[Key]:
        metadata = event.object["metadata"]
        if event.resource == RESOURCE:
            yield metadata["namespace"], metadata["name"]
        elif event.resource == "pods":
            ref = controller_of(event.object)
            if ref and ref["kind"] == "Job":
                yield metadata["namespace"], ref["name"]

    def sync(self, namespace: str, name: str) -> float | None:
        job = self.api.find(RESOURCE, namespace, name)
        if job is None:
            self._release_orphans(namespace, name)
            return None
        now = self.api.clock()
        expires = _expires_in(job, now)
        if expires is not None and expires <= 0 and not being_deleted(job):
            perform(self.api, [Delete(RESOURCE, job, "Foreground")])
            return None
        decision = decide(job, owned_by(self.api.list("pods", namespace), job), now)
        # the count comes before the finalizers go: a pod that is let go may vanish, and must be counted by then
        if decision.status != job.get("status"):
            perform(self.api, [Update(RESOURCE, {**job, "status": decision.status}, "status")])
        perform(self.api, decision.actions)
        return decision.again

    def _release_orphans(self, namespace: str, name: str) -> None:
        """Take our finalizer off the pods of a Job that is gone."""
        pods = [pod for pod in self.api.list("pods", namespace) if (ref := controller_of(pod)) and ref["name"] == name]
        held = [pod for pod in pods if TRACKING in (pod["metadata"].get("finalizers") or ())]
        perform(self.api, [Update("pods", _released(pod)) for pod in held])


def _indexed(job: Object) -> bool:
    return bool(job["spec"].get("completionMode") == "Indexed")


def _index(pod: Object) -> int | None:
    text = annotations_of(pod).get(INDEX, "")
    return int(text) if text.isdigit() else None


def _tracked(pod: Object) -> bool:
    """Whether the pod's end has not been counted yet."""
    return TRACKING in (pod["metadata"].get("finalizers") or ())


def _done_indexes(job: Object, pods: Sequence[Object]) -> set[int]:
    before = expanded(job.get("status", {}).get("completedIndexes", ""))
    new = {index for pod in pods if phase(pod) == "Succeeded" and (index := _index(pod)) is not None}
    return {index for index in before | new if index < (job["spec"].get("completions") or 0)}


def _succeeded(job: Object, pods: Sequence[Object]) -> int:
    if _indexed(job):
        return len(_done_indexes(job, pods))
    counted: int = job.get("status", {}).get("succeeded", 0)
    return counted + sum(1 for pod in pods if phase(pod) == "Succeeded" and _tracked(pod))


def _failed(job: Object, pods: Sequence[Object]) -> int:
    counted: int = job.get("status", {}).get("failed", 0)
    if job["spec"].get("suspend"):  # pods that a suspension takes away have not failed
        return counted + sum(1 for pod in pods if _tracked(pod) and phase(pod) == "Failed")
    return counted + sum(1 for pod in pods if _tracked(pod) and _ended_badly(pod))


def _ended_badly(pod: Object) -> bool:
    return phase(pod) == "Failed" or (being_deleted(pod) and phase(pod) != "Succeeded")


def _releases(pods: Sequence[Object]) -> list[Action]:
    """Updates that let go of pods whose end is counted."""
    ended = [pod for pod in pods if _tracked(pod) and (phase(pod) == "Succeeded" or _ended_badly(pod))]
    return [Update("pods", _released(pod)) for pod in ended]


def _released(pod: Object) -> Object:
    kept = [entry for entry in pod["metadata"]["finalizers"] if entry != TRACKING]
    metadata = {key: value for key, value in pod["metadata"].items() if key != "finalizers"}
    return {**pod, "metadata": {**metadata, "finalizers": kept} if kept else metadata}


def _verdict(job: Object, succeeded: int, failed: int, now: datetime) -> Reason | None:
    """How the Job has ended, None if it has not."""
    spec = job["spec"]
    deadline = _deadline_in(job, now)
    if failed > spec.get("backoffLimit", 6):
        return "Failed", "BackoffLimitExceeded", "Job has reached the specified backoff limit"
    if deadline is not None and deadline <= 0:
        return "Failed", "DeadlineExceeded", "Job was active longer than specified deadline"
    want = spec.get("completions")
    if want is None:  # a work queue: the first success ends it
        return ("Complete", "CompletionsReached", "Reached expected number of succeeded pods") if succeeded else None
    if succeeded >= want and not spec.get("suspend"):
        return "Complete", "CompletionsReached", "Reached expected number of succeeded pods"
    return None


def _conditions(job: Object, verdict: Reason | None, now: datetime) -> list[Object]:
    conditions: list[Object] = [
        entry for entry in job.get("status", {}).get("conditions") or () if entry["type"] != "Suspended"
    ]
    before = condition(job, "Suspended")
    suspended = bool(job["spec"].get("suspend"))
    if suspended or before:
        reason, text = ("JobSuspended", "Job suspended") if suspended else ("JobResumed", "Job resumed")
        entry = _entry("Suspended", reason, text, now, holds=suspended)
        conditions.append(before if before and before["status"] == entry["status"] else entry)
    if verdict:
        kind, reason, text = verdict
        first = "SuccessCriteriaMet" if kind == "Complete" else "FailureTarget"
        conditions += [_entry(first, reason, text, now), _entry(kind, reason, text, now)]
    return conditions


def _entry(kind: str, reason: str, message: str, now: datetime, *, holds: bool = True) -> Object:
    return {
        "type": kind,
        "status": "True" if holds else "False",
        "lastProbeTime": timestamp(now),
        "lastTransitionTime": timestamp(now),
        "reason": reason,
        "message": message,
    }


def _timed(job: Object, now: datetime) -> Object:
    """``startTime``, which a suspended Job does not have."""
    if job["spec"].get("suspend"):
        return {}
    return {"startTime": job.get("status", {}).get("startTime") or timestamp(now)}


def _no_more(pods: Sequence[Object]) -> Object:
    return {"ready": 0, "terminating": sum(1 for pod in pods if being_deleted(pod)), "uncountedTerminatedPods": {}}


def _wanted(job: Object, succeeded: int) -> int:
    """How many pods should be active."""
    spec = job["spec"]
    parallelism: int = spec.get("parallelism", 1)
    want: int | None = spec.get("completions")
    if want is None:
        return 0 if succeeded else parallelism
    return min(parallelism, max(0, want - succeeded))


def _creations(job: Object, pods: Sequence[Object], running: Sequence[Object], succeeded: int) -> list[Action]:
    missing = _wanted(job, succeeded) - len(running) - sum(1 for pod in pods if being_deleted(pod) and _tracked(pod))
    if missing <= 0:
        return []
    if not _indexed(job):
        return [Create("pods", _pod(job, None)) for _ in range(missing)]
    taken = _done_indexes(job, pods) | {index for pod in running if (index := _index(pod)) is not None}
    free = [index for index in range(job["spec"]["completions"]) if index not in taken]
    return [Create("pods", _pod(job, index)) for index in free[:missing]]


def _surplus(job: Object, running: Sequence[Object], succeeded: int) -> list[Action]:
    excess = len(running) - _wanted(job, succeeded)
    if excess <= 0:
        return []
    unready_first = sorted(running, key=lambda pod: (ready(pod), pod["metadata"]["name"]))
    return [Delete("pods", pod) for pod in unready_first[:excess]]


def _pod(job: Object, index: int | None) -> Object:
    pod = pod_from_template(job["spec"]["template"], job)
    metadata = pod["metadata"]
    metadata["finalizers"] = [*metadata.get("finalizers", ()), TRACKING]
    if index is not None:
        name = job["metadata"]["name"]
        metadata["generateName"] = f"{name}-{index}-"
        metadata["annotations"] = {**metadata.get("annotations", {}), INDEX: str(index)}
        metadata["labels"] = {**metadata.get("labels", {}), INDEX: str(index)}
        pod["spec"] = {**pod["spec"], "hostname": f"{name}-{index}"}
        field = {"fieldRef": {"fieldPath": f"metadata.labels['{INDEX}']"}}
        variable = {"name": "JOB_COMPLETION_INDEX", "valueFrom": field}
        for containers in ("initContainers", "containers"):
            if pod["spec"].get(containers):
                pod["spec"][containers] = [_with_variable(entry, variable) for entry in pod["spec"][containers]]
    return pod


def _with_variable(container: Object, variable: Object) -> Object:
    have = container.get("env") or []
    if any(entry["name"] == variable["name"] for entry in have):
        return container
    return {**container, "env": [*have, variable]}


def _deadline_in(job: Object, now: datetime) -> float | None:
    deadline, start = job["spec"].get("activeDeadlineSeconds"), job.get("status", {}).get("startTime")
    if deadline is None or start is None or job["spec"].get("suspend"):
        return None
    return seconds_until(start, deadline, now)


def _ttl(job: Object) -> float | None:
    ttl = job["spec"].get("ttlSecondsAfterFinished")
    return None if ttl is None else float(ttl)


def _expires_in(job: Object, now: datetime) -> float | None:
    """Seconds until a finished Job is to be removed, None if it never is."""
    ttl = _ttl(job)
    ends = [entry for kind in ("Complete", "Failed") if (entry := condition(job, kind)) and entry["status"] == "True"]
    if ttl is None or not ends:
        return None
    return seconds_until(ends[0]["lastTransitionTime"], ttl, now)
