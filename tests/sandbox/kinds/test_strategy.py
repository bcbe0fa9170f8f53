"""Objects on their way into the store."""

from __future__ import annotations

from typing import Any

import pytest

from kadm.model.objects import JsonObject
from kadm.sandbox.kinds import strategy
from kadm.sandbox.kinds.registry import BUILTIN_KINDS, ResourceKind
from kadm.sandbox.responses import ApiError
from tests.sandbox.kinds.objects import (
    NOW,
    a_context,
    a_template,
    a_workload,
    an_object,
    changed,
    created,
    decoded,
    service_account,
    updated,
)


def refusal(call: Any, *args: Any, **options: Any) -> str:
    with pytest.raises(ApiError) as caught:
        call(*args, **options)
    return f"{caught.value.code} {caught.value.message}"


def a_pod(**spec: Any) -> JsonObject:
    return an_object("v1", "Pod", spec={"containers": [{"name": "c", "image": "i:1"}], **spec})


def test_a_new_object_gets_what_the_server_sets() -> None:
    sent = an_object("v1", "ConfigMap")
    sent["metadata"] |= {"uid": "mine", "creationTimestamp": "2001-01-01T00:00:00Z", "deletionTimestamp": NOW}
    assert created(sent)["metadata"] == {"name": "x", "namespace": "shop", "uid": "uid-1", "creationTimestamp": NOW}


def test_a_generated_name() -> None:
    sent = an_object("v1", "ConfigMap")
    sent["metadata"] = {"generateName": "job-", "namespace": "shop"}
    assert created(sent)["metadata"]["name"] == "job-sufx1"


