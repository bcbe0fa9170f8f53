"""Records that were lost, or came with a backup."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import pytest
from msgspec.structs import replace

from kadm.errors import MemberError
from kadm.members.connection import Connection
from kadm.members.record import read_record, write_record
from kadm.members.record_proposal import propose_record, rebound_record
from kadm.members.resources import CONFIG_MAPS
from kadm.model.applyset import PART_OF, applyset_id
from kadm.model.observation import ApiResource, MemberState
from kadm.model.record import Record, RecordedObject, RecordedWorkload
from tests.members.fake_member import FakeMember, a_cluster, always, run, serving, status

T = TypeVar("T")
SET_ID = applyset_id("kadm-shop")
MAPS = replace(CONFIG_MAPS, verbs=("get", "list", "patch"))
ENTRY = {"manager": "kadm-shop", "operation": "Apply"}


def using(member: FakeMember, work: Callable[[Connection], Awaitable[T]]) -> T:
    async def connected() -> T:
        async with serving(member), member.connection() as connection:
            return await work(connection)

    return run(connected())


def an_object(name: str, **metadata: Any) -> RecordedObject:
    return RecordedObject(version="v1", kind="ConfigMap", namespace="web", name=name, uid=f"uid-{name}", **metadata)


def a_state(*served: ApiResource) -> MemberState:
    return MemberState(name="eu", uid="uid-eu", version="v1.36.2", api_resources=served)


def a_member() -> FakeMember:
    """Four ConfigMaps: ours, one whose owner copied the label, one that somebody else applied, one of another fleet."""
    member = FakeMember()
    for name, label, entries, owners in (
        ("ours", SET_ID, [ENTRY], None),
        ("owned", SET_ID, [ENTRY], [{"uid": "x"}]),
        ("labelled", SET_ID, [{"manager": "kubectl", "operation": "Apply"}], None),
        ("other", "applyset-other-v1", [ENTRY], None),
    ):
        metadata = {
            "name": name,
            "namespace": "web",
            "uid": f"uid-{name}",
            "labels": {PART_OF: label},
            "managedFields": entries,
            "ownerReferences": owners,
        }
        member.add(f"/api/v1/configmaps/{name}", {"metadata": metadata})
    return member


def test_a_proposal_holds_what_kadm_applied() -> None:
    proposed = using(a_member(), lambda at: propose_record(at, a_state(MAPS), "shop", manager="kadm-shop"))
    assert proposed == Record(fleet="shop", member="eu", member_uid="uid-eu", objects=(an_object("ours"),))


def test_a_proposal_knows_where_workloads_are() -> None:
    sets = ApiResource(
        group="apps", version="v1", kind="StatefulSet", plural="statefulsets", namespaced=True, verbs=MAPS.verbs
    )
    metadata = {"name": "db", "namespace": "web", "uid": "u", "labels": {PART_OF: SET_ID}, "managedFields": [ENTRY]}
    member = FakeMember()
    member.add(
        "/apis/apps/v1/statefulsets/db", {"metadata": metadata, "spec": {"replicas": 2, "ordinals": {"start": 3000}}}
    )
    proposed = using(member, lambda at: propose_record(at, a_state(sets), "shop", manager="kadm-shop"))
    assert proposed.workloads == (
        RecordedWorkload(group="apps", kind="StatefulSet", namespace="web", name="db", replicas=2, blocks={"eu": 3}),
    )


def test_a_member_that_may_serve_more_is_not_proposed_for() -> None:
    state = replace(a_state(MAPS), undiscovered={"example.com/v1": "503", "metrics.k8s.io/v1": "503"})
    with pytest.raises(MemberError, match=r"it is unknown what is served in example.com/v1"):
        using(a_member(), lambda at: propose_record(at, state, "shop", manager="kadm-shop"))


def test_kinds_that_cannot_be_applied_are_not_listed() -> None:
    member = a_member()
    using(member, lambda at: propose_record(at, a_state(CONFIG_MAPS), "shop", manager="kadm-shop"))
    assert member.requests == []


def test_half_a_proposal_is_none() -> None:
    member = a_member()
    member.answers["GET", "/api/v1/configmaps"] = always(lambda: status(403, "Forbidden"))
    with pytest.raises(MemberError):
        using(member, lambda at: propose_record(at, a_state(MAPS), "shop", manager="kadm-shop"))


def test_a_record_from_a_backup_is_made_out_to_this_cluster() -> None:
    async def rebind(connection: Connection) -> Record | None:
        old = Record(fleet="shop", member="old", member_uid="uid-old", objects=(an_object("ours"),))
        await write_record(connection, old)
        rebound = await rebound_record(connection, "shop", member_uid="uid-eu")
        assert rebound is not None
        await write_record(connection, rebound)
        return await read_record(connection, "shop", member_uid="uid-eu")

    found = using(a_cluster(), rebind)
    assert found is not None
    assert replace(found, resource_version="") == Record(
        fleet="shop", member="eu", member_uid="uid-eu", objects=(replace(an_object("ours"), uid=""),)
    )
