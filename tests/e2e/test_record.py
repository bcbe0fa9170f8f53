"""Records that were lost, damaged or restored: nothing happens in silence, and all can be mended."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.faults import Fault
from tests.e2e.small_fleet import Member, Shared, SmallFleet, config, deployment, namespace, shared_sandbox, small_fleet

pytestmark = pytest.mark.e2e

Make = Callable[[], SmallFleet]


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shared]:
    with shared_sandbox(tmp_path_factory.mktemp("record"), members=2) as found:
        yield found


@pytest.fixture
def fleet(shared: Shared, tmp_path: Path) -> SmallFleet:
    """A fleet of two members, with a divided Deployment, applied and settled."""
    found = small_fleet(shared, tmp_path)
    first = found.root / "clusters/member1.yaml"
    (found.root / "clusters/member2.yaml").write_text(first.read_text().replace("member1", "member2"))
    policy = found.root / "policies/everywhere.yaml"
    policy.write_text(policy.read_text().replace("Duplicate", "Divide"))
    found.write(namespace(found.name), config(found.name), deployment(found.name, replicas=5))
    found.apply()
    found.plan("--detailed-exitcode")
    return found


def record(fleet: SmallFleet, name: str = "") -> dict[str, Any]:
    metadata = {"name": f"kadm-{fleet.name}{name}", "namespace": "kadm-system"}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}


def lose(fleet: SmallFleet, *members: str) -> None:
    for member in members:
        fleet.shared.members[member].delete(record(fleet))


def objects(fleet: SmallFleet, member: str) -> dict[str, str]:
    """``Kind/name`` → origin, as the record says; an intent has a question mark."""
    shown = fleet.kadm("record", "show", member, "-o", "json").json
    return {f"{one['kind']}/{one['name']}": one["origin"] + "?" * (not one["uid"]) for one in shown["objects"]}


def until_gone(member: Member, obj: dict[str, Any]) -> None:
    give_up = time.monotonic() + 10
    while member.get(obj) is not None:
        assert time.monotonic() < give_up
        time.sleep(0.02)


def of(name: str) -> dict[str, str]:
    return {"ConfigMap/c": "created", f"Namespace/{name}": "created", "Deployment/web": "created"}


def test_show(fleet: SmallFleet) -> None:
    assert objects(fleet, "member1") == of(fleet.name)
    shown = fleet.kadm("record", "show", "member1").out.splitlines()
    assert (shown[0], shown[1].split()) == (
        f"Fleet {fleet.name} in member1: 3 objects.",
        ["OBJECT", "ORIGIN", "REPLICAS", "PLACED", "IN"],
    )


@pytest.mark.parametrize(
    "lost", [pytest.param(["member1"], id="of one member"), pytest.param(["member1", "member2"], id="of all members")]
)
def test_a_lost_record_freezes_and_is_rebuilt(fleet: SmallFleet, lost: list[str]) -> None:
    before = {name: member.get(deployment(fleet.name)) for name, member in fleet.shared.members.items()}
    lose(fleet, *lost)
    fleet.write(namespace(fleet.name), deployment(fleet.name, replicas=5))  # the ConfigMap left git
    plan = fleet.plan(code=4)
    assert [(one["member"], one["what"]) for one in plan["unread"]] == [
        (member, f"the record of fleet {fleet.name} is gone") for member in lost
    ]
    assert [one["cluster"] for one in plan["changes"]] == [one for one in ("member2",) if one not in lost]
    fleet.apply("--adopt-all", "--allow-empty", code=4)
    for member in lost:
        assert fleet.shared.members[member].get(config(fleet.name)) is not None
        said = fleet.kadm("record", "rebuild", member, "--yes").out.splitlines()
        assert (said[0], said[-1]) == (
            f"3 objects in {member} to be recorded as created by kadm:",
            f"Wrote the record of {member}: it holds 3 objects.",
        )
    fleet.write(namespace(fleet.name), config(fleet.name), deployment(fleet.name, replicas=5))
    fleet.apply()
    fleet.plan("--detailed-exitcode")
    assert objects(fleet, "member1") == of(fleet.name)
    after = {name: member.get(deployment(fleet.name)) for name, member in fleet.shared.members.items()}
    assert {name: one["metadata"]["generation"] for name, one in after.items()} == {
        name: one["metadata"]["generation"] for name, one in before.items()
    }


@pytest.mark.parametrize(
    "without",
    [
        pytest.param((), id="observed"),
        pytest.param(("Namespace", "ConfigMap", "Deployment"), id="seen in the comparison, for nothing may be listed"),
    ],
)
def test_a_lost_namespace_of_the_records_freezes_too(fleet: SmallFleet, without: tuple[str, ...]) -> None:
    gone = fleet.shared.members["member1"]
    gone.delete(namespace("kadm-system"))
    until_gone(gone, namespace("kadm-system"))
    paths = "|".join(f"/{one.lower()}s\\?" for one in without)
    try:
        if without:
            fleet.shared.fault("member1", Fault(mode="status", status=403, path=paths, methods=("GET",)))
        plan = fleet.plan(code=4)
        assert [(one["member"], one["what"]) for one in plan["unread"]] == [
            ("member1", f"the record of fleet {fleet.name} is gone")
        ]
        assert plan["unread"][0]["hint"] == "kadm record rebuild member1 writes a new one from what is live"
        fleet.apply("--adopt-all", code=4)
        assert gone.get(record(fleet)) is None
    finally:
        fleet.shared.fault("member1")
    fleet.kadm("record", "rebuild", "member1", "--yes")
    fleet.apply()
    fleet.plan("--detailed-exitcode")
    assert objects(fleet, "member1") == of(fleet.name)


def test_a_rebuilt_record_needs_nothing_more(fleet: SmallFleet) -> None:
    assert fleet.kadm("record", "rebuild", "member1", "--yes").out == (
        "The record of member1 needs nothing: it holds 3 objects.\n"
    )


def test_a_damaged_record_is_replaced(fleet: SmallFleet) -> None:
    fleet.member.merge(record(fleet), {"binaryData": {"document": "eAE="}})
    assert "kadm record rebuild member1" in fleet.kadm("plan", code=4).err
    assert fleet.kadm("record", "rebuild", "member1", "--yes").out.splitlines()[0] == (
        "The record of member1 cannot be read, and is replaced."
    )
    fleet.plan("--detailed-exitcode")
    assert objects(fleet, "member1") == of(fleet.name)


def test_a_record_of_a_newer_kadm_stays(fleet: SmallFleet) -> None:
    fleet.member.merge(record(fleet), {"data": {"format": "99"}})
    said = fleet.kadm("record", "rebuild", "member1", "--yes", code=1).err
    assert "the record has format 99, this kadm knows 1" in said


def test_a_restored_record_is_rebound(fleet: SmallFleet, shared: Shared) -> None:
    """member2 plays a cluster restored from member1's backup: its record is that of member1."""
    theirs = fleet.member.get(record(fleet))
    restored = {name: theirs[name] for name in ("binaryData", "data")}
    shared.members["member2"].merge(record(fleet), restored)
    assert "kadm record rebind member2" in fleet.kadm("plan", code=4).err
    assert "kadm record rebind member2" in fleet.kadm("record", "rebuild", "member2", "--yes", code=1).err
    assert "written for another cluster" in fleet.kadm("record", "show", "member2", code=1).err
    fleet.kadm("record", "rebind", "member2", "--yes")
    assert objects(fleet, "member2") == {name: f"{origin}?" for name, origin in of(fleet.name).items()}
    fleet.apply()
    fleet.plan("--detailed-exitcode")
    assert objects(fleet, "member2") == of(fleet.name)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        pytest.param(["rebuild", "member1"], "asks before it writes, and nobody is here to answer", id="nobody to ask"),
        pytest.param(["rebuild", "nowhere", "--yes"], "no such member: nowhere", id="no member"),
        pytest.param(["show", "nowhere"], "no such member: nowhere", id="no member to show"),
    ],
)
def test_what_cannot_be(fleet: SmallFleet, arguments: list[str], said: str) -> None:
    assert said in fleet.kadm("record", *arguments, code=1).err


def test_a_member_that_left_and_joins_again_lost_nothing(fleet: SmallFleet) -> None:
    file = fleet.root / "clusters/member2.yaml"
    text = file.read_text()
    fleet.kadm("unjoin", "member2", "--delete", "--yes")
    until_gone(fleet.shared.members["member2"], namespace(fleet.name))
    file.write_text(text)
    fleet.apply("--adopt-all")
    fleet.plan("--detailed-exitcode")
