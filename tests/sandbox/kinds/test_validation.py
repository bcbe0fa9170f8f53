"""The faults of objects, in a server's words."""

from __future__ import annotations

from typing import Any

import pytest

from kadm.model.objects import JsonObject
from kadm.sandbox.kinds import strategy
from tests.sandbox.kinds.objects import a_template, a_workload, an_object, changed, created, decoded, kind_of

SUBDOMAIN = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    r"'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)
LABEL = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with "
    "an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
)
TEMPLATE = "spec.template.spec.containers[0]"


def faults(obj: JsonObject) -> list[str]:
    """The faults of a new object, after its defaults."""
    return [str(error) for error in strategy.validate_create(kind_of(obj), decoded(obj))]


def faults_of_change(obj: JsonObject, *path: str | int, to: Any) -> list[str]:
    """The faults of changing a valid object at ``path``."""
    old = created(obj)
    new = decoded(changed(old, *path, to=to))
    return [str(error) for error in strategy.validate_update(kind_of(obj), new, old)]


def with_container(**container: Any) -> JsonObject:
    """A Deployment with one container that has these fields too."""
    return a_workload("Deployment", template=a_template(containers=[{"name": "c", "image": "i:1", **container}]))


def with_metadata(**metadata: Any) -> JsonObject:
    obj = an_object("v1", "ConfigMap")
    obj["metadata"] |= metadata
    return obj


