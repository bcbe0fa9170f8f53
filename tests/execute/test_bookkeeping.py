"""What the record says before, during and after writes."""

from __future__ import annotations

import pytest

from kadm.execute.bookkeeping import confirmed, intended, trimmed
from kadm.model.decision import Decision, Decisions
from kadm.model.objects import ObjectKey
from kadm.model.plan import Change, Move
from kadm.model.record import Record, RecordedObject, RecordedWorkload

WEB = ObjectKey("apps", "Deployment", "shop", "web")


def change(action: str, *, uid: str = "") -> Change:
    return Change(cluster="eu", key=WEB, version="v1", action=action, uid=uid)  # type: ignore[arg-type]  # a table's text


def decisions(**placement: int | None) -> Decisions:
    return Decisions({WEB: Decision(key=WEB, outcome="scheduled", placement=placement, triggers={"replicas": "6"})})


def begin(
    record: Record | None, *changes: Change, placed: Decisions, moves: tuple[Move, ...] = (), member: str = "eu"
) -> Record:
    return intended(
        record,
        fleet="shop",
        member=member,
        member_uid="m",
        commit="c1",
        changes=changes,
        decisions=placed,
        moves=moves,
        gone=(),
    )


def an_object(**fields: str | bool) -> RecordedObject:
    return RecordedObject(group="apps", version="v1", kind="Deployment", namespace="shop", name="web", **fields)  # type: ignore[arg-type]


def a_workload(
    replicas: int, placement: dict[str, int | None], moving: dict[str, int] | None = None
) -> RecordedWorkload:
    return RecordedWorkload(
        group="apps",
        kind="Deployment",
        namespace="shop",
        name="web",
        replicas=replicas,
        triggers={"replicas": "6"},
        placement=placement,
        moving=moving or {},
    )


def test_the_blocks_of_the_whole_decision_are_recorded() -> None:
    decided = Decision(key=WEB, outcome="scheduled", placement={"eu": 2, "us": 2}, blocks={"us": 1, "ap": 2, "eu": 0})
    (entry,) = begin(None, change("create"), placed=Decisions({WEB: decided})).workloads
    assert entry.blocks == {"ap": 2, "eu": 0, "us": 1}


def test_an_intent_comes_before_the_create() -> None:
    assert begin(None, change("create"), placed=decisions(eu=6)) == Record(
        fleet="shop",
        member_uid="m",
        member="eu",
        commit="c1",
        objects=(an_object(),),
        workloads=(a_workload(6, {"eu": 6}),),
    )


def test_an_adopted_object_is_recorded_with_its_uid() -> None:
    record = begin(None, change("adopt", uid="u1"), placed=decisions(eu=6))
    assert record.objects == (an_object(uid="u1", origin="adopted", adopting=True),)


@pytest.mark.parametrize(("uids", "adopting"), [({WEB: "u1"}, False), ({}, True)], ids=["done", "failed"])
def test_an_adoption_goes_on_until_it_is_confirmed(uids: dict[ObjectKey, str], adopting: bool) -> None:
    record = begin(None, change("adopt", uid="u1"), placed=decisions(eu=6))
    (entry,) = begin(confirmed(record, uids, {}, {}), placed=decisions(eu=6)).objects
    assert entry == an_object(uid="u1", origin="adopted", adopting=adopting)


def test_confirming_fills_in_uids() -> None:
    record = begin(None, change("create"), placed=decisions(eu=6))
    assert confirmed(record, {WEB: "u1"}, {WEB: "created"}, {WEB: "v1"}).objects == (an_object(uid="u1"),)


def test_the_member_that_a_workload_leaves_keeps_it_until_it_has_left() -> None:
    before = Record(fleet="shop", member_uid="m", objects=(an_object(uid="u1"),), workloads=(a_workload(6, {"eu": 6}),))
    move = Move(key=WEB, leaves={"eu": 6}, arrives={"us": 6})
    record = begin(before, change("delete", uid="u1"), placed=decisions(us=6), moves=(move,))
    assert (record.objects, record.workloads) == (
        (an_object(uid="u1"),),
        (a_workload(0, {"us": 6}, moving={"eu": 6}),),
    )
    done = trimmed(record, removed={WEB}, decisions=decisions(us=6), moves=(move,), unfinished=())
    assert (done.objects, done.workloads) == ((), ())


