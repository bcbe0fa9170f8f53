"""Deletion is the dangerous verb: exactly which DELETE requests an apply sends in each situation (design, section 8).

Every scenario begins with a fleet that holds ConfigMaps ``a`` to ``e`` in a namespace of its own in one member.
"""

from __future__ import annotations

import base64
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from kadm.sandbox.faults import Fault
from tests.e2e.small_fleet import (
    EVERYWHERE,
    Obj,
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
NAMES = "abcde"


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shared]:
    with shared_sandbox(tmp_path_factory.mktemp("deletions")) as found:
        yield found


@pytest.fixture
def fleet(shared: Shared, tmp_path: Path) -> Iterator[SmallFleet]:
    fleet = small_fleet(shared, tmp_path / "fleet", spec={"deletions": {"max": 10, "percent": 40}})
    fleet.write(*configs(fleet))
    fleet.apply()
    yield fleet
    shared.fault("member1")


def configs(fleet: SmallFleet, names: str = NAMES) -> list[Obj]:
    return [config(fleet.name, name) for name in names]


def deletes(*names: str) -> list[str]:
    return [f"configmaps/{name}" for name in names]


def fail(fleet: SmallFleet, path: str, status: int = 500, *, methods: tuple[str, ...] = ("GET",)) -> None:
    fleet.shared.fault("member1", Fault(mode="status", status=status, path=path, methods=methods))


def record(fleet: SmallFleet) -> Obj:
    return config("kadm-system", f"kadm-{fleet.name}")


# What stands in the way of reading.


def lists_are_refused(fleet: SmallFleet) -> None:
    fleet.write(*configs(fleet, "bcde"))
    fail(fleet, r"/configmaps\?.*labelSelector", 403)


def lists_fail(fleet: SmallFleet) -> None:
    fleet.write(*configs(fleet, "bcde"))
    fail(fleet, r"/configmaps\?.*labelSelector", 500)


def lists_are_cut_off(fleet: SmallFleet) -> None:
    fleet.write(*configs(fleet, "bcde"))
    fleet.shared.fault("member1", Fault(mode="garble", path=r"/configmaps\?.*labelSelector"))


def another_kind_is_unread(fleet: SmallFleet) -> None:
    service = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "s", "namespace": fleet.name},
        "spec": {"ports": [{"port": 80}]},
    }
    fleet.write(*configs(fleet), service)
    fleet.apply()
    fleet.write(*configs(fleet, "bcde"), service)
    fail(fleet, r"/services/s")


def its_label_is_gone_and_it_cannot_be_read(fleet: SmallFleet) -> None:
    fleet.member.merge(config(fleet.name, "a"), {"metadata": {"labels": None}})
    fleet.write(*configs(fleet, "bcde"))
    fail(fleet, rf"/namespaces/{fleet.name}/configmaps/a")


def its_label_is_gone(fleet: SmallFleet) -> None:
    fleet.member.merge(config(fleet.name, "a"), {"metadata": {"labels": None}})
    fleet.write(*configs(fleet, "bcde"))


def discovery_fails(fleet: SmallFleet) -> None:
    fleet.write(*configs(fleet, "bcde"))
    fail(fleet, r"^/apis?(\?|$)", 503)


def the_member_is_not_reached(fleet: SmallFleet) -> None:
    fleet.write(*configs(fleet, "bcde"))
    fleet.shared.fault("member1", Fault(mode="reset"))


def the_record_cannot_be_read(fleet: SmallFleet) -> None:
    fleet.write(*configs(fleet, "bcde"))
    fail(fleet, rf"/configmaps/kadm-{fleet.name}$", 500)


def the_record_may_not_be_read(fleet: SmallFleet) -> None:
    fleet.write(*configs(fleet, "bcde"))
    fail(fleet, rf"/configmaps/kadm-{fleet.name}$", 403)


def the_record_is_damaged(fleet: SmallFleet) -> None:
    live = fleet.member.get(record(fleet))
    garbage = {name: base64.b64encode(b"nonsense").decode() for name in live["binaryData"]}
    fleet.member.merge(record(fleet), {"binaryData": garbage})
    fleet.write(*configs(fleet, "bcde"))


def the_record_is_lost(fleet: SmallFleet) -> None:
    fleet.member.delete(record(fleet))
    fleet.write(*configs(fleet, "bcde"))


def all_that_kadm_wrote_down_is_lost(fleet: SmallFleet) -> None:
    stamps = record(fleet)
    fleet.member.delete({**stamps, "metadata": {**stamps["metadata"], "name": f"kadm-{fleet.name}.state"}})
    the_record_is_lost(fleet)


