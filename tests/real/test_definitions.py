"""CustomResourceDefinitions that grow while their objects live."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.situations import CRD_SCHEMA, crd, thing
from tests.e2e.small_fleet import Obj, Shared, SmallFleet, small_fleet

pytestmark = [pytest.mark.e2e, pytest.mark.real]


@pytest.fixture
def fleet(shared: Shared, tmp_path: Path) -> SmallFleet:
    return small_fleet(shared, tmp_path / "fleet")


def with_v2(definition: Obj) -> Obj:
    """The definition with one more version, which is served, too."""
    more = {"name": "v2", "served": True, "storage": False, "schema": {"openAPIV3Schema": CRD_SCHEMA}}
    return {**definition, "spec": {**definition["spec"], "versions": [*definition["spec"]["versions"], more]}}


def test_a_version_and_objects_of_it_come_in_one_commit(fleet: SmallFleet) -> None:
    group = f"{fleet.name}.example.com"
    fleet.write(crd(fleet), thing(fleet, "stays"), thing(fleet, "changes"))
    fleet.apply()
    new = {"apiVersion": f"{group}/v2"}
    changed = {**thing(fleet, "changes"), **new, "spec": {"a": 2}}
    fleet.write(with_v2(crd(fleet)), thing(fleet, "stays"), changed, {**thing(fleet, "comes"), **new})
    assert fleet.actions() == {
        f"CustomResourceDefinition/things.{group}": "update",
        "Thing/changes": "update",
        "Thing/comes": "create",
    }
    fleet.apply()
    assert fleet.actions() == {}
    for name, value in (("stays", 1), ("changes", 2), ("comes", 1)):
        live = fleet.member.send("GET", f"/apis/{group}/v2/namespaces/{fleet.name}/things/{name}")
        assert live["spec"]["a"] == value
    fleet.write(with_v2(crd(fleet)), *({**thing(fleet, name), **new} for name in ("stays", "changes", "comes")))
    fleet.apply()
    assert fleet.actions() == {}


def test_a_version_that_no_definition_brings_is_refused(fleet: SmallFleet) -> None:
    fleet.write(crd(fleet), thing(fleet))
    fleet.apply()
    fleet.write(crd(fleet), {**thing(fleet), "apiVersion": f"{fleet.name}.example.com/v2"})
    said = fleet.kadm("plan", code=1)
    assert "the member does not serve version v2 of this kind" in said.err
