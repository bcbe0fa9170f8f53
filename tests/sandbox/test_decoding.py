"""What a Go server stores of a body, and which bodies it refuses."""

from __future__ import annotations

from typing import Any

import pytest

from kadm.sandbox.decoding import DecodeError, decode, decode_metadata, zero
from kadm.sandbox.schema import Schema, builtin

Object = dict[str, Any]


def kind(group: str, version: str, name: str) -> Schema:
    found = builtin(group, version, name)
    assert found is not None
    return found


CONFIG_MAP = kind("", "v1", "ConfigMap")
DEPLOYMENT = kind("apps", "v1", "Deployment")
POD = kind("", "v1", "Pod")
LEASE = kind("coordination.k8s.io", "v1", "Lease")
SECRET = kind("", "v1", "Secret")
SERVICE = kind("", "v1", "Service")

STORED = [
    pytest.param(CONFIG_MAP, {"data": {}}, {}, id="an empty map is left out"),
    pytest.param(CONFIG_MAP, {"data": {"a": None}}, {"data": {"a": ""}}, id="a null in a map of strings"),
    pytest.param(CONFIG_MAP, {"metadata": {"labels": None}}, {"metadata": {}}, id="a null field"),
    pytest.param(
        CONFIG_MAP, {"metadata": {"managedFields": []}}, {"metadata": {"managedFields": [{}]}}, id="clearing owners"
    ),
    pytest.param(
        LEASE, {"spec": {"leaseDurationSeconds": 0}}, {"spec": {"leaseDurationSeconds": 0}}, id="a pointer keeps zero"
    ),
    pytest.param(
        SERVICE,
        {"spec": {"ports": [{"port": 80}]}},
        {"spec": {"ports": [{"port": 80, "targetPort": 0}]}, "status": {"loadBalancer": {}}},
        id="structs are always written",
    ),
    pytest.param(
        LEASE,
        {"spec": {"renewTime": "2021-01-01T02:00:00.000001+02:00"}},
        {"spec": {"renewTime": "2021-01-01T00:00:00.000001Z"}},
        id="times are in UTC",
    ),
    pytest.param(SECRET, {"data": {"a": "YQ=="}}, {"data": {"a": "YQ=="}}, id="bytes"),
    pytest.param(SECRET, {"data": {"a": "AA\nEC"}}, {"data": {"a": "AAEC"}}, id="base64 loses its line breaks"),
    pytest.param(CONFIG_MAP, {"drop": 1}, {}, id="an unknown field goes"),
    pytest.param(CONFIG_MAP, {"data": {"a": ""}}, {"data": {"a": ""}}, id="an empty value in a map stays"),
    pytest.param(CONFIG_MAP, {"immutable": False}, {"immutable": False}, id="a pointer keeps false"),
]


@pytest.mark.parametrize(("schema", "body", "want"), STORED)
def test_stored(schema: Schema, body: Object, want: Object) -> None:
    out = decode(body, schema).object
    assert {name: value for name, value in out.items() if name != "metadata" or "metadata" in want} == want


@pytest.mark.parametrize(
    ("sent", "want"),
    [
        pytest.param({"hostNetwork": False, "nodeName": ""}, {}, id="zero values of plain fields go"),
        pytest.param({"securityContext": {}}, {"securityContext": {}}, id="a pointer to an empty struct stays"),
        pytest.param({"tolerations": []}, {}, id="an empty list goes"),
        pytest.param({"overhead": {"cpu": 2}}, {"overhead": {"cpu": "2"}}, id="a number becomes a quantity"),
    ],
)
def test_a_pod(sent: Object, want: Object) -> None:
    out = decode({"spec": {"containers": [{"name": "c"}], **sent}}, POD).object
    assert out["spec"] == {"containers": [{"name": "c", "resources": {}}], **want}


def test_what_was_given_stays_as_it_is() -> None:
    pod = {"spec": {"containers": [{"name": "c", "image": ""}], "nodeName": ""}}
    decode(pod, POD)
    assert pod == {"spec": {"containers": [{"name": "c", "image": ""}], "nodeName": ""}}


def test_metadata_of_custom_objects() -> None:
    assert decode_metadata({"labels": {"a": "b"}, "shape": 1}) == {"labels": {"a": "b"}}


def test_quantities_are_canonical() -> None:
    limits = {"cpu": 2, "memory": "1024Ki", "x": "0.5"}
    body = {"spec": {"template": {"spec": {"containers": [{"name": "a", "resources": {"limits": limits}}]}}}}
    out = decode(body, DEPLOYMENT).object
    container = out["spec"]["template"]["spec"]["containers"][0]
    assert container["resources"]["limits"] == {"cpu": "2", "memory": "1Mi", "x": "500m"}


def test_unknown_fields_in_the_order_of_the_body() -> None:
    body = {
        "foo": 1,
        "spec": {"template": {"spec": {"containers": [{"name": "a", "imagge": "x"}]}}, "replica": 3},
    }
    assert decode(body, DEPLOYMENT).unknown == ("foo", "spec.template.spec.containers[0].imagge", "spec.replica")


def test_zero() -> None:
    assert zero(DEPLOYMENT) == {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {},
        "spec": {
            "selector": None,
            "strategy": {},
            "template": {"metadata": {}, "spec": {"containers": None}},
        },
        "status": {},
    }


REFUSED = [
    pytest.param(
        CONFIG_MAP,
        {"data": {"a": 1}},
        "json: cannot unmarshal number into Go struct field ConfigMap.data.a of type string",
        id="number for string",
    ),
    pytest.param(
        CONFIG_MAP,
        {"data": []},
        "json: cannot unmarshal array into Go struct field ConfigMap.data of type map[string]string",
        id="list for map",
    ),
    pytest.param(
        DEPLOYMENT,
        {"spec": {"replicas": "2"}},
        "json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32",
        id="string for number",
    ),
    pytest.param(
        DEPLOYMENT,
        {"spec": {"replicas": 1.5}},
        "json: cannot unmarshal number 1.5 into Go struct field DeploymentSpec.spec.replicas of type int32",
        id="fraction",
    ),
    pytest.param(
        DEPLOYMENT,
        {"spec": {"template": {"spec": {"containers": {}}}}},
        "json: cannot unmarshal object into Go struct field PodSpec.spec.template.spec.containers "
        "of type []v1.Container",
        id="map for list",
    ),
    pytest.param(
        LEASE,
        {"spec": {"renewTime": "2021-01-01T00:00:00Z"}},
        'parsing time "2021-01-01T00:00:00Z" as "2006-01-02T15:04:05.000000Z07:00": cannot parse "Z" as ".000000"',
        id="seconds for microseconds",
    ),
    pytest.param(
        LEASE,
        {"metadata": {"creationTimestamp": "2021-13-01T00:00:00Z"}},
        'parsing time "2021-13-01T00:00:00Z": out of range',
        id="no such month",
    ),
    pytest.param(SECRET, {"data": {"a": "?"}}, "illegal base64 data at input byte 0", id="no base64"),
]


@pytest.mark.parametrize(("schema", "body", "want"), REFUSED)
def test_refused(schema: Schema, body: Object, want: str) -> None:
    with pytest.raises(DecodeError) as raised:
        decode(body, schema)
    assert str(raised.value) == want
