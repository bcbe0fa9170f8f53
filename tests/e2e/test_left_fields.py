"""Fields that are left to autoscalers, to rules of the user, and to members."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.small_fleet import (
    Obj,
    Shared,
    SmallFleet,
    annotated,
    autoscaler,
    config,
    deployment,
    namespace,
    place,
    shared_sandbox,
    small_fleet,
)

pytestmark = pytest.mark.e2e


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shared]:
    with shared_sandbox(tmp_path_factory.mktemp("left")) as found:
        yield found


@pytest.fixture
def fleet(shared: Shared, tmp_path: Path) -> SmallFleet:
    return small_fleet(shared, tmp_path / "fleet")


def own_fields(fleet: SmallFleet, obj: Obj) -> Any:
    (entry,) = [
        one for one in fleet.member.get(obj)["metadata"]["managedFields"] if one["manager"].startswith("kadm-f")
    ]
    return entry["fieldsV1"]


def scale(fleet: SmallFleet, replicas: int) -> None:
    fleet.member.merge(deployment(fleet.name), {"spec": {"replicas": replicas}}, "autoscaler")


def replicas(fleet: SmallFleet) -> int:
    number: int = fleet.member.get(deployment(fleet.name))["spec"]["replicas"]
    return number


@pytest.mark.parametrize("version", ["v1", "v2"])
def test_replicas_of_an_autoscaled_workload(fleet: SmallFleet, version: str) -> None:
    fleet.write(deployment(fleet.name, replicas=3), autoscaler(fleet.name, version))
    fleet.apply()
    assert replicas(fleet) == 3, "sent once"
    assert "f:replicas" not in own_fields(fleet, deployment(fleet.name))["f:spec"]
    scale(fleet, 5)
    assert fleet.plan("--detailed-exitcode")["summary"]["unchanged"] == 3
    fleet.write(deployment(fleet.name, replicas=4), autoscaler(fleet.name, version))
    fleet.apply()
    assert replicas(fleet) == 5


@pytest.mark.parametrize("in_git", [True, False], ids=["replicas in git", "replicas gone from git"])
def test_an_autoscaler_that_comes_later(fleet: SmallFleet, in_git: bool) -> None:
    """kadm is the only owner then: leaving the field out alone would reset it to 1."""
    fleet.write(deployment(fleet.name, replicas=3))
    fleet.apply()
    fleet.write(deployment(fleet.name, replicas=3 if in_git else None), autoscaler(fleet.name))
    plan = fleet.plan()
    (own,) = (one for one in plan["changes"] if one["kind"] == "Deployment")
    assert (own["action"], own["fields"], own["note"]) == (
        "own",
        [],
        "leaves spec.replicas: HorizontalPodAutoscaler web scales it",
    )
    fleet.apply()
    assert replicas(fleet) == 3
    assert fleet.plan("--detailed-exitcode")["summary"]["unchanged"] == 3


def test_an_autoscaler_of_somebody_else(fleet: SmallFleet) -> None:
    fleet.write(deployment(fleet.name, replicas=3))
    fleet.apply()
    fleet.member.create(autoscaler(fleet.name), "keda")
    scale(fleet, 7)
    assert fleet.plan()["summary"]["update"] == 0
    fleet.apply()
    assert replicas(fleet) == 7


def test_an_autoscaler_that_leaves_git(fleet: SmallFleet) -> None:
    fleet.write(deployment(fleet.name, replicas=3), autoscaler(fleet.name))
    fleet.apply()
    scale(fleet, 7)
    fleet.write(deployment(fleet.name, replicas=3))
    assert fleet.actions() == {"Deployment/web": "update", "HorizontalPodAutoscaler/web": "delete"}
    fleet.apply()
    assert replicas(fleet) == 3


def test_an_autoscaler_does_nothing_at_0(fleet: SmallFleet) -> None:
    fleet.write(deployment(fleet.name, replicas=3), autoscaler(fleet.name))
    fleet.apply()
    scale(fleet, 0)
    fleet.apply()
    assert replicas(fleet) == 3


def test_retained_replicas(fleet: SmallFleet) -> None:
    fleet.write(annotated(deployment(fleet.name, replicas=3), ka_retain_replicas="true"))
    fleet.apply()
    scale(fleet, 5)
    fleet.apply()
    assert replicas(fleet) == 5


@pytest.mark.parametrize(
    "rule",
    [
        pytest.param({"kind": "ConfigMap", "path": "data.k"}, id="a path"),
        pytest.param({"kind": "configmap", "path": "/data/k"}, id="a JSON pointer"),
        pytest.param({"name": "c*", "path": "data"}, id="all of a map"),
        pytest.param({"path": "data.*"}, id="every key"),
        pytest.param({"kind": "ConfigMap", "manager": "operator"}, id="whatever a manager sets"),
        pytest.param({"manager": "operator", "path": "data.k"}, id="a manager and a path"),
    ],
)
def test_ignore_rules(shared: Shared, tmp_path: Path, rule: Obj) -> None:
    fleet = small_fleet(shared, tmp_path / "fleet", spec={"ignore": [rule]})
    wanted = config(fleet.name, data={"k": "v"})
    fleet.write(wanted)
    fleet.apply()
    fleet.member.merge(wanted, {"data": {"k": "theirs"}}, "operator")
    plan = fleet.plan()
    assert [one["action"] for one in plan["changes"]] in ([], ["own"])
    fleet.apply()
    assert fleet.member.get(wanted)["data"] == {"k": "theirs"}
    assert fleet.plan("--detailed-exitcode")["summary"]["unchanged"] == 2


@pytest.mark.parametrize(
    "rule",
    [
        pytest.param({"kind": "Secret", "path": "data.k"}, id="another kind"),
        pytest.param({"manager": "somebody", "path": "data.k"}, id="another manager"),
        pytest.param({"path": "data.other"}, id="another path"),
    ],
)
def test_rules_about_something_else(shared: Shared, tmp_path: Path, rule: Obj) -> None:
    fleet = small_fleet(shared, tmp_path / "fleet", spec={"ignore": [rule]})
    wanted = config(fleet.name)
    fleet.write(wanted)
    fleet.apply()
    fleet.member.merge(wanted, {"data": {"k": "theirs"}}, "operator")
    assert fleet.actions() == {"ConfigMap/c": "update"}


def test_an_ignored_required_field(fleet: SmallFleet) -> None:
    """An image that is left out altogether would be refused: kadm's entry lets it go, and it stays."""
    wanted = deployment(fleet.name)
    fleet.write(wanted)
    fleet.apply()
    path = "spec.template.spec.containers[name=app].image"
    fleet.write(annotated(wanted, kadm_ignore=path))
    fleet.apply()
    containers = {"containers": [{"name": "app", "image": "app:2"}]}
    patch = {"spec": {"template": {"spec": containers}}}
    fleet.member.send("PATCH", f"{place(wanted)}?fieldManager=ci", patch, "application/strategic-merge-patch+json")
    fleet.apply()
    assert fleet.member.get(wanted)["spec"]["template"]["spec"]["containers"][0]["image"] == "app:2"
    assert fleet.plan("--detailed-exitcode")["summary"]["unchanged"] == 2


