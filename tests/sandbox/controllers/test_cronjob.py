"""When a CronJob is due, and what Job it makes."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from kadm.sandbox.controllers.cronjob import due, job_at
from kadm.sandbox.controllers.schedule_times import parse_schedule
from tests.sandbox.controllers.builders import NOW, a_template, at

Object = dict[str, Any]


def a_cronjob(*, created: float = -3600, last: float | None = None, **spec: Any) -> Object:
    """CronJob ``tick``, every ten minutes."""
    return {
        "apiVersion": "batch/v1",
        "kind": "CronJob",
        "metadata": {"name": "tick", "namespace": "ns", "uid": "uid-tick", "creationTimestamp": at(created)},
        "spec": {"schedule": "*/10 * * * *", "jobTemplate": {"spec": {"template": a_template()}}, **spec},
        "status": {} if last is None else {"lastScheduleTime": at(last)},
    }


@pytest.mark.parametrize(
    ("cronjob", "latest", "following"),
    [
        pytest.param(a_cronjob(created=-30), 0, 600, id="due now"),
        pytest.param(a_cronjob(last=0), None, 600, id="served"),
        pytest.param(a_cronjob(), 0, 600, id="of those missed the latest"),
        pytest.param(a_cronjob(created=-30, schedule="5 * * * *"), None, 300, id="not yet"),
    ],
)
def test_due(cronjob: Object, latest: int | None, following: int) -> None:
    want = (None if latest is None else NOW + timedelta(seconds=latest), NOW + timedelta(seconds=following))
    assert due(cronjob, parse_schedule(cronjob["spec"]["schedule"]), NOW) == want


def test_too_late_to_start() -> None:
    cronjob = a_cronjob(schedule="0 11 * * *", created=-7200, startingDeadlineSeconds=60)
    assert due(cronjob, parse_schedule("0 11 * * *"), NOW)[0] is None


def test_job_of_a_run() -> None:
    job = job_at(a_cronjob(), NOW)
    assert (job["metadata"]["name"], job["metadata"]["annotations"], job["metadata"]["ownerReferences"][0]["kind"]) == (
        f"tick-{int(NOW.timestamp()) // 60}",
        {"batch.kubernetes.io/cronjob-scheduled-timestamp": at(0)},
        "CronJob",
    )
