"""Members as their files record them: what is taken from the status, and what is named where it lacks something."""

from __future__ import annotations

from pathlib import Path

import pytest

from kadm.errors import RepoError
from kadm.members.recorded import recorded
from kadm.model.observation import ApiResource, Capacity, MemberState
from tests.repo.fleets import a_member, loaded

DEPLOYMENTS = ApiResource(group="apps", version="v1", kind="Deployment", plural="deployments", namespaced=True)
USED = ApiResource(group="apps", version="v1", kind="Deployment", plural="", namespaced=True)
STATUS = """\
status:
  conditions:
  - {type: Joined, status: "True"}
  - {type: Ready, status: "False", reason: NotReachable, message: no answer}
  resources:
    schedulableNodes: 3
    allocatable: {cpu: "12"}
    available: {cpu: 2500m}
  apiResourceTypes:
  - {group: apps, version: v1, kind: Deployment, pluralName: deployments, scope: Namespaced}
"""


def test_what_is_recorded_is_taken(tmp_path: Path) -> None:
    whole = {f"clusters/{name}.yaml": a_member(name) + STATUS for name in ("eu", "us")}
    observation, problems = recorded(loaded(tmp_path, whole))
    assert problems == ()
    assert observation.members["eu"] == MemberState(
        name="eu",
        uid="",
        version="",
        ready="False",
        ready_reason="no answer",
        api_resources=(DEPLOYMENTS,),
        capacity=Capacity(nodes=3, schedulable_nodes=3, allocatable={"cpu": "12"}, available={"cpu": "2500m"}),
    )


def test_what_is_missing_is_assumed_and_named(tmp_path: Path) -> None:
    observation, problems = recorded(loaded(tmp_path, {"clusters/us.yaml": a_member("us") + STATUS}))
    assert observation.members["eu"] == MemberState(name="eu", uid="", version="", api_resources=(USED,))
    assert [(problem.severity, problem.what, problem.why) for problem in problems] == [
        ("warning", "the file of eu does not record whether the member is ready", "it counts as ready"),
        (
            "warning",
            "the file of eu does not record which types the member serves",
            "it counts as serving whatever the repository uses",
        ),
    ]


def test_many_members_are_named_in_one_warning(tmp_path: Path) -> None:
    files = {f"clusters/{name}.yaml": a_member(name) for name in "abcdef"}
    _, problems = recorded(loaded(tmp_path, {**files, "clusters/eu.yaml": None, "clusters/us.yaml": None}))
    assert next(problem.what for problem in problems) == (
        "the files of a, b, c, d, e and 1 more do not record whether the member is ready"
    )


def test_a_resource_that_is_no_quantity_is_an_error(tmp_path: Path) -> None:
    repo = loaded(tmp_path, {"clusters/us.yaml": a_member("us") + STATUS.replace("2500m", "many")})
    with pytest.raises(RepoError) as caught:
        recorded(repo)
    assert [str(problem.where) + " " + problem.what for problem in caught.value.problems] == [
        "clusters/us.yaml:1:1 `status.resources.available.cpu` is no quantity"
    ]
