"""What must not happen on real API servers either.

A mix of two commits, a workload that leaves before it has arrived, a deletion too many, a Secret that shows, a field of
somebody else taken without a word.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.e2e.audit import audited
from tests.e2e.canary import shown
from tests.e2e.limited import READS, limited
from tests.e2e.meanwhile import applying, until_it_waits, wait_until
from tests.e2e.running import Tools
from tests.e2e.situations import configs
from tests.e2e.small_fleet import (
    Obj,
    Shared,
    SmallFleet,
    autoscaler,
    config,
    deployment,
    namespace,
    small_fleet,
)
from tests.real.conftest import MakeFleet
from tests.real.fleet import Fleet
from tests.real.members import Members

pytestmark = [pytest.mark.e2e, pytest.mark.real, pytest.mark.timeout(600)]

Json = Any

SCALER_IS_RECORDED_SINCE = (1, 22)
"""An older server does not record who wrote a scale subresource."""

UNVERIFIED = "unverified (no permission to patch)"
NOWHERE = {"nodeSelector": {"nowhere": "true"}}
"""A pod that no node takes is never ready."""


@pytest.fixture
def small(shared: Shared, tmp_path: Path) -> SmallFleet:
    """A fleet in one member, driven in this process."""
    return small_fleet(shared, tmp_path / "fleet", spec={"deletions": {"max": 10, "percent": 40}})


# Two applies at once.


@pytest.fixture
def busy(fleet: MakeFleet) -> Fleet:
    """A fleet whose apply takes as long as --timeout says."""
    made = fleet()
    obj = deployment(made.name, "slow", replicas=1)
    obj["spec"]["template"]["spec"] |= NOWHERE
    made.write("manifests/slow.yaml", yaml.safe_dump(obj))
    made.write("manifests/c.yaml", yaml.safe_dump(config(made.name, data={"v": "first"})))
    return made


def values(fleet: Fleet) -> set[str]:
    """What the members' ConfigMaps say."""
    names = fleet.members.names
    return {fleet.tools.get(one, "configmap/c", "-n", fleet.name)["data"]["v"] for one in names}


def test_the_second_of_two_is_refused_and_told_who_holds(busy: Fleet) -> None:
    with applying(busy.tools, busy.root) as holder:
        until_it_waits(holder, "slow")
        busy.write("manifests/c.yaml", yaml.safe_dump(config(busy.name, data={"v": "second"})))
        said = busy.apply("--lock-timeout", "0", code=1)
        assert f"(process {holder.pid}) since " in said.err
        assert values(busy) == {"first"}


def test_the_second_of_two_waits_and_the_end_is_its_commit(busy: Fleet) -> None:
    other = shutil.copytree(busy.root, busy.tools.cwd / "other")
    (other / "manifests/c.yaml").write_text(yaml.safe_dump(config(busy.name, data={"v": "second"})))
    with applying(busy.tools, busy.root, "--timeout", "3") as first:
        until_it_waits(first, "slow")
        said = busy.tools.kadm("-C", other, "apply", "--yes", "--no-wait")
    assert f"(process {first.pid}) since " in said.err
    assert values(busy) == {"second"}


# A workload that moves.


@pytest.fixture(params=["Divide", "Duplicate"])
def moving(fleet: MakeFleet, request: pytest.FixtureRequest) -> Fleet:
    """A fleet whose Deployment, divided or whole, runs in the first member, and is to leave for the last."""
    mode: str = request.param
    made = fleet()
    obj = deployment(made.name)
    obj["metadata"]["labels"] = {"kubeadmiral.io/cluster-propagation-policy-name": "one"}
    made.write("manifests/web.yaml", yaml.safe_dump(obj))
    made.write("manifests/c.yaml", yaml.safe_dump(config(made.name)))
    send_to(made, made.members.names[0], mode)
    made.apply()
    send_to(made, made.members.names[-1], mode)
    return made


def send_to(fleet: Fleet, member: str, mode: str) -> None:
    """Have the policy place the Deployment in this member."""
    spec = {"schedulingMode": mode, "placement": [{"cluster": member}]}
    policy = {
        "apiVersion": "core.kubeadmiral.io/v1alpha1",
        "kind": "ClusterPropagationPolicy",
        "metadata": {"name": "one"},
        "spec": {**spec, "reschedulePolicy": {"rescheduleWhen": {"policyContentChanged": True}}},
    }
    fleet.write("policies/one.yaml", yaml.safe_dump(policy))


def refuses(fleet: Fleet) -> None:
    """The last member takes no Deployment."""
    limit(fleet, {"count/deployments.apps": "0"})


def lacks_room_for_pods(fleet: Fleet) -> None:
    """The last member takes the Deployment, but no pod."""
    limit(fleet, {"pods": "0"})


def limit(fleet: Fleet, hard: dict[str, str]) -> None:
    access = fleet.members.access(fleet.members.names[-1])
    path = f"/api/v1/namespaces/{fleet.name}/resourcequotas"
    quota = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "q"}, "spec": {"hard": hard}}
    access.call("POST", path, quota)
    wait_until(lambda: access.call("GET", f"{path}/q").get("status", {}).get("hard") == hard)


