"""Job and CronJob: when they are as they should be (kstatus: a Job that runs is current)."""

from __future__ import annotations

from kadm.model.objects import JsonObject
from kadm.model.status import Health
from kadm.status.conditions import condition, explained
from kadm.status.verdicts import HEALTHY, failed, progressing


def job_health(live: JsonObject) -> Health:
    """Health of one Job in one member: started is enough, for a Job may run for days; failed is failed."""
    if (bad := condition(live, "Failed")) and bad.get("status") == "True":
        return failed(explained(bad))
    if live["spec"].get("suspend"):
        return Health("Suspended", "spec.suspend is true")
    status = live.get("status") or {}
    if (done := condition(live, "Complete")) and done.get("status") == "True":
        return Health("Healthy", f"complete, {status.get('succeeded', 0)} succeeded")
    if not status.get("startTime"):
        return progressing("not started yet")
    return Health("Healthy", f"running, {status.get('active', 0)} active, {status.get('succeeded', 0)} succeeded")


def cronjob_health(live: JsonObject) -> Health:
    """Health of one CronJob in one member: it is there; its Jobs are their own."""
    if live["spec"].get("suspend"):
        return Health("Suspended", "spec.suspend is true")
    return HEALTHY