def test_an_unfinished_move_stays_in_the_record() -> None:
    move = Move(key=WEB, leaves={"eu": 2}, arrives={"us": 2})
    before = Record(fleet="shop", member_uid="m", objects=(an_object(uid="u1"),), workloads=(a_workload(6, {"eu": 6}),))
    record = begin(before, change("update", uid="u1"), placed=decisions(eu=4, us=2), moves=(move,))
    held = trimmed(record, removed=(), decisions=decisions(eu=4, us=2), moves=(move,), unfinished={WEB})
    done = trimmed(record, removed=(), decisions=decisions(eu=4, us=2), moves=(move,), unfinished=())
    assert (held.workloads, done.workloads) == (
        (a_workload(4, {"eu": 4, "us": 2}, moving={"eu": 6}),),
        (a_workload(4, {"eu": 4, "us": 2}),),
    )


def test_a_frozen_workload_stays_as_recorded() -> None:
    before = Record(fleet="shop", member_uid="m", workloads=(a_workload(6, {"eu": 6}),))
    frozen = Decisions({WEB: Decision(key=WEB, outcome="frozen", placement={"eu": 6})})
    assert begin(before, placed=frozen).workloads == before.workloads


def test_what_was_decided_stays_until_the_object_has_gone() -> None:
    before = Record(fleet="shop", member_uid="m", objects=(an_object(uid="u1"),), workloads=(a_workload(6, {"eu": 6}),))
    record = begin(before, placed=Decisions({}))
    held = trimmed(record, removed=(), decisions=Decisions({}), moves=(), unfinished=())
    gone = trimmed(record, removed={WEB}, decisions=Decisions({}), moves=(), unfinished=())
    assert (held.workloads, gone.workloads) == (before.workloads, ())


@pytest.mark.parametrize(
    ("answered", "want"),
    [
        pytest.param({}, ("u1", "adopted", True), id="nothing was told: either of the two may be there"),
        pytest.param({WEB: "u2"}, ("u2", "created", False), id="the new one is there, and kadm's own"),
        pytest.param({WEB: "u1"}, ("u1", "adopted", False), id="the old one stays"),
    ],
)
def test_an_object_to_be_recreated(answered: dict[ObjectKey, str], want: tuple[str, str, bool]) -> None:
    before = Record(fleet="shop", member_uid="m", objects=(an_object(uid="u1", origin="adopted"),))
    begun = begin(before, change("recreate", uid="u1"), placed=Decisions({}))
    (entry,) = confirmed(begun, answered, {}, {}).objects
    assert (entry.uid, entry.origin, entry.recreating) == want


def test_what_manifests_ask_to_keep_is_remembered() -> None:
    before = Record(fleet="shop", member_uid="m", objects=(an_object(uid="u1"),))
    kept = intended(
        before,
        fleet="shop",
        member="eu",
        member_uid="m",
        commit="c1",
        changes=(),
        decisions=Decisions({}),
        moves=(),
        gone=(),
        kept={WEB: True},
    )
    later = begin(kept, placed=Decisions({}))
    assert [record.objects[0].keep for record in (kept, later)] == [True, True]


def test_the_digest_of_a_job_that_goes_when_it_has_finished() -> None:
    before = Record(fleet="shop", member_uid="m", objects=(an_object(),))
    found = confirmed(before, {WEB: "u1"}, {}, {}, {WEB: "d1"})
    assert [found.objects[0].digest, confirmed(found, {}, {}, {}, {WEB: ""}).objects[0].digest] == ["d1", ""]


def test_a_whole_move_is_recorded_in_copies() -> None:
    move = Move(key=WEB, leaves={"eu": 1}, arrives={"us": 1}, whole=True)
    record = begin(None, change("create"), placed=decisions(us=None), moves=(move,), member="us")
    assert [entry.moving for entry in record.workloads] == [{"eu": 1}]
