"""Situations before an apply that deletes, or must not: each brings one about in a small fleet.

The fleet holds ConfigMaps ``a`` to ``e`` in a namespace of its own in one member, embedded or real.
"""

from __future__ import annotations

import base64
import json
import shutil

import yaml

from tests.e2e.audit import Request
from tests.e2e.faults import Fault
from tests.e2e.meanwhile import wait_until
from tests.e2e.small_fleet import (
    EVERYWHERE,
    Member,
    Obj,
    SmallFleet,
    annotated,
    config,
    deployment,
    namespace,
    small_fleet,
)

NAMES = "abcde"


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


def lists_stop_half_way(fleet: SmallFleet) -> None:
    fleet.write(*configs(fleet, "bcde"))
    fleet.shared.fault("member1", Fault(mode="stall", path=r"/configmaps\?.*labelSelector"))


def lists_are_limited_for_a_moment(fleet: SmallFleet) -> None:
    fleet.write(*configs(fleet, "bcde"))
    fleet.shared.fault("member1", Fault(mode="status", status=429, path=r"/configmaps\?.*labelSelector", times=1))


def undiscovered(member: Member, group_version: str) -> tuple[Fault, ...]:
    """Faults by which the discovery of one group fails; there is no aggregated discovery then, for it is one answer."""
    groups = json.dumps(member.send("GET", "/apis"))
    return (
        Fault(mode="status", status=200, body=groups, path=r"^/apis(\?|$)"),
        Fault(mode="status", status=503, path=rf"^/apis/{group_version}(\?|$)"),
    )


def discovery_fails_for_what_stays(fleet: SmallFleet) -> None:
    fleet.write(*configs(fleet), deployment(fleet.name))
    fleet.apply("--no-wait")
    fleet.write(*configs(fleet, "bcde"), deployment(fleet.name))
    fleet.shared.fault("member1", *undiscovered(fleet.member, "apps/v1"))


def discovery_fails_for_what_leaves_with_it(fleet: SmallFleet) -> None:
    discovery_fails_for_what_stays(fleet)
    fleet.write(*configs(fleet, "bcde"))


def discovery_fails(fleet: SmallFleet) -> None:
    fleet.write(*configs(fleet, "bcde"))
    fail(fleet, r"^/apis?(\?|$)", 503)


def the_member_is_not_reached(fleet: SmallFleet) -> None:
    fleet.write(*configs(fleet, "bcde"))
    fleet.shared.fault("member1", Fault(mode="reset"))


def nobody_is_let_in(fleet: SmallFleet) -> None:
    fleet.write(*configs(fleet, "bcde"))
    fail(fleet, "", 401)


def the_record_cannot_be_written(fleet: SmallFleet) -> None:
    """What leaves is in it still, and what comes must be before it is made."""
    fleet.write(config(fleet.name, "new"), *configs(fleet, "bcde"))
    fail(fleet, rf"/configmaps/kadm-{fleet.name}\?", 403, methods=("PUT",))


def the_lease_cannot_be_taken(fleet: SmallFleet) -> None:
    fleet.write(*configs(fleet, "bcde"))
    fail(fleet, "/leases", 403, methods=("POST", "PUT"))


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


def the_deletion_fails_for_a_moment(fleet: SmallFleet) -> None:
    fleet.write(*configs(fleet, "bcde"))
    a = rf"/namespaces/{fleet.name}/configmaps/a"
    fleet.shared.fault("member1", Fault(mode="status", status=500, path=a, methods=("DELETE",), times=1))


def the_answer_to_the_deletion_is_lost(fleet: SmallFleet) -> None:
    fleet.write(*configs(fleet, "bcde"))
    a = rf"/namespaces/{fleet.name}/configmaps/a"
    fleet.shared.fault("member1", Fault(mode="stall", path=a, methods=("DELETE",)))


def it_is_made_anew_when_it_is_deleted(fleet: SmallFleet) -> None:
    fleet.write(*configs(fleet, "bcde"))

    def meanwhile(request: Request, status: int | None) -> bool:
        if request.method == "DELETE" and request.path.endswith("/configmaps/a") and status is None:
            fleet.member.delete(config(fleet.name, "a"))
            fleet.member.create(config(fleet.name, "a"))
        return True

    fleet.shared.audit.hook = meanwhile


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
    wait_until(lambda: fleet.member.get(crd(fleet)) is None)  # its objects go first
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