def the_record_is_of_another_cluster(fleet: SmallFleet) -> None:
    other = small_fleet(fleet.shared, fleet.root.parent / "other")
    other.write(config(other.name))
    other.apply()
    theirs = fleet.member.get(record(other))
    metadata = {name: theirs["metadata"][name] for name in ("annotations", "labels")}
    fleet.member.merge(
        record(fleet), {"binaryData": theirs["binaryData"], "data": theirs["data"], "metadata": metadata}
    )
    fleet.write(*configs(fleet, "bcde"))


# What is wrong with the repository.


def a_file_is_broken(fleet: SmallFleet) -> None:
    fleet.write(*configs(fleet, "bcde"))
    (fleet.root / "manifests/broken.yaml").write_text("a: [")


def a_field_of_the_fleet_is_unknown(fleet: SmallFleet) -> None:
    fleet.write(*configs(fleet, "bcde"))
    file = fleet.root / "kadm.yaml"
    file.write_text(file.read_text() + "extra: 1\n")


def an_override_fails_in_the_same_namespace(fleet: SmallFleet) -> None:
    override = {
        "apiVersion": "core.kubeadmiral.io/v1alpha1",
        "kind": "ClusterOverridePolicy",
        "metadata": {"name": "broken"},
        "spec": {
            "overrideRules": [
                {"overriders": {"jsonpatch": [{"operator": "remove", "path": "/data/none/deeper/still"}]}}
            ]
        },
    }
    fleet.write(override, path="policies/broken.yaml")
    changed = config(fleet.name, "b")
    changed["metadata"]["labels"] = {"kubeadmiral.io/cluster-override-policy-name": "broken"}
    fleet.write(changed, *configs(fleet, "cde"))


def a_policy_is_missing(fleet: SmallFleet) -> None:
    changed = config(fleet.name, "b")
    changed["metadata"]["labels"] = {"kubeadmiral.io/cluster-propagation-policy-name": "none"}
    fleet.write(changed, *configs(fleet, "cde"))


def the_repository_is_empty(fleet: SmallFleet) -> None:
    fleet.write()


def the_directory_is_gone(fleet: SmallFleet) -> None:
    shutil.rmtree(fleet.root / "manifests")


def the_directory_is_another(fleet: SmallFleet) -> None:
    shutil.move(fleet.root / "manifests", fleet.root / "apps")
    file = fleet.root / "kadm.yaml"
    fleet_file = yaml.safe_load(file.read_text())
    fleet_file["spec"]["manifests"] = ["apps"]
    file.write_text(yaml.safe_dump(fleet_file))


def the_file_is_another(fleet: SmallFleet) -> None:
    fleet.write()
    fleet.write(*configs(fleet), path="manifests/deeper/other.yaml")


def the_policy_is_another(fleet: SmallFleet) -> None:
    (fleet.root / "policies/again.yaml").write_text(EVERYWHERE.replace("name: everywhere", "name: again"))
    objects = configs(fleet)
    for obj in objects:
        obj["metadata"]["labels"] = {"kubeadmiral.io/cluster-propagation-policy-name": "again"}
    fleet.write(*objects)


def no_policy_places_it_here_any_more(fleet: SmallFleet) -> None:
    policy = yaml.safe_load(EVERYWHERE)
    policy["spec"]["clusterSelector"] = {"nowhere": "true"}
    fleet.write(policy, path="policies/everywhere.yaml")


def writes_are_suspended(fleet: SmallFleet) -> None:
    fleet.write(*configs(fleet, "bcde"))
    file = fleet.root / "kadm.yaml"
    fleet_file = yaml.safe_load(file.read_text())
    fleet_file["spec"]["suspend"] = True
    file.write_text(yaml.safe_dump(fleet_file))


# What leaves, and how much of it.


def one_leaves(fleet: SmallFleet) -> None:
    fleet.write(*configs(fleet, "bcde"))


def two_leave(fleet: SmallFleet) -> None:
    fleet.write(*configs(fleet, "cde"))


def four_leave(fleet: SmallFleet) -> None:
    fleet.write(*configs(fleet, "e"))


def no_deletion_is_allowed(fleet: SmallFleet) -> None:
    fleet.write(*configs(fleet, "bcde"))
    file = fleet.root / "kadm.yaml"
    fleet_file = yaml.safe_load(file.read_text())
    fleet_file["spec"]["deletions"] = {"max": 0, "percent": 100}
    file.write_text(yaml.safe_dump(fleet_file))


def one_is_protected(fleet: SmallFleet) -> None:
    fleet.write(annotated(config(fleet.name, "a"), kadm_protect="true"), *configs(fleet, "bcde"))
    fleet.apply()
    fleet.write(*configs(fleet, "cde"))


