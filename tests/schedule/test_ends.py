"""When time alone changes where something goes."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest

from kadm.schedule import next_end
from tests.schedule.builders import NOW, a_deployment, a_repo


def evicted_until(*ends: str) -> dict[str, str]:
    evictions = [{"cluster": f"c{number}", "validUntil": end} for number, end in enumerate(ends)]
    return {"kubeadmiral.io/migration-configuration": json.dumps({"workloadMigrations": evictions})}


def text(hours: int) -> str:
    return (NOW + timedelta(hours=hours)).strftime("%Y-%m-%dT%H:%M:%SZ")


@pytest.mark.parametrize(
    ("asked", "want"),
    [
        pytest.param([], None, id="nothing asks for one"),
        pytest.param([evicted_until(text(-1))], None, id="all have ended"),
        pytest.param([evicted_until(text(3), text(2)), evicted_until(text(-1), text(4))], 2, id="the next one"),
        pytest.param([{"kubeadmiral.io/migration-configuration": "{"}, evicted_until(text(1))], 1, id="a broken one"),
    ],
)
def test_the_next_end(asked: list[dict[str, str]], want: int | None) -> None:
    objects = [a_deployment(f"w{number}", annotations=one) for number, one in enumerate(asked)]
    now = NOW.astimezone(UTC).replace(microsecond=0)
    found = next_end(a_repo(["a"], objects=objects), now=now)
    assert found == (None if want is None else datetime.fromisoformat(text(want)).astimezone(UTC))
