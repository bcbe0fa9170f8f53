"""``kadm plan`` with a credential that may get and list, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.limited import limited
from tests.e2e.small_fleet import (
    Shared,
    SmallFleet,
    config,
    deployment,
    namespace,
    shared_sandbox,
    small_fleet,
)

pytestmark = pytest.mark.e2e

UNVERIFIED = "unverified (no permission to patch)"


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shared]:
    with shared_sandbox(tmp_path_factory.mktemp("read-only")) as found:
        yield found


@pytest.fixture
def reader(shared: Shared, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SmallFleet]:
    """A fleet that is applied, and then planned by a ServiceAccount that may only get and list."""
    fleet = small_fleet(shared, tmp_path / "fleet")
    fleet.write(config(fleet.name), config(fleet.name, "gone"), deployment(fleet.name))
    fleet.apply()
    with limited(fleet, tmp_path) as kubeconfig:
        monkeypatch.setenv("KUBECONFIG", str(kubeconfig))
        yield fleet


def test_nothing_to_do(reader: SmallFleet) -> None:
    assert reader.plan("--detailed-exitcode")["summary"]["unchanged"] == 4


def test_a_plan_from_what_can_be_read(reader: SmallFleet) -> None:
    fleet = reader
    changed = deployment(fleet.name, replicas=5)
    changed["spec"]["template"]["spec"]["containers"][0]["image"] = "app:2"
    fleet.write(config(fleet.name, data={"other": "x"}), config(fleet.name, "new"), changed)
    plan = fleet.plan()
    found = {
        f"{one['kind']}/{one['name']}": (
            one["action"],
            {field["path"]: (field["before"], field["after"]) for field in one["fields"]},
            one.get("note"),
        )
        for one in plan["changes"]
    }
    assert found == {
        "ConfigMap/c": ("update", {"data.k": ("v", None), "data.other": (None, "x")}, UNVERIFIED),
        "ConfigMap/gone": ("delete", {}, None),
        "ConfigMap/new": ("create", {"data.k": (None, "v")}, UNVERIFIED),
        "Deployment/web": (
            "update",
            {
                "spec.replicas": (2, 5),
                "spec.template.spec.containers[0].image": ("app:1", "app:2"),
            },
            UNVERIFIED,
        ),
    }


def test_drift_is_seen(reader: SmallFleet) -> None:
    reader.member.merge(config(reader.name), {"data": {"k": "theirs"}})
    (change,) = (one for one in reader.plan()["changes"] if one["name"] == "c")
    assert (change["fields"], change["note"]) == (
        [{"path": "data.k", "before": "theirs", "after": "v", "manager": "kubectl-edit"}],
        UNVERIFIED,
    )


def test_what_exists_is_held(reader: SmallFleet) -> None:
    reader.member.create(namespace(f"{reader.name}-b"))
    reader.member.create(config(f"{reader.name}-b", data={"k": "v", "more": "x"}), "kubectl-client-side-apply")
    reader.write(config(f"{reader.name}-b"), config(reader.name), config(reader.name, "gone"), deployment(reader.name))
    assert reader.actions()["ConfigMap/c"] == "held: --adopt configmap/c, or --adopt-all"
    (change,) = (one for one in reader.plan("--adopt-all")["changes"] if one["kind"] == "ConfigMap")
    assert [one["path"] for one in change["fields"] if one["after"] is None] == ["data.more"]


def test_apply_says_what_is_missing(reader: SmallFleet) -> None:
    reader.write(config(reader.name, data={"k": "new"}), config(reader.name, "gone"), deployment(reader.name))
    said = reader.kadm("apply", "--yes", code=None)
    assert (said.code != 0, "forbidden" in said.err) == (True, True)
    assert reader.member.get(config(reader.name))["data"] == {"k": "v"}