@pytest.mark.parametrize("kind", BUILTIN_KINDS, ids=lambda kind: f"{kind.api_version} {kind.kind}")
def test_an_object_of_which_nothing_is_said_is_answered(kind: ResourceKind) -> None:
    """No kind may fail on it: it is stored, or refused."""
    metadata = {"namespace": "shop"} if kind.namespaced else {}
    empty = strategy.defaults(kind, {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": metadata})
    with pytest.raises(ApiError, match="name or generateName is required"):
        strategy.create(kind, empty, a_context())


def test_a_given_object_is_not_changed() -> None:
    sent = decoded(a_pod())
    before = repr(sent)
    created(sent)
    assert repr(sent) == before


@pytest.mark.parametrize(
    ("obj", "want"),
    [
        pytest.param(a_workload("Deployment"), {}, id="Deployment"),
        pytest.param(a_workload("StatefulSet"), {"replicas": 0, "availableReplicas": 0}, id="StatefulSet"),
        pytest.param(a_pod(), {"phase": "Pending", "qosClass": "BestEffort"}, id="Pod"),
        pytest.param(an_object("v1", "Namespace"), {"phase": "Active"}, id="Namespace"),
    ],
)
def test_a_new_object_has_the_status_of_one_that_nobody_saw(obj: JsonObject, want: JsonObject) -> None:
    assert created({**obj, "status": {"replicas": 7, "phase": "Odd"}})["status"] == want


def test_a_namespace_has_its_finalizer() -> None:
    assert created(an_object("v1", "Namespace"))["spec"] == {"finalizers": ["kubernetes"]}


def test_a_job_is_tied_to_its_pods() -> None:
    job = created(an_object("batch/v1", "Job", spec={"template": a_template(restartPolicy="Never")}))
    labels = {
        "batch.kubernetes.io/controller-uid": "uid-1",
        "batch.kubernetes.io/job-name": "x",
        "controller-uid": "uid-1",
        "job-name": "x",
    }
    spec = job["spec"]
    assert (spec["selector"], spec["template"]["metadata"]["labels"]) == (
        {"matchLabels": {"batch.kubernetes.io/controller-uid": "uid-1"}},
        {"app": "x", **labels},
    )


@pytest.mark.parametrize(
    ("resources", "want"),
    [
        pytest.param({}, "BestEffort", id="nothing"),
        pytest.param({"requests": {"cpu": "0"}}, "BestEffort", id="zero is nothing"),
        pytest.param({"requests": {"cpu": "1"}}, "Burstable", id="some"),
        pytest.param({"limits": {"cpu": "1", "memory": "1Gi"}}, "Guaranteed", id="limits of both"),
        pytest.param(
            {"limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"cpu": "500m"}}, "Burstable", id="less requested"
        ),
    ],
)
def test_quality_of_service(resources: JsonObject, want: str) -> None:
    pod = a_pod(containers=[{"name": "c", "image": "i:1", "resources": resources}])
    assert created(pod)["status"]["qosClass"] == want


# Admission


def test_a_pod_needs_its_account() -> None:
    assert refusal(created, a_pod(serviceAccountName="ghost")) == (
        '403 pods "x" is forbidden: error looking up service account shop/ghost: serviceaccount "ghost" not found'
    )


def test_a_pod_mounts_its_token() -> None:
    spec = created(a_pod())["spec"]
    assert (spec["serviceAccountName"], spec["volumes"][0]["name"], spec["containers"][0]["volumeMounts"]) == (
        "default",
        "kube-api-access-sufx1",
        [
            {
                "name": "kube-api-access-sufx1",
                "readOnly": True,
                "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount",
            }
        ],
    )


@pytest.mark.parametrize(
    ("spec", "account"),
    [
        pytest.param({"automountServiceAccountToken": False}, {}, id="the pod declines"),
        pytest.param({}, {"automountServiceAccountToken": False}, id="the account declines"),
    ],
)
def test_no_token(spec: JsonObject, account: JsonObject) -> None:
    ctx = a_context(serviceaccounts=[service_account(**account)])
    assert "volumes" not in created(a_pod(**spec), ctx)["spec"]


@pytest.mark.parametrize(
    ("spec", "want"),
    [
        pytest.param({}, (0, "PreemptLowerPriority"), id="none"),
        pytest.param({"priorityClassName": "high"}, (10, "Never"), id="of a class"),
        pytest.param(
            {"priorityClassName": "system-node-critical"}, (2_000_001_000, "PreemptLowerPriority"), id="of the system"
        ),
    ],
)
def test_priorities(spec: JsonObject, want: tuple[int, str]) -> None:
    high = {"metadata": {"name": "high"}, "value": 10, "preemptionPolicy": "Never"}
    made = created(a_pod(**spec), a_context(**{"priorityclasses.scheduling.k8s.io": [high]}))["spec"]
    assert (made["priority"], made["preemptionPolicy"]) == want


def test_an_unknown_priority_class() -> None:
    assert refusal(created, a_pod(priorityClassName="no")) == (
        '403 pods "x" is forbidden: no PriorityClass with name no was found'
    )


@pytest.mark.parametrize(
    ("held", "want"),
    [
        pytest.param([], ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"], id="none"),
        pytest.param(
            [{"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute"}],
            ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"],
            id="one",
        ),
        pytest.param([{"operator": "Exists"}], [None], id="all"),
    ],
)
def test_tolerations(held: list[JsonObject], want: list[str | None]) -> None:
    assert [each.get("key") for each in created(a_pod(tolerations=held))["spec"]["tolerations"]] == want


def a_limit_range(**fields: Any) -> JsonObject:
    item = {"type": "Container", **fields}
    return {"metadata": {"name": "l", "namespace": "shop"}, "spec": {"limits": [item]}}


def test_limits_are_filled_in() -> None:
    ctx = a_context(limitranges=[a_limit_range(default={"cpu": "500m"}, defaultRequest={"cpu": "100m"})])
    made = created(a_pod(), ctx)
    assert (made["spec"]["containers"][0]["resources"], made["metadata"]["annotations"]) == (
        {"requests": {"cpu": "100m"}, "limits": {"cpu": "500m"}},
        {
            "kubernetes.io/limit-ranger": "LimitRanger plugin set: cpu request for container c; "
            "cpu limit for container c"
        },
    )


@pytest.mark.parametrize(
    ("resources", "want"),
    [
        pytest.param({"limits": {"cpu": "2"}}, "maximum cpu usage per Container is 1, but limit is 2", id="too much"),
        pytest.param(
            {"limits": {"cpu": "1"}, "requests": {"cpu": "10m"}},
            "minimum cpu usage per Container is 50m, but request is 10m",
            id="too little",
        ),
    ],
)
def test_limits_refuse(resources: JsonObject, want: str) -> None:
    ctx = a_context(limitranges=[a_limit_range(max={"cpu": "1"}, min={"cpu": "50m"})])
    pod = a_pod(containers=[{"name": "c", "image": "i:1", "resources": resources}])
    assert refusal(created, pod, ctx) == f'403 pods "x" is forbidden: {want}'


@pytest.mark.parametrize(
    ("hard", "want"),
    [
        pytest.param(
            {"count/pods": "1"},
            "exceeded quota: q, requested: count/pods=1, used: count/pods=1, limited: count/pods=1",
            id="count",
        ),
        pytest.param(
            {"requests.cpu": "1"},
            "exceeded quota: q, requested: requests.cpu=600m, used: requests.cpu=600m, limited: requests.cpu=1",
            id="cpu",
        ),
        pytest.param({"limits.memory": "1Gi"}, "failed quota: q: must specify limits.memory for: c", id="not said"),
    ],
)
def test_quotas_refuse(hard: JsonObject, want: str) -> None:
    pod = a_pod(containers=[{"name": "c", "image": "i:1", "resources": {"requests": {"cpu": "600m"}}}])
    quota = {"metadata": {"name": "q", "namespace": "shop"}, "spec": {"hard": hard}}
    there = created(pod)
    assert refusal(created, pod, a_context(resourcequotas=[quota], pods=[there])) == (
        f'403 pods "x" is forbidden: {want}'
    )


def test_a_finished_pod_does_not_count() -> None:
    quota = {"metadata": {"name": "q", "namespace": "shop"}, "spec": {"hard": {"pods": "1"}}}
    finished = changed(created(a_pod()), "status", "phase", to="Succeeded")
    assert created(a_pod(), a_context(resourcequotas=[quota], pods=[finished]))["status"]["phase"] == "Pending"


def a_claim(**spec: Any) -> JsonObject:
    resources = {"requests": {"storage": "1Gi"}}
    return an_object(
        "v1", "PersistentVolumeClaim", spec={"accessModes": ["ReadWriteOnce"], "resources": resources, **spec}
    )


@pytest.mark.parametrize(
    ("claim", "want"),
    [
        pytest.param(a_claim(), "fast", id="the default class"),
        pytest.param(a_claim(storageClassName="slow"), "slow", id="its own class"),
        pytest.param(a_claim(storageClassName=""), "", id="none on purpose"),
    ],
)
def test_the_class_of_a_claim(claim: JsonObject, want: str) -> None:
    annotations = {"storageclass.kubernetes.io/is-default-class": "true"}
    fast = {"metadata": {"name": "fast", "creationTimestamp": NOW, "annotations": annotations}}
    made = created(claim, a_context(**{"storageclasses.storage.k8s.io": [fast]}))
    assert (made["spec"]["storageClassName"], made["metadata"]["finalizers"]) == (
        want,
        ["kubernetes.io/pvc-protection"],
    )


# Updates


def test_generation_counts_what_the_user_wants() -> None:
    first = created(a_workload("Deployment"))
    labelled = updated(changed(first, "metadata", "labels", to={"a": "b"}), first)
    scaled = updated(changed(labelled, "spec", "replicas", to=5), labelled)
    annotated = updated(changed(scaled, "metadata", "annotations", to={"a": "b"}), scaled)
    assert [each["metadata"]["generation"] for each in (first, labelled, scaled, annotated)] == [1, 1, 2, 3]


def test_an_ordinary_update_keeps_status() -> None:
    first = created(a_workload("Deployment"))
    assert updated(changed(first, "status", "replicas", to=9), first) == first


def test_a_status_update_changes_nothing_else() -> None:
    first = created(a_workload("Deployment"))
    wanted = changed(changed(first, "status", "replicas", to=9), "spec", "replicas", to=7)
    wanted = changed(wanted, "metadata", "labels", to={"x": "y"})
    assert updated(wanted, first, subresource="status") == changed(first, "status", "replicas", to=9)


def test_an_update_cannot_change_what_the_server_set() -> None:
    first = created(an_object("v1", "ConfigMap"))
    wanted = changed(first, "metadata", "creationTimestamp", to="2001-01-01T00:00:00Z")
    assert updated(changed(wanted, "metadata", "uid", to=None), first) == first


def test_an_empty_rule_list_moves_generation_and_is_gone() -> None:
    first = created(an_object("networking.k8s.io/v1", "NetworkPolicy", spec={"podSelector": {}}))
    again = updated(changed(first, "spec", "ingress", to=[]), first)
    assert again == changed(first, "metadata", "generation", to=2)


def test_a_daemon_set_counts_its_templates() -> None:
    key = "deprecated.daemonset.template.generation"
    first = created(a_workload("DaemonSet"))
    second = updated(changed(first, "spec", "template", to=a_template(hostPID=True)), first)
    sent_again = updated(changed(second, "metadata", "annotations", to=None), second)
    assert [each["metadata"]["annotations"][key] for each in (first, second, sent_again)] == ["1", "2", "2"]


@pytest.mark.parametrize(
    ("subresource", "path", "to"),
    [
        pytest.param("resize", ("spec", "containers", 0, "resources"), {"requests": {"cpu": "1"}}, id="resize"),
        pytest.param(
            "ephemeralcontainers",
            ("spec", "ephemeralContainers"),
            [
                {
                    "name": "debug",
                    "image": "d:1",
                    "resources": {},
                    "terminationMessagePath": "/dev/termination-log",
                    "terminationMessagePolicy": "File",
                    "imagePullPolicy": "IfNotPresent",
                }
            ],
            id="ephemeralcontainers",
        ),
    ],
)
def test_subresources_of_pods_change_their_part(subresource: str, path: tuple[str | int, ...], to: Any) -> None:
    first = created(a_pod())
    wanted = changed(changed(first, *path, to=to), "spec", "hostname", to="other")
    want = changed(changed(first, *path, to=to), "metadata", "generation", to=2)
    assert updated(wanted, first, subresource=subresource) == want


def test_a_pod_sent_again_without_what_admission_set_keeps_its_priority() -> None:
    first = created(a_pod())
    wanted = changed(changed(first, "spec", "priority", to=None), "spec", "preemptionPolicy", to=None)
    assert updated(wanted, first) == first
