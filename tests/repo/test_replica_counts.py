"""Numbers of replicas that no API server takes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.repo.fleets import an_object, problems_of, warnings_of

WRONG = "`spec.replicas` must be a whole number from 0 on, and is"


def a_workload(replicas: str, kind: str = "apps/v1 Deployment", field: str = "replicas") -> str:
    return f"{an_object(kind)}spec: {{{field}: {replicas}}}\n"


@pytest.mark.parametrize("replicas", ["0", "8", "2147483647", "null"])
def test_fine(tmp_path: Path, replicas: str) -> None:
    assert warnings_of(tmp_path, {"manifests/web.yaml": a_workload(replicas)}) == []


def test_a_kind_that_nobody_knows_may_write_what_it_likes(tmp_path: Path) -> None:
    text = a_workload("'8'", "example.com/v1 Web").replace("metadata: {", "metadata: {namespace: a, ")
    assert [one for one in warnings_of(tmp_path, {"manifests/web.yaml": text}) if "replicas" in one] == []


@pytest.mark.parametrize(
    ("text", "want"),
    [
        pytest.param(a_workload("'8'"), f'{WRONG} "8" (write it without quotes)', id="text"),
        pytest.param(a_workload("many"), f'{WRONG} "many"', id="a word"),
        pytest.param(a_workload("-1"), f"{WRONG} -1", id="negative"),
        pytest.param(a_workload("1.5"), f"{WRONG} 1.5", id="a half"),
        pytest.param(a_workload("true"), f"{WRONG} true", id="a boolean"),
        pytest.param(a_workload("2147483648"), f"{WRONG} 2147483648", id="more than the field holds"),
        pytest.param(a_workload("-1", "apps/v1 StatefulSet"), f"{WRONG} -1", id="a StatefulSet"),
        pytest.param(
            a_workload("-1", "batch/v1 Job", "parallelism"),
            f"{WRONG} -1".replace("replicas", "parallelism"),
            id="a Job",
        ),
    ],
)
def test_refused(tmp_path: Path, text: str, want: str) -> None:
    (problem,) = problems_of(tmp_path, {"manifests/web.yaml": text})
    assert problem.partition(": ")[2] == want
