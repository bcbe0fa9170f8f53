"""What render makes of a manifest before anything differs between members."""

from __future__ import annotations

from typing import Any

import pytest

from kadm.model.objects import JsonObject
from kadm.render.normalise import normalise
from tests.render.builders import a_manifest, an_object


def normalised(obj: JsonObject) -> JsonObject:
    return normalise(a_manifest(obj)).object


def pods(**pod_spec: Any) -> dict[str, Any]:
    return {"spec": {"template": {"spec": pod_spec}}}


@pytest.mark.parametrize(
    ("kind", "api_version", "fields", "want"),
    [
        pytest.param(
            "Deployment",
            "apps/v1",
            pods(containers=[{"ports": [{"containerPort": 80}, {"containerPort": 81, "protocol": "UDP"}]}]),
            pods(
                containers=[
                    {"ports": [{"containerPort": 80, "protocol": "TCP"}, {"containerPort": 81, "protocol": "UDP"}]}
                ]
            ),
            id="protocol of container ports",
        ),
        pytest.param(
            "Deployment",
            "apps/v1",
            pods(
                initContainers=[{"resources": {"limits": {"cpu": 1, "memory": "1Gi"}, "requests": {"cpu": 0.5}}}],
                volumes=[{"emptyDir": {"sizeLimit": 1000}}, {"emptyDir": {}}],
                overhead={"cpu": 2},
            ),
            pods(
                initContainers=[{"resources": {"limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"cpu": "500m"}}}],
                volumes=[{"emptyDir": {"sizeLimit": "1000"}}, {"emptyDir": {}}],
                overhead={"cpu": "2"},
            ),
            id="quantities are texts",
        ),
        pytest.param(
            "CronJob",
            "batch/v1",
            {"spec": {"jobTemplate": {"spec": {"template": {"spec": {"containers": [{"ports": [{"name": "x"}]}]}}}}}},
            {
                "spec": {
                    "jobTemplate": {
                        "spec": {"template": {"spec": {"containers": [{"ports": [{"name": "x", "protocol": "TCP"}]}]}}}
                    }
                }
            },
            id="the pod spec of a CronJob",
        ),
        pytest.param(
            "Deployment",
            "apps/v1",
            {"spec": {"template": {"metadata": {"creationTimestamp": None, "labels": {}}}}, "status": {}},
            {"spec": {"template": {"metadata": {"labels": {}}}}},
            id="what servers own in a template, and status",
        ),
        pytest.param(
            "Service",
            "v1",
            {"spec": {"clusterIP": "", "ports": [{"port": 80}]}},
            {"spec": {"ports": [{"port": 80, "protocol": "TCP"}]}},
            id="an empty clusterIP",
        ),
        pytest.param(
            "Service", "v1", {"spec": {"clusterIP": "None"}}, {"spec": {"clusterIP": "None"}}, id="a headless Service"
        ),
        pytest.param(
            "Secret",
            "v1",
            {"data": {"a": "YQ==\n", "b": "Yg=="}, "stringData": {"b": "ü", "c": ""}},
            {"data": {"a": "YQ==", "b": "w7w=", "c": ""}},
            id="stringData wins over data",
        ),
        pytest.param("ConfigMap", "v1", {"data": {"a": "1\n"}}, {"data": {"a": "1\n"}}, id="texts stay as they are"),
        pytest.param(
            "Job",
            "batch/v1",
            {
                "spec": {
                    "selector": {"matchLabels": {"controller-uid": "1"}},
                    "template": {"metadata": {"labels": {"job-name": "j", "a": "b"}}},
                }
            },
            {"spec": {"template": {"metadata": {"labels": {"a": "b"}}}}},
            id="generated labels of a Job",
        ),
        pytest.param(
            "Job",
            "batch/v1",
            {"spec": {"manualSelector": True, "selector": {"matchLabels": {"controller-uid": "1"}}}},
            {"spec": {"manualSelector": True, "selector": {"matchLabels": {"controller-uid": "1"}}}},
            id="a Job with a manual selector",
        ),
        pytest.param(
            "Pod", "v1", {"spec": {"ephemeralContainers": [], "x": 1}}, {"spec": {"x": 1}}, id="ephemeral containers"
        ),
        pytest.param(
            "StatefulSet",
            "apps/v1",
            {
                "spec": {
                    "volumeClaimTemplates": [
                        {
                            "metadata": {"name": "d", "creationTimestamp": None},
                            "spec": {"resources": {"requests": {"storage": 5}}},
                            "status": {},
                        }
                    ]
                }
            },
            {
                "spec": {
                    "volumeClaimTemplates": [
                        {"metadata": {"name": "d"}, "spec": {"resources": {"requests": {"storage": "5"}}}}
                    ]
                }
            },
            id="claim templates",
        ),
        pytest.param(
            "ResourceQuota", "v1", {"spec": {"hard": {"pods": 4}}}, {"spec": {"hard": {"pods": "4"}}}, id="a quota"
        ),
        pytest.param(
            "HorizontalPodAutoscaler",
            "autoscaling/v2",
            {"spec": {"metrics": [{"pods": {"target": {"averageValue": 1, "averageUtilization": 50}}}]}},
            {"spec": {"metrics": [{"pods": {"target": {"averageValue": "1", "averageUtilization": 50}}}]}},
            id="metric targets",
        ),
        pytest.param(
            "ClusterRole",
            "rbac.authorization.k8s.io/v1",
            {"aggregationRule": {"clusterRoleSelectors": []}, "rules": []},
            {"aggregationRule": {"clusterRoleSelectors": []}},
            id="rules of an aggregated role",
        ),
        pytest.param(
            "ClusterRole", "rbac.authorization.k8s.io/v1", {"rules": []}, {"rules": []}, id="rules of another role"
        ),
        pytest.param(
            "ValidatingWebhookConfiguration",
            "admissionregistration.k8s.io/v1",
            {"webhooks": [{"clientConfig": {"caBundle": "Cg==", "url": "x"}}, {"clientConfig": {"caBundle": "YQ=="}}]},
            {"webhooks": [{"clientConfig": {"url": "x"}}, {"clientConfig": {"caBundle": "YQ=="}}]},
            id="placeholder caBundles",
        ),
        pytest.param(
            "Widget",
            "example.io/v1",
            {"spec": {"cpu": 1, "a": None}},
            {"spec": {"cpu": 1, "a": None}},
            id="other kinds",
        ),
    ],
)
def test_normalise(kind: str, api_version: str, fields: dict[str, Any], want: dict[str, Any]) -> None:
    head = an_object(kind, "x", api_version)
    assert normalised({**head, **fields}) == {**head, **want}


def test_metadata() -> None:
    metadata = {
        "labels": {"kubeadmiral.io/propagation-policy-name": "p", "app": "x"},
        "annotations": {
            "kubeadmiral.io/followers": "[]",
            "internal.kubeadmiral.io/orphan": "all",
            "federate.controller.kubeadmiral.io/observed-labels": "",
            "kubectl.kubernetes.io/last-applied-configuration": "{}",
            "deployment.kubernetes.io/revision": "3",
            "kadm.io/protect": "true",
            "notkubeadmiral.io/x": "y",
        },
        "uid": "1",
        "resourceVersion": "2",
        "generation": 3,
        "creationTimestamp": None,
        "managedFields": [],
        "ownerReferences": [],
        "selfLink": "",
        "finalizers": ["kubernetes.io/pvc-protection"],
    }
    found = normalise(a_manifest(an_object("ConfigMap", "x", metadata=metadata)))
    assert found.object["metadata"] == {
        "name": "x",
        "namespace": "shop",
        "labels": {"app": "x"},
        "annotations": {"kadm.io/protect": "true", "notkubeadmiral.io/x": "y"},
    }
    assert found.problems == ()


@pytest.mark.parametrize(
    ("obj", "want"),
    [
        (an_object("Service", "x", spec={"clusterIP": "10.0.0.1"}), "spec.clusterIP is not sent to members"),
        (an_object("Widget", "x", metadata={"finalizers": ["e.io/f"]}), "metadata.finalizers is not sent to members"),
    ],
)
def test_what_is_left_out_of_users_wishes_is_a_warning(obj: JsonObject, want: str) -> None:
    (problem,) = normalise(a_manifest(obj)).problems
    assert (problem.severity, problem.what) == ("warning", want)
