"""A member that is gone: what waits for it, and what moves once somebody says that it is lost."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.e2e.faults import Fault
from tests.e2e.small_fleet import Shared, SmallFleet, deployment, namespace, shared_sandbox, small_fleet

pytestmark = pytest.mark.e2e

MEMBERS = ("member1", "member2", "member3")


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shared]:
    with shared_sandbox(tmp_path_factory.mktemp("lost"), members=3) as found:
        yield found


@pytest.fixture
def fleet(shared: Shared, tmp_path: Path) -> Iterator[SmallFleet]:
    """A fleet of three members with six replicas; member2 does not answer any more."""
    found = small_fleet(shared, tmp_path)
    first = (found.root / "clusters/member1.yaml").read_text()
    for name in MEMBERS[1:]:
        (found.root / f"clusters/{name}.yaml").write_text(first.replace("member1", name))
    policy = yaml.safe_load((found.root / "policies/everywhere.yaml").read_text())
    policy["spec"] = {
        "schedulingMode": "Divide",
        "placement": [{"cluster": name, "preferences": {"weight": 1}} for name in MEMBERS],
    }
    (found.root / "policies/everywhere.yaml").write_text(yaml.safe_dump(policy))
    found.write(namespace(found.name), deployment(found.name, replicas=6))
    found.apply()
    shared.fault("member2", Fault(mode="reset"))
    yield found
    shared.fault("member2")


def replicas(fleet: SmallFleet) -> dict[str, int]:
    return {
        name: fleet.shared.members[name].get(deployment(fleet.name))["spec"]["replicas"]
        for name in MEMBERS
        if name != "member2"
    }


def test_nothing_moves_by_itself(fleet: SmallFleet) -> None:
    fleet.apply(code=4)
    assert replicas(fleet) == {"member1": 2, "member3": 2}


def test_a_lost_member(fleet: SmallFleet, shared: Shared) -> None:
    simulated = fleet.kadm("simulate", "--lose", "member2", "-o", "json").json
    assert [(one["name"], one["fate"], one["after"]) for one in simulated["objects"]] == [
        ("web", "moves", {"member1": 3, "member3": 3})
    ]
    told = fleet.kadm("simulate", "--lose", "member2").out.splitlines()
    assert told[1].split() == ["Deployment", f"{fleet.name}/web", "moves", "2", "member1", "+1,", "member3", "+1"]

    saved = fleet.root.parent / "plan.json"
    plan = fleet.plan("--assume-lost", "member2", "--out", str(saved))
    assert [(one["member"], one["what"]) for one in plan["problems"]] == [
        ("member2", "assumed lost: planned as if it were gone")
    ]
    fleet.apply("--assume-lost", "member2")
    assert replicas(fleet) == {"member1": 3, "member3": 3}
    assert fleet.plan("--assume-lost", "member2", "--detailed-exitcode")["changes"] == []

    shared.fault("member2")  # it is back, and gives up what has moved
    assert fleet.actions("--allow-empty", "--allow-deletes", "5") == {
        f"Namespace/{fleet.name}": "delete",
        "Deployment/web": "delete",
    }
    fleet.apply("--allow-empty", "--allow-deletes", "5")
    assert fleet.shared.members["member2"].get(deployment(fleet.name)) is None
    fleet.plan("--detailed-exitcode")


def test_a_saved_plan_remembers(fleet: SmallFleet) -> None:
    saved = str(fleet.root.parent / "plan.json")
    fleet.plan("--assume-lost", "member2", "--out", saved)
    assert "a saved plan holds what it was made with" in (
        fleet.kadm("apply", saved, "--yes", "--assume-lost", "member3", code=1).err
    )
    fleet.kadm("apply", saved, "--yes")
    assert replicas(fleet) == {"member1": 3, "member3": 3}


def test_guards_still_apply(fleet: SmallFleet) -> None:
    fleet.write()
    assert set(fleet.actions("--assume-lost", "member2", code=None).values()) == {"held: --allow-empty"}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        pytest.param(["plan", "--assume-lost", "nowhere"], "no such member: nowhere", id="no member"),
        pytest.param(["simulate", "--lose", "nowhere"], "no such member: nowhere", id="no member to lose"),
        pytest.param(
            ["simulate", *(word for name in MEMBERS for word in ("--lose", name))],
            "--lose names every member",
            id="all of them",
        ),
    ],
)
def test_what_cannot_be(fleet: SmallFleet, arguments: list[str], said: str) -> None:
    assert said in fleet.kadm(*arguments, code=1).err