def test_adoption_of_an_autoscaled_workload(fleet: SmallFleet) -> None:
    """kubectl's entry holds the replicas, and git does not: folding it must not reset them to 1."""
    fleet.member.create(namespace(fleet.name))
    fleet.member.create(deployment(fleet.name, replicas=4), "kubectl-client-side-apply")
    fleet.write(deployment(fleet.name, replicas=None), autoscaler(fleet.name))
    (adopt,) = (one for one in fleet.plan("--adopt-all")["changes"] if one["kind"] == "Deployment")
    assert [one["path"] for one in adopt["fields"] if "replicas" in one["path"]] == []
    fleet.apply("--adopt-all")
    assert replicas(fleet) == 4
    assert fleet.plan("--detailed-exitcode")["summary"]["unchanged"] == 3


def test_adoption_leaves_what_a_rule_names(shared: Shared, tmp_path: Path) -> None:
    fleet = small_fleet(shared, tmp_path / "fleet", spec={"ignore": [{"path": "data.theirs"}]})
    fleet.member.create(namespace(fleet.name))
    fleet.member.create(config(fleet.name, data={"k": "v", "theirs": "x", "old": "x"}), "kubectl-create")
    fleet.write(config(fleet.name))
    fleet.apply("--adopt-all")
    assert fleet.member.get(config(fleet.name))["data"] == {"k": "v", "theirs": "x"}