def has_no_node_for_it(fleet: Fleet) -> None:
    """No pod of it finds a node in the last member."""
    patch = {"operator": "add", "path": "/spec/template/spec/nodeSelector", "value": NOWHERE["nodeSelector"]}
    rule = {
        "targetClusters": {"clusters": [fleet.members.names[-1]]},
        "overriders": {"jsonpatch": [patch]},
    }
    policy = {
        "apiVersion": "core.kubeadmiral.io/v1alpha1",
        "kind": "ClusterOverridePolicy",
        "metadata": {"name": "nowhere"},
        "spec": {"overrideRules": [rule]},
    }
    fleet.write("policies/nowhere.yaml", yaml.safe_dump(policy))
    path = fleet.root / "manifests/web.yaml"
    obj = yaml.safe_load(path.read_text(encoding="utf-8"))
    obj["metadata"]["labels"]["kubeadmiral.io/cluster-override-policy-name"] = "nowhere"
    path.write_text(yaml.safe_dump(obj), encoding="utf-8")


@pytest.mark.parametrize(
    ("ill", "reason"),
    [
        pytest.param(refuses, "raise this ResourceQuota in the member", id="the new member rejects it"),
        pytest.param(lacks_room_for_pods, "exceeded quota", id="the new member rejects its pods"),
        pytest.param(has_no_node_for_it, "node", id="it is never ready there"),
    ],
)
def test_a_workload_stays_until_it_has_arrived(moving: Fleet, ill: Callable[[Fleet], None], reason: str) -> None:
    first, last = moving.members.names[0], moving.members.names[-1]
    ill(moving)
    said = moving.apply("--timeout", "2", code=1)
    live = moving.tools.get(first, "deployment/web", "-n", moving.name)
    assert (live["spec"]["replicas"], live["status"].get("readyReplicas")) == (2, 2)
    assert (last in said.err, reason in said.err) == (True, True), said.err


def test_a_workload_leaves_once_it_has_arrived(moving: Fleet) -> None:
    moving.apply()
    found = {
        member: moving.tools.get(member, "deployments", "-n", moving.name)["items"] for member in moving.members.names
    }
    assert [member for member, items in found.items() if items] == [moving.members.names[-1]]
    moving.nothing_to_do()


# A credential that may only read.


