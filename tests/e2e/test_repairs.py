"""What apply alone leaves behind or cannot express, and fields that cannot change at all."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.small_fleet import Obj, Shared, SmallFleet, annotated, config, deployment, shared_sandbox, small_fleet

pytestmark = pytest.mark.e2e


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shared]:
    with shared_sandbox(tmp_path_factory.mktemp("repairs")) as found:
        yield found


@pytest.fixture
def fleet(shared: Shared, tmp_path: Path) -> SmallFleet:
    return small_fleet(shared, tmp_path / "fleet")


def pod(obj: Obj) -> Obj:
    """The object's pod spec, to be changed in place."""
    found: Obj = obj["spec"]["template"]["spec"]
    return found


def container(obj: Obj) -> Obj:
    found: Obj = pod(obj)["containers"][0]
    return found


def with_strategy(obj: Obj) -> None:
    obj["spec"]["strategy"] = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1}}


def recreate(obj: Obj) -> None:
    obj["spec"]["strategy"] = {"type": "Recreate"}


def http_probe(obj: Obj) -> None:
    container(obj)["livenessProbe"] = {"httpGet": {"path": "/", "port": 80}}


def exec_probe(obj: Obj) -> None:
    container(obj)["livenessProbe"] = {"exec": {"command": ["true"]}}


def env_value(obj: Obj) -> None:
    container(obj)["env"] = [{"name": "A", "value": "1"}]


def env_from(obj: Obj) -> None:
    container(obj)["env"] = [{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}]


def with_account(obj: Obj) -> None:
    pod(obj)["serviceAccountName"] = "default"


def empty_dir(obj: Obj) -> None:
    pod(obj)["volumes"] = [{"name": "v", "emptyDir": {}}]


def config_volume(obj: Obj) -> None:
    pod(obj)["volumes"] = [{"name": "v", "configMap": {"name": "c", "optional": True}}]


def with_affinity(obj: Obj) -> None:
    term = {"matchExpressions": [{"key": "a", "operator": "Exists"}]}
    pod(obj)["affinity"] = {
        "nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "preference": term}]}
    }


def nothing(obj: Obj) -> None:
    """As the builder makes it."""


@pytest.mark.parametrize(
    ("before", "after", "path", "want"),
    [
        pytest.param(nothing, recreate, "spec.strategy", {"type": "Recreate"}, id="a strategy, from the default"),
        pytest.param(with_strategy, recreate, "spec.strategy", {"type": "Recreate"}, id="a strategy of git"),
        pytest.param(
            recreate,
            nothing,
            "spec.strategy",
            {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"}},
            id="and back",
        ),
        pytest.param(with_account, nothing, "spec.template.spec.serviceAccountName", None, id="a service account"),
        pytest.param(with_account, nothing, "spec.template.spec.serviceAccount", None, id="and its old name"),
        pytest.param(
            empty_dir,
            config_volume,
            "spec.template.spec.volumes",
            [{"name": "v", "configMap": {"name": "c", "optional": True, "defaultMode": 420}}],
            id="another volume",
        ),
        pytest.param(with_affinity, nothing, "spec.template.spec.affinity", None, id="an affinity"),
    ],
)
def test_repairs(
    fleet: SmallFleet, before: Callable[[Obj], None], after: Callable[[Obj], None], path: str, want: Any
) -> None:
    old, new = deployment(fleet.name), deployment(fleet.name)
    before(old)
    after(new)
    fleet.write(old)
    fleet.apply()
    generation = fleet.member.get(old)["metadata"]["generation"]
    fleet.write(new)
    fleet.apply()
    live = fleet.member.get(new)
    found = live
    for step in path.split("."):
        found = (found or {}).get(step)
    assert (found, live["metadata"]["generation"]) == (want, generation + 1), "one rollout"
    assert fleet.plan("--detailed-exitcode")["summary"]["unchanged"] == 2


def test_probe_and_environment(fleet: SmallFleet) -> None:
    old, new = deployment(fleet.name), deployment(fleet.name)
    http_probe(old)
    env_value(old)
    with_account(old)
    exec_probe(new)
    env_from(new)
    fleet.write(old)
    fleet.apply()
    fleet.write(new)
    fleet.apply()
    found = container(fleet.member.get(new))
    assert ("value" in found["env"][0], "httpGet" in found["livenessProbe"]) == (False, False)
    assert fleet.plan("--detailed-exitcode")["summary"]["unchanged"] == 2


def test_the_plan_shows_both(fleet: SmallFleet) -> None:
    fleet.write(deployment(fleet.name))
    fleet.apply()
    new = deployment(fleet.name)
    recreate(new)
    fleet.write(new)
    (change,) = fleet.plan()["changes"]
    assert {field["path"]: field["after"] for field in change["fields"]} == {
        "spec.strategy.rollingUpdate": None,
        "spec.strategy.type": "Recreate",
    }
    assert change["note"] == "repaired by a patch before the apply: spec.strategy.rollingUpdate"


def autoscaler(namespace: str, version: str, **spec: Any) -> Obj:
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
    return {
        "apiVersion": f"autoscaling/{version}",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "web", "namespace": namespace},
        "spec": {"scaleTargetRef": target, "maxReplicas": 5, **spec},
    }


