"""What the server fills in."""

from __future__ import annotations

from typing import Any

import pytest

from kadm.model.objects import JsonObject
from tests.sandbox.kinds.objects import a_template, a_workload, an_object, decoded

FILLED_CONTAINER = {
    "name": "c",
    "image": "i:1",
    "resources": {},
    "terminationMessagePath": "/dev/termination-log",
    "terminationMessagePolicy": "File",
    "imagePullPolicy": "IfNotPresent",
}
FILLED_POD_SPEC = {
    "containers": [FILLED_CONTAINER],
    "restartPolicy": "Always",
    "terminationGracePeriodSeconds": 30,
    "dnsPolicy": "ClusterFirst",
    "securityContext": {},
    "schedulerName": "default-scheduler",
}
FILLED_TEMPLATE = {"metadata": {"labels": {"app": "x"}}, "spec": FILLED_POD_SPEC}
SELECTOR = {"matchLabels": {"app": "x"}}


def pod_with(**container: Any) -> JsonObject:
    return an_object("v1", "Pod", spec={"containers": [{"name": "c", "image": "i:1", **container}]})


@pytest.mark.parametrize(
    ("kind", "spec", "want"),
    [
        pytest.param(
            "Deployment",
            {},
            {
                "replicas": 1,
                "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "25%", "maxSurge": "25%"}},
                "revisionHistoryLimit": 10,
                "progressDeadlineSeconds": 600,
            },
            id="Deployment",
        ),
        pytest.param(
            "Deployment",
            {"replicas": 0, "strategy": {"type": "Recreate"}},
            {
                "replicas": 0,
                "strategy": {"type": "Recreate"},
                "revisionHistoryLimit": 10,
                "progressDeadlineSeconds": 600,
            },
            id="Deployment that recreates, with no replicas",
        ),
        pytest.param("ReplicaSet", {}, {"replicas": 1}, id="ReplicaSet"),
        pytest.param(
            "StatefulSet",
            {"updateStrategy": {"type": "RollingUpdate"}},
            {
                "replicas": 1,
                "serviceName": "",
                "podManagementPolicy": "OrderedReady",
                "updateStrategy": {"type": "RollingUpdate"},
                "revisionHistoryLimit": 10,
                "persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Retain", "whenScaled": "Retain"},
            },
            id="StatefulSet whose update strategy is named: no partition",
        ),
        pytest.param(
            "DaemonSet",
            {"updateStrategy": {"rollingUpdate": {"maxUnavailable": 2}}},
            {
                "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 2, "maxSurge": 0}},
                "revisionHistoryLimit": 10,
            },
            id="DaemonSet",
        ),
    ],
)
def test_workloads(kind: str, spec: JsonObject, want: JsonObject) -> None:
    filled = decoded(a_workload(kind, **spec))["spec"]
    filled.setdefault("serviceName", "") if kind == "StatefulSet" else None
    assert filled == {"selector": SELECTOR, "template": FILLED_TEMPLATE, **want}


@pytest.mark.parametrize(
    ("spec", "want"),
    [
        pytest.param({}, {"completions": 1, "parallelism": 1, "backoffLimit": 6}, id="neither count"),
        pytest.param({"parallelism": 2}, {"parallelism": 2, "backoffLimit": 6}, id="a work queue"),
        pytest.param({"completions": 3}, {"completions": 3, "parallelism": 1, "backoffLimit": 6}, id="completions"),
        pytest.param(
            {"backoffLimitPerIndex": 1},
            {"completions": 1, "parallelism": 1, "backoffLimitPerIndex": 1, "backoffLimit": 2**31 - 1},
            id="a limit per index lifts the limit of all",
        ),
    ],
)
def test_jobs(spec: JsonObject, want: JsonObject) -> None:
    job = an_object("batch/v1", "Job", spec={"template": a_template(), **spec})
    common = {
        "template": FILLED_TEMPLATE,
        "completionMode": "NonIndexed",
        "suspend": False,
        "manualSelector": False,
        "podReplacementPolicy": "TerminatingOrFailed",
    }
    assert decoded(job)["spec"] == {**common, **want}