def one_is_protected_by_hand(fleet: SmallFleet) -> None:
    fleet.member.merge(config(fleet.name, "a"), {"metadata": {"annotations": {"kadm.io/protect": "true"}}})
    fleet.write(*configs(fleet, "cde"))


def one_is_suspended(fleet: SmallFleet) -> None:
    fleet.member.merge(config(fleet.name, "a"), {"metadata": {"annotations": {"kadm.io/suspend": "true"}}})
    fleet.write(*configs(fleet, "bcde"))


def one_is_kept_by_a_member(fleet: SmallFleet) -> None:
    fleet.member.merge(config(fleet.name, "a"), {"metadata": {"labels": {"kubeadmiral.io/managed": "false"}}})
    fleet.write(*configs(fleet, "bcde"))


def one_was_adopted(fleet: SmallFleet) -> None:
    fleet.member.create(config(fleet.name, "z"))
    fleet.write(*configs(fleet), config(fleet.name, "z"))
    fleet.apply("--adopt-all")
    fleet.write(*configs(fleet, "bcde"))


def one_is_an_orphan(fleet: SmallFleet) -> None:
    fleet.write(annotated(config(fleet.name, "a"), ka_orphan="all"), *configs(fleet, "bcde"))
    fleet.apply()
    fleet.write(*configs(fleet, "cde"))


def one_was_made_anew_by_somebody(fleet: SmallFleet) -> None:
    fleet.member.delete(config(fleet.name, "a"))
    fleet.member.create(config(fleet.name, "a"))
    fleet.write(*configs(fleet, "bcde"))


def somebody_elses_has_the_label(fleet: SmallFleet) -> None:
    live = fleet.member.get(config(fleet.name, "a"))
    theirs = config(fleet.name, "theirs")
    theirs["metadata"]["labels"] = live["metadata"]["labels"]
    fleet.member.create(theirs)


def a_child_has_the_label(fleet: SmallFleet) -> None:
    live = fleet.member.get(config(fleet.name, "a"))
    child = config(fleet.name, "child")
    child["metadata"]["labels"] = live["metadata"]["labels"]
    owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": "a", "uid": live["metadata"]["uid"]}
    child["metadata"]["ownerReferences"] = [owner]
    fleet.member.create(child)


def one_is_being_deleted(fleet: SmallFleet) -> None:
    fleet.member.merge(config(fleet.name, "a"), {"metadata": {"finalizers": ["example.com/wait"]}})
    fleet.member.delete(config(fleet.name, "a"))
    fleet.write(*configs(fleet, "bcde"))


def one_is_gone_already(fleet: SmallFleet) -> None:
    fleet.member.delete(config(fleet.name, "a"))
    fleet.write(*configs(fleet, "bcde"))


def its_successor_is_refused(fleet: SmallFleet) -> None:
    wrong = config(fleet.name, "new")
    wrong["data"] = {"not a key": "v"}
    fleet.write(wrong, *configs(fleet, "bcde"))


def its_successor_is_not_ready(fleet: SmallFleet) -> None:
    large = deployment(fleet.name)
    large["spec"]["template"]["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "900"}}
    fleet.write(large, *configs(fleet, "bcde"))


def the_member_refuses_the_deletion(fleet: SmallFleet) -> None:
    fleet.write(*configs(fleet, "bcde"))
    fail(fleet, rf"/namespaces/{fleet.name}/configmaps/a", 403, methods=("DELETE",))


# Namespaces.


def elsewhere(fleet: SmallFleet) -> list[Obj]:
    """What stays, so that the member does not drop to nothing: in another namespace."""
    return [config(f"{fleet.name}-stays", name) for name in "stuvw"]


def its_namespace_leaves(fleet: SmallFleet) -> None:
    fleet.write(*configs(fleet, "ab"), *elsewhere(fleet))
    fleet.apply("--allow-deletes", "9")
    fleet.write(*elsewhere(fleet))


def with_a_foreign_object(fleet: SmallFleet) -> None:
    fleet.member.create(config(fleet.name, "theirs"))
    its_namespace_leaves(fleet)


def with_a_claim(fleet: SmallFleet) -> None:
    claim = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "data", "namespace": fleet.name},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
    }
    fleet.member.create(claim)
    its_namespace_leaves(fleet)


def with_an_adopted_object(fleet: SmallFleet) -> None:
    fleet.member.create(config(fleet.name, "z"))
    fleet.write(*configs(fleet, "ab"), config(fleet.name, "z"), *elsewhere(fleet))
    fleet.apply("--adopt-all", "--allow-deletes", "9")
    fleet.write(*elsewhere(fleet))