def test_a_plan_by_a_reader(small: SmallFleet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small.write(config(small.name), config(small.name, "gone"), deployment(small.name))
    small.apply()
    with limited(small, tmp_path / "reader") as kubeconfig:
        monkeypatch.setenv("KUBECONFIG", str(kubeconfig))
        assert small.plan("--detailed-exitcode")["summary"]["unchanged"] == 4
        small.member.merge(deployment(small.name), {"spec": {"replicas": 3}})
        small.write(config(small.name, data={"other": "x"}), config(small.name, "new"), deployment(small.name))
        plan = small.plan("--detailed-exitcode", code=2)
        found = {
            f"{one['kind']}/{one['name']}": (one["action"], [field["path"] for field in one["fields"]], one.get("note"))
            for one in plan["changes"]
        }
        assert found == {
            "ConfigMap/c": ("update", ["data.k", "data.other"], UNVERIFIED),
            "ConfigMap/gone": ("delete", [], None),
            "ConfigMap/new": ("create", ["data.k"], UNVERIFIED),
            "Deployment/web": ("update", ["spec.replicas"], UNVERIFIED),
        }
        said = small.kadm("apply", "--yes", code=None)
        assert (said.code != 0, "forbidden" in said.err) == (True, True)


# Who else writes.


def taken(fleet: SmallFleet) -> list[tuple[str, Json, Json, str | None]]:
    """Path, before, after and manager of every field that the next apply writes."""
    return [
        (field["path"], field["before"], field["after"], field.get("manager"))
        for change in fleet.plan()["changes"]
        for field in change["fields"]
    ]


def test_kubectl_edit_is_taken_back(small: SmallFleet, members: Members, tools: Tools) -> None:
    small.write(config(small.name, data={"k": "v"}))
    small.apply()
    tools.env |= {"KUBECONFIG": str(members.kubeconfig), "KUBE_EDITOR": "sed -i 's/k: v/k: mine/'"}
    tools.kubectl("member1", "edit", "configmap/c", "-n", small.name)
    assert taken(small) == [("data.k", "mine", "v", "kubectl-edit")]
    small.apply()
    assert small.member.get(config(small.name))["data"] == {"k": "v"}


def test_kubectl_scale_is_taken_back(small: SmallFleet, members: Members, tools: Tools) -> None:
    small.write(deployment(small.name))
    small.apply()
    tools.env["KUBECONFIG"] = str(members.kubeconfig)
    tools.kubectl("member1", "scale", "deployment/web", "--replicas=1", "-n", small.name)
    manager = "kubectl" if members.version >= SCALER_IS_RECORDED_SINCE else None
    assert taken(small) == [("spec.replicas", 1, 2, manager)]
    small.apply()
    assert small.member.get(deployment(small.name))["spec"]["replicas"] == 2


def test_a_controllers_field_is_left_unless_git_sets_it(small: SmallFleet) -> None:
    small.write(config(small.name))
    small.apply()
    small.member.merge(config(small.name), {"data": {"status": "seen"}}, "controller")
    assert small.plan("--detailed-exitcode")["changes"] == []
    small.member.merge(config(small.name), {"data": {"k": "theirs"}}, "controller")
    assert taken(small) == [("data.k", "theirs", "v", "controller")]
    small.apply()
    assert small.member.get(config(small.name))["data"] == {"k": "v", "status": "seen"}


def test_an_autoscaler_that_nobody_declared_is_taken_back(small: SmallFleet, members: Members) -> None:
    small.write(deployment(small.name))
    small.apply()
    small.member.scale(deployment(small.name), 3, "scaler")
    manager = "scaler" if members.version >= SCALER_IS_RECORDED_SINCE else None
    assert taken(small) == [("spec.replicas", 3, 2, manager)]


def test_the_replicas_of_an_autoscaled_workload_are_left(small: SmallFleet) -> None:
    small.write(deployment(small.name), autoscaler(small.name, "v1"))
    small.apply()
    small.member.scale(deployment(small.name), 3, "horizontal-pod-autoscaler")
    assert small.plan("--detailed-exitcode")["changes"] == []
    changed = deployment(small.name, replicas=4)
    changed["spec"]["template"]["spec"]["containers"][0]["image"] = "app:2"
    small.write(changed, autoscaler(small.name, "v1"))
    assert [path for path, *_ in taken(small)] == ["spec.template.spec.containers[name=app].image"]
    small.apply()
    assert small.member.get(changed)["spec"]["replicas"] == 3


# Deletions.


def test_nothing_is_deleted_where_a_list_is_refused(
    small: SmallFleet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever may do everything but list the kind of what leaves."""
    small.write(*configs(small), deployment(small.name))
    small.apply()
    small.write(*configs(small, "bcde"))
    writes = {"apiGroups": ["*"], "resources": ["*"], "verbs": ["get", "create", "update", "patch", "delete"]}
    lists = {**READS, "apiGroups": ["apps", "autoscaling", "coordination.k8s.io"]}
    with limited(small, tmp_path / "lacking", (writes, lists)) as kubeconfig:
        (tmp_path / "proxy").mkdir()
        with audited(kubeconfig.parent, tmp_path / "proxy") as audit:
            monkeypatch.setenv("KUBECONFIG", str(audit.kubeconfig))
            said = small.kadm("apply", "--yes", code=None)
        sent = [one.path for one in audit.requests if one.method == "DELETE" and "/leases/" not in one.path]
    assert (sent, "read forbidden (403 Forbidden)" in said.out + said.err) == ([], True), said


# Secrets.


def test_no_secret_is_shown(fleet: MakeFleet, tools: Tools) -> None:
    made = fleet()
    made.join(made.members.names[0])
    assert shown(tools, made.root, plain=True, namespace=made.name, offline=False) == []


# Adoption.


def pods(fleet: SmallFleet) -> set[str]:
    """The uids of the pods in the fleet's namespace."""
    found = fleet.member.send("GET", f"/api/v1/namespaces/{fleet.name}/pods")["items"]
    return {one["metadata"]["uid"] for one in found}


def test_what_kubectl_made_is_adopted_and_let_go(small: SmallFleet, members: Members, tools: Tools) -> None:
    obj: Obj = deployment(small.name, minReadySeconds=1)
    small.member.create(namespace(small.name))
    tools.env["KUBECONFIG"] = str(members.kubeconfig)
    text = json.dumps(obj)
    said = tools.run("kubectl", "--context", "member1", "apply", "-f", "-", stdin=text)
    assert said.code == 0, said.err
    wait_until(lambda: (small.member.get(obj).get("status") or {}).get("availableReplicas") == 2)
    before = pods(small)
    small.write(config(small.name), deployment(small.name))
    assert small.actions()["Deployment/web"] == "held: --adopt deployment/web, or --adopt-all"
    assert ("spec.minReadySeconds", 1, None, "kubectl-client-side-apply") in [
        (field["path"], field["before"], field["after"], field.get("manager"))
        for change in small.plan("--adopt-all")["changes"]
        for field in change["fields"]
    ]
    small.apply("--adopt-all")
    live = small.member.get(obj)
    managers = [one["manager"] for one in live["metadata"]["managedFields"] if one["operation"] == "Apply"]
    assert ("minReadySeconds" in live["spec"], managers) == (False, [f"kadm-{small.name}"])
    assert pods(small) == before, "no pod was restarted"
    assert small.plan("--detailed-exitcode")["changes"] == []
    small.write(config(small.name))
    assert small.actions() == {"Deployment/web": "release"}, "the record says that it was adopted"
    small.apply()
    assert small.deleted() == []
    released = small.member.get(obj)["metadata"]
    assert [one["manager"] for one in released["managedFields"] if one["operation"] == "Apply"] == []
    assert "applyset.kubernetes.io/part-of" not in (released.get("labels") or {})
    assert pods(small) == before
