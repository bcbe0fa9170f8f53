"""CronJobs start Jobs when they are due. Source: pkg/controller/cronjob (cronjob_controllerv2) of Kubernetes 1.36.

Runs that were missed while nobody looked are made up for once, by the latest of them, as there.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from kadm.sandbox.api import ApiServer, Event, Object
from kadm.sandbox.controllers.actions import Action, Create, Delete, Update, perform
from kadm.sandbox.controllers.job import is_finished
from kadm.sandbox.controllers.loop import Key
from kadm.sandbox.controllers.objects import (
    being_deleted,
    condition,
    controller_of,
    controller_reference,
    owned_by,
    parse_time,
    timestamp,
)
from kadm.sandbox.controllers.schedule_times import Schedule, parse_schedule

RESOURCE = "cronjobs.batch"
JOBS = "jobs.batch"
SCHEDULED_AT = "batch.kubernetes.io/cronjob-scheduled-timestamp"


def due(cronjob: Object, schedule: Schedule, now: datetime) -> tuple[datetime | None, datetime | None]:
    """The latest time that is due and not yet served, and the next one; None where there is none.

    ``now`` is in the zone of the schedule.
    """
    status, spec = cronjob.get("status", {}), cronjob["spec"]
    since = parse_time(status.get("lastScheduleTime") or cronjob["metadata"]["creationTimestamp"]).astimezone(
        now.tzinfo
    )
    latest: datetime | None = None
    following = schedule.next_after(since)
    while following is not None and following <= now:
        latest, following = following, schedule.next_after(following)
    deadline = spec.get("startingDeadlineSeconds")
    if latest is not None and deadline is not None and (now - latest).total_seconds() > deadline:
        latest = None
    return latest, following


def job_at(cronjob: Object, when: datetime) -> Object:
    """The Job of one run; its name holds the minute, so that no run happens twice."""
    template = cronjob["spec"]["jobTemplate"]
    source = template.get("metadata") or {}
    metadata: Object = {
        "name": f"{cronjob['metadata']['name']}-{int(when.timestamp()) // 60}",
        "namespace": cronjob["metadata"]["namespace"],
        "annotations": {**(source.get("annotations") or {}), SCHEDULED_AT: timestamp(when)},
        "ownerReferences": [controller_reference(cronjob)],
    }
    if source.get("labels"):
        metadata["labels"] = source["labels"]
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": template["spec"]}


@dataclass(frozen=True)
class CronJobs:
    """The CronJob controller."""

    api: ApiServer

    def wakes(self, event: Event) -> Iterable[Key]:
        metadata = event.object["metadata"]
        if event.resource == RESOURCE:
            yield metadata["namespace"], metadata["name"]
        elif event.resource == JOBS and (ref := controller_of(event.object)) and ref["kind"] == "CronJob":
            yield metadata["namespace"], ref["name"]

    def sync(self, namespace: str, name: str) -> float | None:
        cronjob = self.api.find(RESOURCE, namespace, name)
        if cronjob is None or being_deleted(cronjob):
            return None
        jobs = owned_by(self.api.list(JOBS, namespace), cronjob)
        perform(self.api, _excess(cronjob, jobs))
        again: float | None = None
        started: datetime | None = None
        clock = _schedule(cronjob)
        if clock and not cronjob["spec"].get("suspend"):
            schedule, zone = clock
            now = self.api.clock().astimezone(zone)
            latest, following = due(cronjob, schedule, now)
            again = (following - now).total_seconds() if following else None
            if latest is not None and self._start(cronjob, jobs, latest):
                started = latest
        jobs = owned_by(self.api.list(JOBS, namespace), cronjob)
        fresh = _status(cronjob, jobs, started)
        if fresh != cronjob.get("status", {}):
            perform(self.api, [Update(RESOURCE, {**cronjob, "status": fresh}, "status")])
        return again

    def _start(self, cronjob: Object, jobs: Sequence[Object], when: datetime) -> bool:
        """Start the run of ``when`` as concurrencyPolicy allows."""
        active = [job for job in jobs if not is_finished(job)]
        policy = cronjob["spec"].get("concurrencyPolicy", "Allow")
        if active and policy == "Forbid":
            return False
        made = job_at(cronjob, when)
        if any(job["metadata"]["name"] == made["metadata"]["name"] for job in jobs):
            return True
        replaced: list[Action] = [Delete(JOBS, job, "Background") for job in active] if policy == "Replace" else []
        perform(self.api, [*replaced, Create(JOBS, made)])
        return True


def _schedule(cronjob: Object) -> tuple[Schedule, ZoneInfo] | None:
    """The schedule and its zone; None where either is none, which the API server lets through only by accident."""
    try:
        return parse_schedule(cronjob["spec"]["schedule"]), ZoneInfo(cronjob["spec"].get("timeZone") or "UTC")
    except (ValueError, ZoneInfoNotFoundError):
        return None


def _status(cronjob: Object, jobs: Sequence[Object], started: datetime | None) -> Object:
    status = {key: value for key, value in cronjob.get("status", {}).items() if key != "active"}
    running = [
        {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "name": job["metadata"]["name"],
            "namespace": job["metadata"]["namespace"],
            "resourceVersion": job["metadata"]["resourceVersion"],
            "uid": job["metadata"]["uid"],
        }
        for job in jobs
        if not is_finished(job)
    ]
    known = {entry["uid"]: entry for entry in cronjob.get("status", {}).get("active") or ()}
    if running:
        status["active"] = [known.get(entry["uid"], entry) for entry in running]
    if started is not None:
        status["lastScheduleTime"] = timestamp(started.astimezone(UTC))
    ended = [job["status"]["completionTime"] for job in jobs if job.get("status", {}).get("completionTime")]
    if ended:
        status["lastSuccessfulTime"] = max([*ended, status.get("lastSuccessfulTime", "")])
    return status


def _excess(cronjob: Object, jobs: Sequence[Object]) -> list[Action]:
    """Deletions of the oldest finished Jobs beyond the history limits."""
    actions: list[Action] = []
    limits = (("Complete", "successfulJobsHistoryLimit", 3), ("Failed", "failedJobsHistoryLimit", 1))
    for kind, field, default in limits:
        ended = [job for job in jobs if (entry := condition(job, kind)) and entry["status"] == "True"]
        ended.sort(key=lambda job: (job["metadata"]["creationTimestamp"], job["metadata"]["name"]))
        keep = cronjob["spec"].get(field, default)
        actions += [Delete(JOBS, job, "Background") for job in ended[: max(0, len(ended) - keep)]]
    return actions
