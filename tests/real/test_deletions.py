"""Deletion is the dangerous verb: exactly which DELETE requests an apply sends in each situation (design, section 8).

Every scenario begins with a fleet that holds ConfigMaps ``a`` to ``e`` in a namespace of its own in one member, those
about all members with more of them in three.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.e2e.audit import everything
from tests.e2e.situations import (
    NAMES,
    a_child_has_the_label,
    a_claim_leaves,
    a_crd_leaves_with_its_objects,
    a_crd_was_deleted_by_hand,
    a_crd_with_foreign_objects_leaves,
    a_field_of_the_fleet_is_unknown,
    a_file_is_broken,
    a_policy_is_missing,
    all_that_kadm_wrote_down_is_lost,
    an_empty_crd_leaves,
    an_override_fails_in_the_same_namespace,
    another_fleet_drops_to_nothing,
    another_kind_is_unread,
    configs,
    deletes,
    discovery_fails,
    discovery_fails_for_what_leaves_with_it,
    discovery_fails_for_what_stays,
    four_leave,
    it_is_made_anew_when_it_is_deleted,
    its_label_is_gone,
    its_label_is_gone_and_it_cannot_be_read,
    its_namespace_leaves,
    its_successor_is_not_ready,
    its_successor_is_refused,
    lists_are_cut_off,
    lists_are_limited_for_a_moment,
    lists_are_refused,
    lists_fail,
    lists_stop_half_way,
    no_deletion_is_allowed,
    no_policy_places_it_here_any_more,
    nobody_is_let_in,
    one_is_an_orphan,
    one_is_being_deleted,
    one_is_gone_already,
    one_is_kept_by_a_member,
    one_is_protected,
    one_is_protected_by_hand,
    one_is_suspended,
    one_leaves,
    one_was_adopted,
    one_was_made_anew_by_somebody,
    somebody_elses_has_the_label,
    that_was_there_before,
    the_answer_to_the_deletion_is_lost,
    the_deletion_fails_for_a_moment,
    the_directory_is_another,
    the_directory_is_gone,
    the_file_is_another,
    the_lease_cannot_be_taken,
    the_member_is_not_reached,
    the_member_refuses_the_deletion,
    the_policy_is_another,
    the_record_cannot_be_read,
    the_record_cannot_be_written,
    the_record_is_damaged,
    the_record_is_lost,
    the_record_is_of_another_cluster,
    the_record_may_not_be_read,
    the_repository_is_empty,
    two_leave,
    whose_contents_are_unread,
    with_a_claim,
    with_a_foreign_object,
    with_a_protected_object,
    with_an_adopted_object,
    with_workloads,
    writes_are_suspended,
)
from tests.e2e.small_fleet import EVERYWHERE, Obj, Shared, SmallFleet, annotated, config, small_fleet

pytestmark = [pytest.mark.e2e, pytest.mark.real]


@pytest.fixture
def fleet(shared: Shared, tmp_path: Path) -> Iterator[SmallFleet]:
    fleet = small_fleet(shared, tmp_path / "fleet", spec={"deletions": {"max": 10, "percent": 40}})
    fleet.write(*configs(fleet))
    fleet.apply()
    yield fleet
    shared.fault("member1")
    shared.audit.hook = everything


ALL = deletes(*NAMES)
ALLOW_9 = ["--allow-deletes", "9"]
MEMBERS = ("member1", "member2", "member3")
PATIENCE = ["--request-timeout", "5"]


@pytest.mark.parametrize(
    ("arrange", "flags", "want", "says"),
    [
        # reading
        pytest.param(lists_are_refused, [], [], "read forbidden (403 Forbidden)", id="a list is refused"),
        pytest.param(lists_fail, [], [], "the member failed to read (500 InternalError)", id="a list fails"),
        pytest.param(lists_are_cut_off, [], [], "the answer is not what an API server sends", id="a list is cut off"),
        pytest.param(lists_stop_half_way, PATIENCE, [], "no answer within 5 s", id="a list stops half-way"),
        pytest.param(
            lists_are_limited_for_a_moment, [], deletes("a"), "Applied 1 change", id="a list is limited for a moment"
        ),
        pytest.param(
            another_kind_is_unread,
            [],
            [],
            "something in the same namespace is frozen",
            id="something else in the namespace is unread",
        ),
        pytest.param(its_label_is_gone, [], deletes("a"), "Applied 1 change", id="the label is stripped: read by name"),
        pytest.param(
            its_label_is_gone_and_it_cannot_be_read,
            [],
            [],
            "the member failed to read (500 InternalError)",
            id="the label is stripped, the read fails",
        ),
        pytest.param(
            discovery_fails, [], [], "the member is not available (503 ServiceUnavailable)", id="discovery fails"
        ),
        pytest.param(
            discovery_fails_for_what_stays,
            [],
            [],
            "discovery of apps/v1 failed",
            id="the kind of something that stays is not discovered",
        ),
        pytest.param(
            discovery_fails_for_what_leaves_with_it,
            [],
            [],
            "discovery of apps/v1 failed",
            id="the kind of something that leaves too is not discovered",
        ),
        pytest.param(nobody_is_let_in, [], [], "not authenticated (401 Unauthorized)", id="nobody is let in"),
        pytest.param(the_member_is_not_reached, [], [], "the connection broke off", id="the member is not reached"),
        pytest.param(
            the_record_cannot_be_read,
            [],
            [],
            "the member failed to read (500 InternalError)",
            id="the record cannot be read",
        ),
        pytest.param(
            the_record_may_not_be_read, [], [], "read forbidden (403 Forbidden)", id="the record may not be read"
        ),
        pytest.param(
            the_record_cannot_be_written, [], [], "write forbidden (403 Forbidden)", id="the record cannot be written"
        ),
        pytest.param(
            the_lease_cannot_be_taken, [], [], "write forbidden (403 Forbidden)", id="the Lease cannot be taken"
        ),
        pytest.param(the_record_is_damaged, [], [], "kadm's record is damaged", id="the record is damaged"),
        pytest.param(the_record_is_lost, [], [], "kadm record rebuild member1", id="the record is lost"),
        pytest.param(
            the_record_is_lost,
            ["--adopt-all"],
            [],
            "kadm record rebuild member1",
            id="the record is lost, and all would be adopted",
        ),
        pytest.param(
            all_that_kadm_wrote_down_is_lost, [], [], "kadm record rebuild member1", id="record and stamps are lost"
        ),
        pytest.param(
            all_that_kadm_wrote_down_is_lost,
            ["--adopt-all"],
            [],
            "kadm record rebuild member1",
            id="record and stamps are lost, and all would be adopted",
        ),
        pytest.param(
            the_record_is_of_another_cluster, [], [], "the record belongs to member", id="the record is another's"
        ),
        # the repository
        pytest.param(a_file_is_broken, [], [], "no valid YAML", id="a file is broken"),
        pytest.param(
            a_field_of_the_fleet_is_unknown, [], [], "`extra` is no field that kadm knows", id="kadm.yaml is invalid"
        ),
        pytest.param(
            an_override_fails_in_the_same_namespace,
            [],
            [],
            "something in the same namespace is frozen",
            id="an override fails beside it",
        ),
        pytest.param(
            a_policy_is_missing, [], [], "there is no ClusterPropagationPolicy none", id="a policy is missing"
        ),
        pytest.param(
            the_repository_is_empty,
            [],
            [],
            "the member would drop to nothing (to permit it: --allow-empty)",
            id="an empty repository",
        ),
        pytest.param(
            the_repository_is_empty,
            ALLOW_9,
            [],
            "(to permit it: --allow-empty)",
            id="an empty repository, --allow-deletes is not enough",
        ),
        pytest.param(the_directory_is_gone, [], [], "manifests does not exist", id="the directory is gone"),
        pytest.param(the_directory_is_another, [], [], "No changes", id="the directory is renamed"),
        pytest.param(the_file_is_another, [], [], "No changes", id="the file is renamed"),
        pytest.param(the_policy_is_another, [], [], "No changes", id="another policy places it"),
        pytest.param(no_policy_places_it_here_any_more, [], [], "no member takes it", id="no member fits any more"),
        pytest.param(
            writes_are_suspended, [], [], "suspended: nothing is planned or written here", id="writes are suspended"
        ),
        # the objects
        pytest.param(one_leaves, [], deletes("a"), "Applied 1 change", id="one leaves"),
        pytest.param(two_leave, [], deletes("a", "b"), "Applied 2 changes", id="two leave"),
        pytest.param(
            four_leave,
            [],
            [],
            "4 deletions in this member, 3 allowed, 40% of its 6 objects (to permit it: --allow-deletes 4)",
            id="more than the budget",
        ),
        pytest.param(
            four_leave, ["--allow-deletes", "3"], [], "4 deletions in this member, 3 allowed", id="more than permitted"
        ),
        pytest.param(
            four_leave, ["--allow-deletes", "4"], deletes(*"abcd"), "Applied 4 changes", id="as many as permitted"
        ),
        pytest.param(no_deletion_is_allowed, [], [], "1 deletion in this member, 0 allowed", id="a budget of 0"),
        pytest.param(two_leave, ["--target", "cm/b"], deletes("b"), "Applied 1 change", id="--target"),
        pytest.param(
            one_is_protected,
            [],
            deletes("b"),
            "it is marked kadm.io/protect (to permit it: --allow-protected)",
            id="protected",
        ),
        pytest.param(
            one_is_protected, ["--allow-protected"], deletes("a", "b"), "Applied 2 changes", id="--allow-protected"
        ),
        pytest.param(
            one_is_protected_by_hand, [], deletes("b"), "it is marked kadm.io/protect", id="protected in the member"
        ),
        pytest.param(one_is_suspended, [], [], "it is marked kadm.io/suspend", id="suspended in the member"),
        pytest.param(one_is_kept_by_a_member, [], [], "keeps everybody off it", id="kept by the member's admin"),
        pytest.param(one_was_adopted, [], deletes("a"), "1 to delete, 1 to release", id="adopted: released"),
        pytest.param(one_is_an_orphan, [], deletes("b"), "(annotation orphan: all)", id="orphan: released"),
        pytest.param(one_was_made_anew_by_somebody, [], [], "No changes", id="another object of the same name"),
        pytest.param(somebody_elses_has_the_label, [], [], "No changes", id="somebody else's object with the label"),
        pytest.param(a_child_has_the_label, [], [], "No changes", id="a child with the label"),
        pytest.param(one_is_being_deleted, [], [], "No changes", id="being deleted already"),
        pytest.param(one_is_gone_already, [], [], "No changes", id="gone already"),
        pytest.param(its_successor_is_refused, [], [], "the member refuses it", id="what replaces it is refused"),
        pytest.param(
            its_successor_is_not_ready,
            ["--timeout", "0.3"],
            [],
            "it stays until everything else in its namespace is well",
            id="what replaces it is not ready",
        ),
        pytest.param(
            the_member_refuses_the_deletion,
            [],
            deletes("a"),
            "write forbidden (403 Forbidden)",
            id="the member refuses, once",
        ),
        pytest.param(
            the_deletion_fails_for_a_moment,
            [],
            deletes("a", "a"),
            "Applied 1 change",
            id="the member fails for a moment: asked again",
        ),
        pytest.param(
            the_answer_to_the_deletion_is_lost,
            PATIENCE,
            deletes("a"),
            "no answer within 5 s",
            id="the member's answer is lost",
        ),
        pytest.param(
            it_is_made_anew_when_it_is_deleted,
            [],
            deletes("a"),
            "it changed since it was planned",
            id="made anew since the plan",
        ),
        pytest.param(another_fleet_drops_to_nothing, [], [], "No changes", id="another fleet's deletions"),
        # namespaces
        pytest.param(
            its_namespace_leaves, ALLOW_9, [*deletes("a", "b"), "namespaces/NS"], "Applied 3 changes", id="a namespace"
        ),
        pytest.param(
            with_workloads,
            ALLOW_9,
            [*deletes("a", "b"), "deployments/web", "namespaces/NS"],
            "Applied 4 changes",
            id="and pods",
        ),
        pytest.param(
            with_a_foreign_object,
            ALLOW_9,
            deletes("a", "b"),
            "it still holds ConfigMap/theirs (to permit it: --allow-namespace-deletes)",
            id="a namespace with a foreign object",
        ),
        pytest.param(
            with_a_foreign_object,
            [*ALLOW_9, "--allow-namespace-deletes"],
            [*deletes("a", "b"), "namespaces/NS"],
            "Applied 3 changes",
            id="--allow-namespace-deletes",
        ),
        pytest.param(
            with_a_claim,
            ALLOW_9,
            deletes("a", "b"),
            "it still holds PersistentVolumeClaim/data",
            id="a namespace with a volume claim",
        ),
        pytest.param(
            with_an_adopted_object,
            ALLOW_9,
            deletes("a", "b"),
            "it still holds ConfigMap/z",
            id="a namespace with an adopted object",
        ),
        pytest.param(
            with_a_protected_object,
            ALLOW_9,
            deletes("b"),
            "it still holds ConfigMap/a",
            id="a namespace with a protected object",
        ),
        pytest.param(
            with_a_protected_object,
            [*ALLOW_9, "--allow-namespace-deletes"],
            deletes("b"),
            "ConfigMap a in it is held back: it is marked kadm.io/protect (to permit it: --allow-protected)",
            id="a namespace with a protected object, --allow-namespace-deletes",
        ),
        pytest.param(
            whose_contents_are_unread,
            ALLOW_9,
            deletes("a", "b"),
            "what it holds is unknown: ",
            id="a namespace that cannot be read",
        ),
        pytest.param(that_was_there_before, [], deletes("z"), "1 to delete, 1 to release", id="an adopted namespace"),
        # kinds
        pytest.param(
            an_empty_crd_leaves, [], ["customresourcedefinitions/CRD"], "Applied 1 change", id="a CRD without objects"
        ),
        pytest.param(
            a_crd_leaves_with_its_objects,
            [],
            ["customresourcedefinitions/CRD", "things/t"],
            "Applied 2 changes",
            id="a CRD and its objects",
        ),
        pytest.param(
            a_crd_with_foreign_objects_leaves,
            [],
            [],
            "it still holds Thing/t (to permit it: --allow-crd-deletes)",
            id="a CRD with others' objects",
        ),
        pytest.param(
            a_crd_with_foreign_objects_leaves,
            ["--allow-crd-deletes"],
            ["customresourcedefinitions/CRD"],
            "Applied 1 change",
            id="--allow-crd-deletes",
        ),
        pytest.param(a_crd_was_deleted_by_hand, [], [], "1 to create", id="a CRD that somebody deleted"),
        pytest.param(a_claim_leaves, [], [], "it holds data (to permit it: --delete-pvcs)", id="a volume claim"),
        pytest.param(
            a_claim_leaves, ["--delete-pvcs"], ["persistentvolumeclaims/data"], "Applied 1 change", id="--delete-pvcs"
        ),
    ],
)
def test_deletions(
    fleet: SmallFleet, arrange: Callable[[SmallFleet], Any], flags: list[str], want: list[str], says: str
) -> None:
    arrange(fleet)
    fleet.shared.audit.clear()
    said = fleet.kadm("apply", "--yes", *flags, code=None)
    names = {"NS": fleet.name, "CRD": f"things.{fleet.name}.example.com"}
    assert says in said.out + said.err, said
    assert fleet.deleted() == sorted(
        f"{plural}/{names.get(name, name)}" for plural, _, name in (one.partition("/") for one in want)
    )


def test_an_empty_repository_that_is_permitted(fleet: SmallFleet) -> None:
    fleet.write()
    fleet.apply("--allow-empty")
    assert fleet.deleted() == [*ALL, f"namespaces/{fleet.name}"]


def test_what_was_refused_is_deleted_by_the_next_run(fleet: SmallFleet) -> None:
    the_member_refuses_the_deletion(fleet)
    fleet.apply(code=None)
    fleet.shared.fault("member1")
    fleet.apply()
    assert fleet.deleted() == deletes("a")


def test_a_deletion_carries_the_uid_and_what_goes_with_it(fleet: SmallFleet) -> None:
    uid = fleet.member.get(config(fleet.name, "a"))["metadata"]["uid"]
    one_leaves(fleet)
    fleet.apply()
    (sent,) = (one for one in fleet.shared.audit.requests if one.method == "DELETE" and "/leases/" not in one.path)
    assert (sent.body["preconditions"], sent.body["propagationPolicy"]) == ({"uid": uid}, "Background")


def test_what_was_made_anew_since_the_plan_stays(fleet: SmallFleet) -> None:
    it_is_made_anew_when_it_is_deleted(fleet)
    fleet.apply(code=1)
    fleet.shared.audit.hook = everything
    assert fleet.member.get(config(fleet.name, "a")) is not None
    fleet.apply()
    assert fleet.deleted() == [], "it is somebody else's now"


def test_a_deletion_whose_answer_was_lost_is_not_sent_again(fleet: SmallFleet) -> None:
    the_answer_to_the_deletion_is_lost(fleet)
    fleet.apply(*PATIENCE, code=4)
    fleet.shared.fault("member1")
    fleet.apply()
    assert fleet.deleted() == []


@pytest.fixture
def three(shared: Shared, tmp_path: Path) -> SmallFleet:
    """A fleet of three members: ``a`` to ``e`` are in the first alone, ``p`` to ``v`` in all of them."""
    found = small_fleet(shared, tmp_path / "fleet", members=MEMBERS)
    policy = yaml.safe_load(EVERYWHERE)
    policy["metadata"]["name"] = "first"
    policy["spec"]["placement"] = [{"cluster": "member1"}]
    found.write(policy, path="policies/first.yaml")
    found.write(*first_alone(found), *configs(found, "pqrstuv"))
    found.apply()
    return found


def first_alone(fleet: SmallFleet) -> list[Obj]:
    """``a`` to ``e``, bound to the policy for the first member."""
    objects = configs(fleet)
    for obj in objects:
        obj["metadata"]["labels"] = {"kubeadmiral.io/cluster-propagation-policy-name": "first"}
    return objects


HELD_HERE = "6 deletions in this member, 3 allowed, 20% of its 13 objects"
HELD_EVERYWHERE = "8 deletions in all members, 7 allowed, 20% of what each holds"


def test_too_many_deletions_in_all_are_held_back_everywhere(three: SmallFleet, tmp_path: Path) -> None:
    """``a`` to ``e`` leave the first member, which is too much there; ``p``, which leaves all, would pass elsewhere."""
    three.write(*configs(three, "qrstuv"))
    saved = tmp_path / "plan.json"
    plan = three.plan("--out", str(saved))
    held = {(one["cluster"], one["name"]): (one["why"], one["flag"]) for one in plan["held"]}
    assert held == {
        **{("member1", name): (HELD_HERE, "--allow-deletes 6") for name in "abcdep"},
        **{(member, "p"): (HELD_EVERYWHERE, "--allow-deletes 1") for member in MEMBERS[1:]},
    }
    for told in (three.kadm("plan").out, three.kadm("show", str(saved)).out, three.kadm("plan", "-o", "markdown").out):
        text = told.replace("`", "")
        assert f"member2, member3: {HELD_EVERYWHERE} (to permit it: --allow-deletes 1)" in text, told
    for command in (["apply", str(saved)], ["apply", "--yes"], ["watch", "--once", "--state-dir", str(tmp_path / "s")]):
        three.shared.audit.clear()
        said = three.kadm(*command, code=1)
        assert HELD_EVERYWHERE in said.out + said.err, said
        assert three.deleted_in_members() == []
    three.apply("--allow-deletes", "1", code=1)
    assert three.deleted_in_members() == [("member2", "configmaps/p"), ("member3", "configmaps/p")]
    three.apply("--allow-deletes", "6")
    assert three.deleted_in_members() == [("member1", name) for name in deletes(*"abcdep")]


def test_an_object_may_leave_all_members(three: SmallFleet) -> None:
    three.write(*first_alone(three), *configs(three, "qrstuv"))
    three.apply()
    assert three.deleted_in_members() == [(member, "configmaps/p") for member in MEMBERS]


def test_deletions_are_narrowed_to_the_members_that_are_asked_for(three: SmallFleet) -> None:
    three.write(*first_alone(three), *configs(three, "qrstuv"))
    three.apply("--cluster", "member2")
    assert three.deleted_in_members() == [("member2", "configmaps/p")]
    three.apply("--cluster", "member1", "--cluster", "member3")
    assert three.deleted_in_members() == [("member1", "configmaps/p"), ("member3", "configmaps/p")]


def test_a_total_of_deletions(three: SmallFleet) -> None:
    file = three.root / "kadm.yaml"
    fleet_file = yaml.safe_load(file.read_text())
    fleet_file["spec"]["deletions"] = {"total": 2}
    file.write_text(yaml.safe_dump(fleet_file))
    three.write(*first_alone(three), *configs(three, "qrstuv"))
    assert {(one["why"], one["flag"]) for one in three.plan()["held"]} == {
        ("3 deletions in all members, 2 allowed", "--allow-deletes 1")
    }
    three.apply(code=1)
    assert three.deleted_in_members() == []
    three.apply("--allow-deletes", "1")
    assert three.deleted_in_members() == [(member, "configmaps/p") for member in MEMBERS]


@pytest.mark.parametrize("flags", [[], ["-o", "json"]], ids=["text", "json"])
def test_what_is_held_back_is_told_on_stderr_too(fleet: SmallFleet, flags: list[str]) -> None:
    fleet.write(*configs(fleet, "abc"), annotated(config(fleet.name, "d"), kadm_protect="true"))
    fleet.apply("--allow-deletes", "1")
    fleet.write(*configs(fleet, "abc"))
    said = fleet.kadm("apply", "--yes", *flags, code=1)
    assert said.err == (
        f"error: 1 change is held back: delete ConfigMap {fleet.name}/d (to permit: --allow-protected)\n"
    )
