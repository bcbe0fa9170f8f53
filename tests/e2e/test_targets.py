"""``--target``: nothing but the named objects changes, by deletion neither."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.small_fleet import Shared, SmallFleet, config, deployment, shared_sandbox, small_fleet

pytestmark = pytest.mark.e2e


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shared]:
    with shared_sandbox(tmp_path_factory.mktemp("targets")) as found:
        yield found


@pytest.fixture
def fleet(shared: Shared, tmp_path: Path) -> SmallFleet:
    return small_fleet(shared, tmp_path / "fleet")


def test_creates_alone_with_the_namespace(fleet: SmallFleet) -> None:
    fleet.write(config(fleet.name, "a"), config(fleet.name, "b"), deployment(fleet.name))
    assert fleet.actions("--target", "cm/a") == {"ConfigMap/a": "create", f"Namespace/{fleet.name}": "create"}
    fleet.apply("--target", "cm/a")
    assert fleet.actions() == {"ConfigMap/b": "create", "Deployment/web": "create"}


def test_deletions_are_narrowed_too(fleet: SmallFleet) -> None:
    fleet.write(config(fleet.name, "a"), config(fleet.name, "b"), config(fleet.name, "c"))
    fleet.apply()
    fleet.write(config(fleet.name, "c", data={"k": "new"}))
    fleet.apply("--target", "configmap/a")
    assert fleet.deleted() == ["configmaps/a"]
    assert fleet.actions() == {"ConfigMap/b": "delete", "ConfigMap/c": "update"}


def test_a_placement_of_another_object_stays_as_it_is_recorded(fleet: SmallFleet) -> None:
    fleet.write(config(fleet.name, "a"), deployment(fleet.name, replicas=2))
    fleet.apply()
    fleet.write(config(fleet.name, "a", data={"k": "new"}), deployment(fleet.name, replicas=4))
    fleet.apply("--target", "cm/a")
    assert fleet.member.get(deployment(fleet.name))["spec"]["replicas"] == 2
    assert fleet.actions() == {"Deployment/web": "update"}


@pytest.mark.parametrize(
    ("target", "said"),
    [
        pytest.param(
            "cm/nope", "nothing in the repository, and nothing that kadm placed, is called cm/nope", id="none"
        ),
        pytest.param("web", "web is not KIND/NAME", id="no kind"),
    ],
)
def test_mistakes(fleet: SmallFleet, target: str, said: str) -> None:
    fleet.write(config(fleet.name))
    assert said in fleet.kadm("plan", "--target", target, code=1).err