def with_a_protected_object(fleet: SmallFleet) -> None:
    fleet.member.merge(config(fleet.name, "a"), {"metadata": {"annotations": {"kadm.io/protect": "true"}}})
    its_namespace_leaves(fleet)


def with_workloads(fleet: SmallFleet) -> None:
    """Pods and ReplicaSets belong to what kadm deletes."""
    fleet.write(*configs(fleet, "ab"), deployment(fleet.name), *elsewhere(fleet))
    fleet.apply("--allow-deletes", "9")
    fleet.write(*elsewhere(fleet))


def whose_contents_are_unread(fleet: SmallFleet) -> None:
    its_namespace_leaves(fleet)
    fail(fleet, rf"/namespaces/{fleet.name}/pods", 403)


def that_was_there_before(fleet: SmallFleet) -> None:
    name = f"{fleet.name}-old"
    fleet.member.create(namespace(name))
    fleet.write(*configs(fleet), config(name, "z"))
    fleet.apply()
    fleet.write(*configs(fleet))


# Kinds with a life of their own.

CRD_SCHEMA = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


def crd(fleet: SmallFleet) -> Obj:
    group = f"{fleet.name}.example.com"
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"things.{group}"},
        "spec": {
            "group": group,
            "names": {"kind": "Thing", "plural": "things", "singular": "thing", "listKind": "ThingList"},
            "scope": "Namespaced",
            "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": CRD_SCHEMA}}],
        },
    }


def thing(fleet: SmallFleet, name: str = "t") -> Obj:
    return {
        "apiVersion": f"{fleet.name}.example.com/v1",
        "kind": "Thing",
        "metadata": {"name": name, "namespace": fleet.name},
        "spec": {"a": 1},
    }


def an_empty_crd_leaves(fleet: SmallFleet) -> None:
    fleet.write(*configs(fleet), crd(fleet))
    fleet.apply()
    fleet.write(*configs(fleet))


def a_crd_leaves_with_its_objects(fleet: SmallFleet) -> None:
    fleet.write(*configs(fleet), crd(fleet), thing(fleet))
    fleet.apply()
    fleet.write(*configs(fleet))


def a_crd_with_foreign_objects_leaves(fleet: SmallFleet) -> None:
    fleet.write(*configs(fleet), crd(fleet))
    fleet.apply()
    fleet.member.create(thing(fleet))
    fleet.write(*configs(fleet))


def a_crd_was_deleted_by_hand(fleet: SmallFleet) -> None:
    fleet.write(*configs(fleet), crd(fleet), thing(fleet))
    fleet.apply()
    fleet.member.delete(crd(fleet))
    fleet.write(*configs(fleet), crd(fleet))


def a_claim_leaves(fleet: SmallFleet) -> None:
    claim = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "data", "namespace": fleet.name},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
    }
    fleet.write(*configs(fleet), claim)
    fleet.apply()
    fleet.write(*configs(fleet))


def another_fleet_drops_to_nothing(fleet: SmallFleet) -> None:
    other = small_fleet(fleet.shared, fleet.root.parent / "other")
    other.write(config(other.name))
    other.apply()
    other.write()
    other.kadm("apply", "--yes", "--allow-empty")


ALL = deletes(*NAMES)
ALLOW_9 = ["--allow-deletes", "9"]


@pytest.mark.parametrize(
    ("arrange", "flags", "want", "says"),
    [
        # reading
        pytest.param(lists_are_refused, [], [], "read forbidden (403 Forbidden)", id="a list is refused"),
        pytest.param(lists_fail, [], [], "the member failed to read (500 InternalError)", id="a list fails"),
        pytest.param(lists_are_cut_off, [], [], "the answer is not what an API server sends", id="a list is cut off"),
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
            the_member_is_not_reached, [], [], "the member failed to read (500)", id="the member is not reached"
        ),
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


@pytest.mark.parametrize("flags", [[], ["-o", "json"]], ids=["text", "json"])
def test_what_is_held_back_is_told_on_stderr_too(fleet: SmallFleet, flags: list[str]) -> None:
    fleet.write(*configs(fleet, "abc"), annotated(config(fleet.name, "d"), kadm_protect="true"))
    fleet.apply("--allow-deletes", "1")
    fleet.write(*configs(fleet, "abc"))
    said = fleet.kadm("apply", "--yes", *flags, code=1)
    assert said.err == (
        f"error: 1 change is held back: delete ConfigMap {fleet.name}/d (to permit: --allow-protected)\n"
    )