@pytest.mark.parametrize(
    ("metadata", "want"),
    [
        pytest.param({}, [], id="none"),
        pytest.param({"name": "a.b-c"}, [], id="a subdomain"),
        pytest.param({"name": "A"}, [f'metadata.name: Invalid value: "A": {SUBDOMAIN}'], id="capital"),
        pytest.param(
            {"name": ""}, ["metadata.name: Required value: name or generateName is required"], id="none at all"
        ),
        pytest.param({"labels": {"example.com/a": "b"}, "annotations": {"UP.io/a": "any thing"}}, [], id="labels"),
        pytest.param(
            {"labels": {"/a": "b"}},
            ['metadata.labels: Invalid value: "/a": prefix part must be non-empty'],
            id="label without prefix",
        ),
        pytest.param(
            {"annotations": {"a": "x" * 300_000}},
            ["metadata.annotations: Too long: may not be more than 262144 bytes"],
            id="large annotations",
        ),
        pytest.param(
            {"finalizers": ["x.io/a", "bad"]},
            [
                (
                    'metadata.finalizers[1]: Invalid value: "bad": '
                    "name is neither a standard finalizer name nor is it fully qualified"
                )
            ],
            id="finalizer",
        ),
        pytest.param(
            {"ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "", "uid": "u"}]},
            ['metadata.ownerReferences[0].name: Invalid value: "": must not be empty'],
            id="owner",
        ),
    ],
)
def test_metadata(metadata: JsonObject, want: list[str]) -> None:
    assert faults(with_metadata(**metadata)) == want


@pytest.mark.parametrize(
    ("obj", "want"),
    [
        pytest.param(an_object("v1", "Namespace", "a.b"), ["must not contain dots"], id="Namespace"),
        pytest.param(an_object("v1", "Namespace", "a_b"), [LABEL], id="Namespace with underscore"),
        pytest.param(an_object("rbac.authorization.k8s.io/v1", "Role", "a:b"), [], id="Role: any path segment"),
        pytest.param(an_object("rbac.authorization.k8s.io/v1", "Role", "a/b"), ["may not contain '/'"], id="Role"),
    ],
)
def test_names_by_kind(obj: JsonObject, want: list[str]) -> None:
    name = obj["metadata"]["name"]
    assert faults(obj) == [f'metadata.name: Invalid value: "{name}": {text}' for text in want]


@pytest.mark.parametrize(
    ("container", "want"),
    [
        pytest.param({}, [], id="none"),
        pytest.param({"image": ""}, [f"{TEMPLATE}.image: Required value"], id="no image"),
        pytest.param({"name": ""}, [f"{TEMPLATE}.name: Required value"], id="no name"),
        pytest.param(
            {"ports": [{"containerPort": 70000}]},
            [f"{TEMPLATE}.ports[0].containerPort: Invalid value: 70000: must be between 1 and 65535, inclusive"],
            id="port",
        ),
        pytest.param(
            {"ports": [{"containerPort": 1, "name": "Upper_case"}]},
            [
                (
                    f'{TEMPLATE}.ports[0].name: Invalid value: "Upper_case": '
                    "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)"
                )
            ],
            id="port name",
        ),
        pytest.param({"env": [{"value": "1"}]}, [f"{TEMPLATE}.env[0].name: Required value"], id="variable"),
        pytest.param(
            {"env": [{"name": "A", "value": "1", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}]},
            [f'{TEMPLATE}.env[0].valueFrom: Invalid value: "": may not be specified when `value` is not empty'],
            id="two values",
        ),
        pytest.param(
            {"volumeMounts": [{"name": "v", "mountPath": "/v"}]},
            [f'{TEMPLATE}.volumeMounts[0].name: Not found: "v"'],
            id="no such volume",
        ),
        pytest.param(
            {"resources": {"requests": {"cpu": "2"}, "limits": {"cpu": "1"}}},
            [f'{TEMPLATE}.resources.requests: Invalid value: "2": must be less than or equal to cpu limit of 1'],
            id="more requested than allowed",
        ),
        pytest.param(
            {"livenessProbe": {}},
            [f"{TEMPLATE}.livenessProbe: Required value: must specify a handler type"],
            id="probe",
        ),
        pytest.param(
            {"imagePullPolicy": "Sometimes"},
            [
                (
                    f'{TEMPLATE}.imagePullPolicy: Unsupported value: "Sometimes": '
                    'supported values: "Always", "IfNotPresent", "Never"'
                )
            ],
            id="pull policy",
        ),
    ],
)
def test_containers(container: JsonObject, want: list[str]) -> None:
    assert faults(with_container(**container)) == want


@pytest.mark.parametrize(
    ("template", "want"),
    [
        pytest.param(
            {"volumes": [{"name": "v"}, {"name": "v"}]}, ['volumes[1].name: Duplicate value: "v"'], id="volume"
        ),
        pytest.param(
            {"volumes": [{"name": "v", "secret": {}, "emptyDir": {}}]},
            [
                "volumes[0].emptyDir: Forbidden: may not specify more than 1 volume type",
                "volumes[0].secret.secretName: Required value",
            ],
            id="two sources",
        ),
        pytest.param({"containers": []}, ["containers: Required value"], id="no containers"),
        pytest.param(
            {"dnsPolicy": "X"},
            [
                (
                    'dnsPolicy: Unsupported value: "X": supported values: '
                    '"ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"'
                )
            ],
            id="DNS policy",
        ),
        pytest.param({"nodeSelector": {"a": "b c"}}, None, id="node selector"),
        pytest.param(
            {"tolerations": [{"key": "a", "tolerationSeconds": 3}]},
            ["tolerations[0].effect: Invalid value: \"\": effect must be 'NoExecute' when `tolerationSeconds` is set"],
            id="toleration",
        ),
    ],
)
def test_pod_specs(template: JsonObject, want: list[str] | None) -> None:
    found = faults(a_workload("Deployment", template=a_template(**template)))
    assert found == [f"spec.template.spec.{text}" for text in want] if want is not None else len(found) == 1


@pytest.mark.parametrize(
    ("kind", "spec", "want"),
    [
        pytest.param(
            "Deployment",
            {"strategy": {"type": "Recreate", "rollingUpdate": {"maxSurge": 1}}},
            ["spec.strategy.rollingUpdate: Forbidden: may not be specified when strategy `type` is 'Recreate'"],
            id="both strategies",
        ),
        pytest.param(
            "Deployment",
            {"strategy": {"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 0}}},
            ["spec.strategy.rollingUpdate.maxUnavailable: Invalid value: 0: may not be 0 when `maxSurge` is 0"],
            id="no way to roll",
        ),
        pytest.param(
            "Deployment",
            {"minReadySeconds": 600},
            ["spec.progressDeadlineSeconds: Invalid value: 600: must be greater than minReadySeconds"],
            id="deadline",
        ),
        pytest.param(
            "ReplicaSet",
            {"selector": {}},
            ["spec.selector: Invalid value: {}: empty selector is invalid for ReplicaSet"],
            id="empty selector",
        ),
        pytest.param(
            "StatefulSet",
            {"template": a_template(containers=[])},
            [],
            id="StatefulSet: its pods tell what is wrong with them",
        ),
        pytest.param(
            "DaemonSet",
            {"template": a_template(restartPolicy="Never")},
            ['spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"'],
            id="restart policy",
        ),
    ],
)
def test_workloads(kind: str, spec: JsonObject, want: list[str]) -> None:
    assert faults(a_workload(kind, **spec)) == want


@pytest.mark.parametrize(
    ("api_version", "kind", "fields", "want"),
    [
        pytest.param(
            "v1",
            "Service",
            {"spec": {"ports": [{"port": 80, "nodePort": 30000}]}},
            ["spec.ports[0].nodePort: Forbidden: may not be used when `type` is 'ClusterIP'"],
            id="Service: node port",
        ),
        pytest.param(
            "v1",
            "Service",
            {"spec": {"clusterIP": "x", "ports": [{"port": 80}]}},
            ['spec.clusterIPs[0]: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)'],
            id="Service: address",
        ),
        pytest.param(
            "v1",
            "ConfigMap",
            {"data": {"a b": "1"}},
            [
                (
                    'data[a b]: Invalid value: "a b": a valid config key must consist of alphanumeric characters, '
                    "'-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', "
                    "regex used for validation is '[-._a-zA-Z0-9]+')"
                )
            ],
            id="ConfigMap: key",
        ),
        pytest.param(
            "v1",
            "Secret",
            {"type": "kubernetes.io/tls", "data": {"tls.crt": ""}},
            ["data[tls.key]: Required value"],
            id="Secret: keys of its type",
        ),
        pytest.param(
            "networking.k8s.io/v1",
            "Ingress",
            {
                "spec": {
                    "rules": [{"http": {"paths": [{"backend": {"service": {"name": "s", "port": {"number": 1}}}}]}}]
                }
            },
            ["spec.rules[0].http.paths[0].pathType: Required value: pathType must be specified"],
            id="Ingress: path type",
        ),
        pytest.param(
            "policy/v1",
            "PodDisruptionBudget",
            {"spec": {"minAvailable": 1, "maxUnavailable": 1}},
            [
                (
                    'spec: Invalid value: {"maxUnavailable":1,"minAvailable":1}: '
                    "minAvailable and maxUnavailable cannot be both set"
                )
            ],
            id="PodDisruptionBudget",
        ),
        pytest.param(
            "batch/v1",
            "CronJob",
            {"spec": {"schedule": "daily", "jobTemplate": {"spec": {"template": a_template()}}}},
            [
                'spec.schedule: Invalid value: "daily": expected exactly 5 fields, found 1: [daily]',
                (
                    'spec.jobTemplate.spec.template.spec.restartPolicy: Unsupported value: "Always": '
                    'supported values: "OnFailure", "Never"'
                ),
            ],
            id="CronJob",
        ),
        pytest.param(
            "rbac.authorization.k8s.io/v1",
            "RoleBinding",
            {"roleRef": {"kind": "X", "name": ""}},
            [
                'roleRef.kind: Unsupported value: "X": supported values: "Role", "ClusterRole"',
                "roleRef.name: Required value",
            ],
            id="RoleBinding",
        ),
        pytest.param(
            "scheduling.k8s.io/v1",
            "PriorityClass",
            {"value": 2_000_000_000},
            ["value: Forbidden: maximum allowed value of a user defined priority is 1000000000"],
            id="PriorityClass",
        ),
        pytest.param(
            "admissionregistration.k8s.io/v1",
            "ValidatingWebhookConfiguration",
            {"webhooks": [{"name": "a.b", "clientConfig": {"url": "https://x"}, "admissionReviewVersions": ["v1"]}]},
            [
                (
                    'webhooks[0].name: Invalid value: "a.b": '
                    "should be a domain with at least three segments separated by dots"
                ),
                "webhooks[0].sideEffects: Required value: must specify one of None, NoneOnDryRun",
            ],
            id="webhook",
        ),
    ],
)
def test_other_kinds(api_version: str, kind: str, fields: JsonObject, want: list[str]) -> None:
    assert faults({**an_object(api_version, kind), **fields}) == want


A_JOB = an_object("batch/v1", "Job", spec={"template": a_template(restartPolicy="Never")})
A_POD = an_object("v1", "Pod", spec={"containers": [{"name": "c", "image": "i:1"}]})
A_CLAIM = an_object(
    "v1",
    "PersistentVolumeClaim",
    spec={"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
)
POD_TEXT = (
    "spec: Forbidden: pod updates may not change fields other than `spec.containers[*].image`,"
    "`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing "
    "tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"
)


@pytest.mark.parametrize(
    ("obj", "path", "to", "want"),
    [
        pytest.param(A_JOB, ("spec", "parallelism"), 5, [], id="Job: parallelism may change"),
        pytest.param(
            A_JOB, ("spec", "completions"), 5, ["spec.completions: Invalid value: 5: field is immutable"], id="Job"
        ),
        pytest.param(A_POD, ("spec", "containers", 0, "image"), "j:1", [], id="Pod: image may change"),
        pytest.param(A_POD, ("spec", "containers", 0, "command"), ["x"], [POD_TEXT], id="Pod: command"),
        pytest.param(
            A_POD,
            ("spec", "tolerations"),
            [],
            ["spec.tolerations: Forbidden: existing toleration can not be modified except its tolerationSeconds"],
            id="Pod: tolerations stay",
        ),
        pytest.param(
            A_CLAIM,
            ("spec", "accessModes"),
            ["ReadWriteMany"],
            [
                (
                    "spec: Forbidden: spec is immutable after creation except resources.requests and "
                    "volumeAttributesClassName for bound claims"
                )
            ],
            id="claim",
        ),
        pytest.param(
            an_object("v1", "Secret", type="Opaque"),
            ("type",),
            "x",
            ['type: Invalid value: "x": field is immutable'],
            id="Secret",
        ),
        pytest.param(
            an_object("v1", "ConfigMap", data={"a": "1"}, immutable=True),
            ("data", "a"),
            "2",
            ["data: Forbidden: field is immutable when `immutable` is set"],
            id="ConfigMap",
        ),
        pytest.param(
            an_object("storage.k8s.io/v1", "StorageClass", provisioner="p"),
            ("parameters",),
            {"a": "b"},
            ["parameters: Forbidden: updates to parameters are forbidden."],
            id="StorageClass",
        ),
    ],
)
def test_changes(obj: JsonObject, path: tuple[str | int, ...], to: Any, want: list[str]) -> None:
    assert faults_of_change(obj, *path, to=to) == want