def test_a_cron_job_leaves_the_fields_of_its_jobs_open() -> None:
    spec = {"schedule": "5 4 * * *", "jobTemplate": {"spec": {"template": a_template()}}}
    assert decoded(an_object("batch/v1", "CronJob", spec=spec))["spec"] == {
        "schedule": "5 4 * * *",
        "concurrencyPolicy": "Allow",
        "suspend": False,
        "successfulJobsHistoryLimit": 3,
        "failedJobsHistoryLimit": 1,
        "jobTemplate": {"metadata": {}, "spec": {"template": FILLED_TEMPLATE}},
    }


@pytest.mark.parametrize(
    ("image", "want"),
    [
        ("nginx", "Always"),
        ("nginx:latest", "Always"),
        ("nginx:1.25", "IfNotPresent"),
        ("registry:5000/team/nginx", "Always"),
        ("registry:5000/team/nginx:1.25", "IfNotPresent"),
        ("nginx@sha256:" + "0" * 64, "IfNotPresent"),
        ("Not An Image", "IfNotPresent"),
        ("", "IfNotPresent"),
    ],
)
def test_pull_policies(image: str, want: str) -> None:
    assert decoded(pod_with(image=image))["spec"]["containers"][0]["imagePullPolicy"] == want


@pytest.mark.parametrize(
    ("container", "want"),
    [
        pytest.param(
            {"ports": [{"containerPort": 80}]}, {"ports": [{"containerPort": 80, "protocol": "TCP"}]}, id="port"
        ),
        pytest.param(
            {"readinessProbe": {"httpGet": {"port": 80}}},
            {
                "readinessProbe": {
                    "httpGet": {"port": 80, "path": "/", "scheme": "HTTP"},
                    "timeoutSeconds": 1,
                    "periodSeconds": 10,
                    "successThreshold": 1,
                    "failureThreshold": 3,
                }
            },
            id="probe",
        ),
        pytest.param(
            {"livenessProbe": {"grpc": {"port": 9}, "periodSeconds": 5}},
            {
                "livenessProbe": {
                    "grpc": {"port": 9, "service": ""},
                    "timeoutSeconds": 1,
                    "periodSeconds": 5,
                    "successThreshold": 1,
                    "failureThreshold": 3,
                }
            },
            id="gRPC probe",
        ),
        pytest.param(
            {"lifecycle": {"preStop": {"httpGet": {"port": 1}}}},
            {"lifecycle": {"preStop": {"httpGet": {"port": 1, "path": "/", "scheme": "HTTP"}}}},
            id="hook",
        ),
        pytest.param(
            {"env": [{"name": "A", "value": ""}, {"name": "B", "valueFrom": {"fieldRef": {"fieldPath": "p"}}}]},
            {"env": [{"name": "A"}, {"name": "B", "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": "p"}}}]},
            id="environment",
        ),
        pytest.param(
            {"resources": {"limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"cpu": "500m"}}},
            {"resources": {"limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"cpu": "500m", "memory": "1Gi"}}},
            id="requests come from limits",
        ),
    ],
)
def test_containers_of_pods(container: JsonObject, want: JsonObject) -> None:
    assert decoded(pod_with(**container))["spec"]["containers"] == [{**FILLED_CONTAINER, **want}]


def test_a_template_does_not_take_requests_from_limits() -> None:
    limited = {"name": "c", "image": "i:1", "resources": {"limits": {"cpu": "1"}}}
    filled = decoded(a_workload("ReplicaSet", template=a_template(containers=[limited])))
    assert filled["spec"]["template"]["spec"]["containers"][0]["resources"] == {"limits": {"cpu": "1"}}


@pytest.mark.parametrize(
    ("source", "want"),
    [
        pytest.param({}, {"emptyDir": {}}, id="none"),
        pytest.param({"secret": {"secretName": "s"}}, {"secret": {"secretName": "s", "defaultMode": 420}}, id="secret"),
        pytest.param({"hostPath": {"path": "/"}}, {"hostPath": {"path": "/", "type": ""}}, id="hostPath"),
        pytest.param(
            {"projected": {"sources": [{"serviceAccountToken": {"path": "t"}}]}},
            {
                "projected": {
                    "defaultMode": 420,
                    "sources": [{"serviceAccountToken": {"path": "t", "expirationSeconds": 3600}}],
                }
            },
            id="projected token",
        ),
        pytest.param(
            {"image": {"reference": "r:1"}}, {"image": {"reference": "r:1", "pullPolicy": "IfNotPresent"}}, id="image"
        ),
    ],
)
def test_volumes(source: JsonObject, want: JsonObject) -> None:
    pod = an_object("v1", "Pod", spec={"containers": [], "volumes": [{"name": "v", **source}]})
    assert decoded(pod)["spec"]["volumes"] == [{"name": "v", **want}]


def test_the_alias_of_the_service_account_is_written_beside_it() -> None:
    spec = decoded(a_workload("Deployment", template=a_template(serviceAccountName="robot")))["spec"]["template"][
        "spec"
    ]
    assert (spec["serviceAccountName"], spec["serviceAccount"]) == ("robot", "robot")


@pytest.mark.parametrize(
    ("api_version", "kind", "fields", "want"),
    [
        pytest.param(
            "v1",
            "Service",
            {"spec": {"ports": [{"port": 80}]}},
            {
                "spec": {
                    "ports": [{"port": 80, "protocol": "TCP", "targetPort": 80}],
                    "sessionAffinity": "None",
                    "type": "ClusterIP",
                    "internalTrafficPolicy": "Cluster",
                },
                "status": {"loadBalancer": {}},
            },
            id="Service",
        ),
        pytest.param(
            "v1",
            "Service",
            {"spec": {"type": "LoadBalancer", "sessionAffinity": "ClientIP"}},
            {
                "spec": {
                    "sessionAffinity": "ClientIP",
                    "sessionAffinityConfig": {"clientIP": {"timeoutSeconds": 10800}},
                    "type": "LoadBalancer",
                    "allocateLoadBalancerNodePorts": True,
                    "externalTrafficPolicy": "Cluster",
                    "internalTrafficPolicy": "Cluster",
                },
                "status": {"loadBalancer": {}},
            },
            id="Service of a load balancer",
        ),
        pytest.param(
            "v1",
            "Secret",
            {"data": {"a": "MQ=="}, "stringData": {"b": "two", "a": "over"}},
            {"data": {"a": "b3Zlcg==", "b": "dHdv"}, "type": "Opaque"},
            id="Secret: stringData wins",
        ),
        pytest.param(
            "v1",
            "PersistentVolumeClaim",
            {"spec": {"accessModes": ["ReadWriteOnce"]}},
            {
                "spec": {"accessModes": ["ReadWriteOnce"], "resources": {}, "volumeMode": "Filesystem"},
                "status": {"phase": "Pending"},
            },
            id="PersistentVolumeClaim",
        ),
        pytest.param(
            "v1",
            "PersistentVolume",
            {"spec": {"hostPath": {"path": "/"}}},
            {
                "spec": {
                    "hostPath": {"path": "/", "type": ""},
                    "persistentVolumeReclaimPolicy": "Retain",
                    "volumeMode": "Filesystem",
                },
                "status": {"phase": "Pending"},
            },
            id="PersistentVolume",
        ),
        pytest.param(
            "v1",
            "LimitRange",
            {"spec": {"limits": [{"type": "Container", "max": {"cpu": "1"}, "min": {"cpu": "0.1", "memory": "1Mi"}}]}},
            {
                "spec": {
                    "limits": [
                        {
                            "type": "Container",
                            "max": {"cpu": "1"},
                            "min": {"cpu": "100m", "memory": "1Mi"},
                            "default": {"cpu": "1"},
                            "defaultRequest": {"cpu": "1", "memory": "1Mi"},
                        }
                    ]
                }
            },
            id="LimitRange",
        ),
        pytest.param(
            "networking.k8s.io/v1",
            "NetworkPolicy",
            {"spec": {"podSelector": {}, "egress": [{"ports": [{"port": 53}]}]}},
            {
                "spec": {
                    "podSelector": {},
                    "egress": [{"ports": [{"port": 53, "protocol": "TCP"}]}],
                    "policyTypes": ["Ingress", "Egress"],
                }
            },
            id="NetworkPolicy",
        ),
        pytest.param(
            "autoscaling/v2",
            "HorizontalPodAutoscaler",
            {"spec": {"maxReplicas": 3, "scaleTargetRef": {"kind": "X", "name": "x"}, "behavior": {"scaleDown": {}}}},
            {
                "spec": {
                    "minReplicas": 1,
                    "maxReplicas": 3,
                    "scaleTargetRef": {"kind": "X", "name": "x"},
                    "metrics": [
                        {
                            "type": "Resource",
                            "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}},
                        }
                    ],
                    "behavior": {
                        "scaleUp": {
                            "stabilizationWindowSeconds": 0,
                            "selectPolicy": "Max",
                            "policies": [
                                {"type": "Pods", "value": 4, "periodSeconds": 15},
                                {"type": "Percent", "value": 100, "periodSeconds": 15},
                            ],
                        },
                        "scaleDown": {
                            "selectPolicy": "Max",
                            "policies": [{"type": "Percent", "value": 100, "periodSeconds": 15}],
                        },
                    },
                },
                "status": {"desiredReplicas": 0, "currentMetrics": None},
            },
            id="HorizontalPodAutoscaler",
        ),
        pytest.param(
            "storage.k8s.io/v1",
            "StorageClass",
            {"provisioner": "p"},
            {"provisioner": "p", "reclaimPolicy": "Delete", "volumeBindingMode": "Immediate"},
            id="StorageClass",
        ),
        pytest.param(
            "rbac.authorization.k8s.io/v1",
            "RoleBinding",
            {"roleRef": {"kind": "Role", "name": "r"}, "subjects": [{"kind": "User", "name": "u"}]},
            {
                "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "r"},
                "subjects": [{"kind": "User", "name": "u", "apiGroup": "rbac.authorization.k8s.io"}],
            },
            id="RoleBinding",
        ),
        pytest.param(
            "admissionregistration.k8s.io/v1",
            "MutatingWebhookConfiguration",
            {
                "webhooks": [
                    {
                        "name": "a.b.c",
                        "sideEffects": "None",
                        "admissionReviewVersions": ["v1"],
                        "clientConfig": {"service": {"name": "s", "namespace": "n"}},
                        "rules": [
                            {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}
                        ],
                    }
                ]
            },
            {
                "webhooks": [
                    {
                        "name": "a.b.c",
                        "sideEffects": "None",
                        "admissionReviewVersions": ["v1"],
                        "clientConfig": {"service": {"name": "s", "namespace": "n", "port": 443}},
                        "rules": [
                            {
                                "apiGroups": [""],
                                "apiVersions": ["v1"],
                                "operations": ["CREATE"],
                                "resources": ["pods"],
                                "scope": "*",
                            }
                        ],
                        "failurePolicy": "Fail",
                        "matchPolicy": "Equivalent",
                        "namespaceSelector": {},
                        "objectSelector": {},
                        "timeoutSeconds": 10,
                        "reinvocationPolicy": "Never",
                    }
                ]
            },
            id="MutatingWebhookConfiguration",
        ),
        pytest.param(
            "discovery.k8s.io/v1",
            "EndpointSlice",
            {"addressType": "IPv4", "ports": [{"port": 80}]},
            {
                "addressType": "IPv4",
                "endpoints": None,
                "ports": [{"name": "", "protocol": "TCP", "port": 80}],
            },
            id="EndpointSlice",
        ),
        pytest.param(
            "scheduling.k8s.io/v1",
            "PriorityClass",
            {"value": 5},
            {"value": 5, "preemptionPolicy": "PreemptLowerPriority"},
            id="PriorityClass",
        ),
    ],
)
def test_other_kinds(api_version: str, kind: str, fields: JsonObject, want: JsonObject) -> None:
    bare = an_object(api_version, kind)
    assert decoded({**bare, **fields}) == {**bare, **want}


def test_a_namespace_carries_its_name_as_label() -> None:
    assert decoded(an_object("v1", "Namespace", "shop"))["metadata"]["labels"] == {
        "kubernetes.io/metadata.name": "shop"
    }


@pytest.mark.parametrize("kind", ["Deployment", "ReplicaSet", "StatefulSet", "DaemonSet"])
def test_defaults_settle(kind: str) -> None:
    once = decoded(a_workload(kind))
    assert decoded(once) == once