def metric(name: str, value: int) -> Obj:
    return {
        "type": "Resource",
        "resource": {"name": name, "target": {"type": "Utilization", "averageUtilization": value}},
    }


@pytest.mark.parametrize(
    ("before", "after", "want"),
    [
        pytest.param(
            ("v1", {"targetCPUUtilizationPercentage": 50}),
            ("v2", {"metrics": [metric("memory", 60)]}),
            [metric("memory", 60)],
            id="v1 to v2",
        ),
        pytest.param(
            ("v1", {"targetCPUUtilizationPercentage": 50}),
            ("v2", {}),
            [metric("cpu", 80)],
            id="v1 to v2 without metrics",
        ),
        pytest.param(
            ("v2", {"metrics": [metric("cpu", 50), metric("memory", 60)]}),
            ("v1", {"targetCPUUtilizationPercentage": 50}),
            [metric("cpu", 50)],
            id="v2 to v1",
        ),
    ],
)
def test_another_api_version(fleet: SmallFleet, before: Any, after: Any, want: Any) -> None:
    fleet.write(deployment(fleet.name), autoscaler(fleet.name, before[0], **before[1]))
    fleet.apply()
    fleet.write(deployment(fleet.name), autoscaler(fleet.name, after[0], **after[1]))
    fleet.apply()
    assert fleet.member.get(autoscaler(fleet.name, "v2"))["spec"]["metrics"] == want
    assert fleet.plan("--detailed-exitcode")["summary"]["unchanged"] == 3


def relabelled(obj: Obj) -> Obj:
    new = copy.deepcopy(obj)
    new["spec"]["selector"]["matchLabels"] = {"app": "new"}
    new["spec"]["template"]["metadata"]["labels"] = {"app": "new"}
    return new


def test_an_immutable_field_is_named(fleet: SmallFleet) -> None:
    old = deployment(fleet.name)
    fleet.write(old)
    fleet.apply()
    fleet.write(relabelled(old))
    plan = fleet.plan(code=1)
    (problem,) = plan["problems"]
    assert (problem["what"], problem["where"]["path"], "kadm.io/recreate" in problem["hint"]) == (
        "spec.selector cannot change in place",
        "manifests/all.yaml",
        True,
    )
    assert problem["why"].startswith("git has another spec.selector.matchLabels.app: ")
    fleet.apply(code=1)
    assert (fleet.deleted(), fleet.member.get(old)["spec"]["selector"]) == ([], old["spec"]["selector"])


def stateful_set(namespace: str, service: str) -> Obj:
    found = deployment(namespace)
    return {**found, "kind": "StatefulSet", "spec": {**found["spec"], "serviceName": service}}


def role_binding(namespace: str, role: str) -> Obj:
    group = "rbac.authorization.k8s.io"
    return {
        "apiVersion": f"{group}/v1",
        "kind": "RoleBinding",
        "metadata": {"name": "b", "namespace": namespace},
        "roleRef": {"apiGroup": group, "kind": "Role", "name": role},
    }


def secret(namespace: str, kind: str, value: str = "aA==") -> Obj:
    return {**config(namespace, "s"), "kind": "Secret", "type": kind, "data": {"k": value}}


def claim(namespace: str, storage_class: str) -> Obj:
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "data", "namespace": namespace},
        "spec": {**spec, "storageClassName": storage_class},
    }


