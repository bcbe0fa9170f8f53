"""What somebody switched writing off for stays as it is, and plan and status say so."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.e2e.small_fleet import (
    Shared,
    SmallFleet,
    annotated,
    config,
    deployment,
    namespace,
    shared_sandbox,
    small_fleet,
)

pytestmark = pytest.mark.e2e


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shared]:
    with shared_sandbox(tmp_path_factory.mktemp("suspend")) as found:
        yield found


@pytest.fixture
def fleet(shared: Shared, tmp_path: Path) -> SmallFleet:
    found = small_fleet(shared, tmp_path)
    found.write(namespace(found.name), config(found.name), deployment(found.name))
    found.apply()
    return found


def edit(file: Path, path: tuple[str, ...], value: Any) -> None:
    """Set one value in a YAML file of one document."""
    document = part = yaml.safe_load(file.read_text())
    for step in path[:-1]:
        part = part.setdefault(step, {})
    part[path[-1]] = value
    file.write_text(yaml.safe_dump(document))


@pytest.mark.parametrize(
    ("file", "path", "value"),
    [
        pytest.param("kadm.yaml", ("spec", "suspend"), True, id="the fleet"),
        pytest.param("clusters/member1.yaml", ("metadata", "annotations", "kadm.io/suspend"), "true", id="the member"),
    ],
)
def test_nothing_is_written_to_a_suspended_member(
    fleet: SmallFleet, file: str, path: tuple[str, ...], value: Any
) -> None:
    edit(fleet.root / file, path, value)
    fleet.write(namespace(fleet.name), deployment(fleet.name, replicas=5))
    said = "suspended: nothing is planned or written here"
    plan = fleet.plan("--detailed-exitcode")
    assert (plan["changes"], [one["what"] for one in plan["problems"]]) == ([], [said])
    fleet.apply()
    assert [one for one in fleet.shared.audit.requests if one.method not in ("GET", "HEAD")] == []
    assert [one["what"] for one in fleet.kadm("status", "-o", "json").json["suspended"]] == [said]
    assert said in fleet.kadm("status").err
    assert fleet.member.get(deployment(fleet.name))["spec"]["replicas"] == 2


def test_nothing_is_written_to_a_suspended_object(fleet: SmallFleet) -> None:
    web = annotated(deployment(fleet.name, replicas=5), kadm_suspend="true")
    fleet.write(namespace(fleet.name), config(fleet.name, data={"k": "w"}), web)
    assert fleet.actions() == {"ConfigMap/c": "update"}
    assert [one["reason"] for one in fleet.plan()["frozen"]] == ["it is marked kadm.io/suspend"]
    fleet.apply()
    assert fleet.member.get(deployment(fleet.name))["spec"]["replicas"] == 2
    said = fleet.kadm("status", "-o", "json").json["suspended"]
    assert [(one["object"], one["what"]) for one in said] == [
        (f"Deployment.apps {fleet.name}/web", "suspended: it is left as it is live")
    ]