@pytest.mark.parametrize(
    ("make", "field"),
    [
        pytest.param(
            lambda ns, last: {**config(ns, data={"k": "new" if last else "v"}), "immutable": True},
            "data",
            id="ConfigMap",
        ),
        pytest.param(lambda ns, last: secret(ns, "b/b" if last else "a/a"), "type", id="the type of a Secret"),
        pytest.param(
            lambda ns, last: {**secret(ns, "Opaque", "bQ==" if last else "aA=="), "immutable": True},
            "data",
            id="Secret",
        ),
        pytest.param(lambda ns, last: stateful_set(ns, "new" if last else "old"), "spec", id="StatefulSet"),
        pytest.param(lambda ns, last: role_binding(ns, "new" if last else "old"), "roleRef", id="RoleBinding"),
        pytest.param(lambda ns, last: claim(ns, "new" if last else "old"), "spec", id="PersistentVolumeClaim"),
        pytest.param(
            lambda ns, last: job(ns, completions=2 if last else 1), "spec.completions", id="completions of a Job"
        ),
    ],
)
def test_immutable_fields_of_other_kinds(fleet: SmallFleet, make: Callable[[str, bool], Obj], field: str) -> None:
    fleet.write(make(fleet.name, False))
    fleet.apply("--no-wait")
    fleet.write(make(fleet.name, True))
    assert [one["what"] for one in fleet.plan(code=1)["problems"]] == [f"{field} cannot change in place"]


def test_recreation_on_request(fleet: SmallFleet) -> None:
    old = deployment(fleet.name)
    fleet.write(old)
    fleet.apply()
    uid = fleet.member.get(old)["metadata"]["uid"]
    new = annotated(relabelled(old), kadm_recreate="true")
    fleet.write(new)
    assert fleet.actions() == {"Deployment/web": "recreate"}
    fleet.apply()
    live = fleet.member.get(new)
    assert (live["spec"]["selector"], live["metadata"]["uid"] != uid) == (new["spec"]["selector"], True)
    assert fleet.plan("--detailed-exitcode")["summary"]["unchanged"] == 2
    fleet.write(config(fleet.name))
    assert fleet.actions()["Deployment/web"] == "delete", "it is kadm's own"


def test_recreation_of_what_is_protected(fleet: SmallFleet) -> None:
    old = annotated(deployment(fleet.name), kadm_protect="true", kadm_recreate="true")
    fleet.write(old)
    fleet.apply()
    fleet.write(relabelled(old))
    assert fleet.actions() == {"Deployment/web": "held: --allow-protected"}


def job(namespace: str, **spec: Any) -> Obj:
    containers = [{"name": "a", "image": "a"}]
    template = {"spec": {"restartPolicy": "Never", "containers": containers}}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "once", "namespace": namespace},
        "spec": {"template": template, **spec},
    }


@pytest.mark.parametrize(
    ("first", "then", "again"),
    [
        pytest.param({"ttlSecondsAfterFinished": 600}, {"ttlSecondsAfterFinished": 600}, {}, id="gone: it is done"),
        pytest.param(
            {"ttlSecondsAfterFinished": 600}, {"ttlSecondsAfterFinished": 9}, {"Job/once": "create"}, id="another Job"
        ),
        pytest.param({}, {}, {"Job/once": "create"}, id="somebody deleted it"),
        pytest.param({"ttlSecondsAfterFinished": 600}, {}, {"Job/once": "create"}, id="it stays now"),
    ],
)
def test_finished_jobs(fleet: SmallFleet, first: Obj, then: Obj, again: dict[str, str]) -> None:
    fleet.write(job(fleet.name, **first))
    fleet.apply("--no-wait")
    fleet.member.delete(job(fleet.name))
    fleet.write(job(fleet.name, **then))
    assert fleet.actions() == again


def test_a_finished_job_that_is_gone_is_no_worry(fleet: SmallFleet) -> None:
    fleet.write(job(fleet.name, ttlSecondsAfterFinished=600))
    fleet.apply("--no-wait")
    fleet.member.delete(job(fleet.name))
    (found,) = json.loads(fleet.kadm("status", "-o", "json").out)["workloads"]
    assert found["health"] == {"code": "Healthy", "reason": "finished, and removed by the member"}


def test_suspended_objects(fleet: SmallFleet) -> None:
    fleet.write(config(fleet.name))
    fleet.apply()
    fleet.write(annotated(config(fleet.name, data={"k": "new"}), kadm_suspend="true"))
    plan = fleet.plan()
    assert (plan["changes"], [one["reason"] for one in plan["frozen"]]) == ([], ["it is marked kadm.io/suspend"])
